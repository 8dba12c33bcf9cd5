// How a task stands: why it is not running or why it ended as it did, and what there is to know of
// it.

import { html } from '../html.js';
import { outcome, shortId } from '../reasons.js';
import { to } from '../router.js';
import { number, shown } from '../text.js';
import { ahead, moment, now } from '../time.js';
import { isParked, isSettled, word } from '../words.js';
import { Ago, Fact, Took } from './basics.js';
import { Shape } from './state.js';
import { Why } from './why.js';

/** @typedef {import('../shapes.js').Task} Task */

/** Tasks before it that are shown; of more, how many there are. */
export const NEEDS_MAX = 20;

/** The class of an error is no news where its message begins with it. @param {string} kind @param {string} said */
const isSaidBy = (kind, said) => said.toLowerCase().startsWith(kind.toLowerCase());

/**
 * Why it is not running, or why it ended as it did.
 * @param {{ task: Task, run: any, explained?: import('../shapes.js').Explained }} props
 */
function Standing({ task, run, explained }) {
  if (isSettled(task.status)) {
    const said = outcome(task);
    if (!said) return null;
    if (task.error) return html`<div class="callout tone-failed"><div>${isSaidBy(task.error.class, said) ? '' : html`<strong>${shown(task.error.class)}:</strong> `}<bdi>${shown(said)}</bdi></div></div>`;
    return html`<div class=${`callout tone-${task.status === 'blocked' ? 'blocked' : 'quiet'}`}><div><strong>Why it is ${word(task.status)}:</strong> <bdi>${shown(said)}</bdi></div></div>`;
  }
  // Of a state that it has left already nothing is told.
  const reasons = (explained?.status === task.status ? explained.reasons : []).filter((it) => it.kind !== 'running' && it.kind !== 'instances');
  if (reasons.length === 0) return null;
  const title = { waiting: 'It is parked:', worker_done: 'Why it is not over:', running: 'Why no more of it runs:' }[task.status] ?? 'Why it is not running:';
  return html`<div class="callout tone-waiting"><strong>${title}</strong> <${Why} reasons=${reasons} run=${run.id} /></div>`;
}

/** What lands the work. @param {{ finalizer: import('../shapes.js').Finalizer, place?: { at: number, of: number } }} props */
function FinalizerFact({ finalizer, place: at }) {
  const { state, queue, tries, tries_max, retry_at } = finalizer;
  const parts = [word(state)];
  if (retry_at) parts.push(`next try ${ahead(moment(retry_at), now.value)}`);
  if (tries_max > 1) parts.push(`${tries} of ${tries_max} failures used`);
  return html`<${Fact} name="Finalizer"><${Shape} status=${state === 'queued' ? 'ready' : state === 'delayed' ? 'pending' : state} /> ${parts.join(', ')}${queue && html`, queue <a href=${to.tiers()}><bdi>${shown(queue)}</bdi></a>`}${at && html`, number ${number(at.at)} of ${number(at.of)} that wait`}<//>`;
}

/**
 * @param {{ task: Task, needs: { task: string, when: string }[] | undefined, find: (name: string) => Task | undefined, run: any, isGroup: boolean, isAdded: boolean,
 *   explained?: import('../shapes.js').Explained, place?: { at: number, of: number } }} props
 */
export function Facts({ task, needs, find, run, isGroup, isAdded, explained, place: at }) {
  const child = task.child ?? task.awaits?.run;
  return html`<${Standing} task=${task} run=${run} explained=${explained} />
    <dl class="facts">
      <${Fact} name="Kind">${shown(task.kind)}${isAdded && html` <span class="label">added to the run</span>`}<//>
      ${task.attempt > 0 && !isGroup && (!isParked(task.kind) || task.kind === 'workflow') && (!task.finalizer || task.tries_max > 1) && html`<${Fact} name="Attempt">${task.attempt}${task.tries_max > 1 ? ` (${task.tries} of ${task.tries_max} failures used)` : ''}<//>`}
      ${task.started_at && html`<${Fact} name="Started"><${Ago} at=${task.started_at} /><//>`}
      ${task.started_at && (task.finished_at || ['running', 'dispatched', 'worker_done', 'waiting'].includes(task.status)) && html`<${Fact} name=${task.finished_at ? 'Took' : task.status === 'waiting' ? 'Waiting for' : task.status === 'worker_done' ? 'Under way for' : 'Running for'}><${Took} from=${task.started_at} to=${task.finished_at} /><//>`}
      ${task.tier && html`<${Fact} name="Tier"><bdi>${shown(task.tier)}</bdi><//>`}
      ${(task.losses ?? 0) > 0 && html`<${Fact} name="Losses">${task.losses}<//>`}
      ${task.held && html`<${Fact} name="Held by"><bdi>${shown(task.held.by)}</bdi><//>`}
      ${task.finalizer && html`<${FinalizerFact} finalizer=${task.finalizer} place=${at} />`}
      ${child && html`<${Fact} name="Child run"><a class="mono" href=${to.run(child)}>${shortId(child)}</a><//>`}
      ${task.kind === 'workflow' && isGroup && html`<${Fact} name="Child runs"><a href=${to.runs({ parent: run.id })}>all of the run</a><//>`}
      ${needs && needs.length > 0 && html`<${Fact} name="After"><span class="needs">${needs.slice(0, NEEDS_MAX).map((need) => html`<a key=${need.task} href=${to.task(run.id, need.task)}><${Shape} status=${find(need.task)?.status ?? 'pending'} /><bdi>${shown(need.task)}</bdi></a>`)}${needs.length > NEEDS_MAX ? ` and ${needs.length - NEEDS_MAX} more` : ''}</span><//>`}
    </dl>`;
}
