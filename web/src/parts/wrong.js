// What went wrong in a run, and what waits for a person.

import { html, useEffect, useState } from '../html.js';
import { get, path, query, request } from '../api.js';
import { approvals } from '../approvals.js';
import { to } from '../router.js';
import { counted, number, shown, shortened, terminalPieces } from '../text.js';
import { hasLog, isSettled } from '../words.js';
import { Decide } from '../views/approvals.js';

/** @typedef {import('../shapes.js').Run} Run */
/** @typedef {import('../shapes.js').Task} Task */

const WRONG_MAX = 3;
/** Lines of a log that say what went wrong, mostly. */
const TAIL = 5;

/** What went wrong, and what waits for a person, before anything else. @param {{ run: Run, tasks: Task[] }} props */
export function Wrong({ run, tasks }) {
  const failed = tasks.filter((task) => task.status === 'failed');
  // Of a fan-out that goes on, some instances may have failed for good already.
  const failing = tasks.filter((task) => !isSettled(task.status) && (task.instances?.failed ?? 0) > 0);
  // A question by itself comes before those that are asked many times over.
  const isMany = (/** @type {import('../shapes.js').Approval} */ it) => Number(it.index !== undefined);
  const asked = (approvals.value ?? []).filter((it) => it.run === run.id && !it.decided).sort((a, b) => isMany(a) - isMany(b));
  if (!run.error && failed.length + failing.length + asked.length === 0) return null;
  return html`<div class="callouts">${run.error && failed.length === 0 && html`<div class="trouble tone-failed"><strong>${shown(run.error.message ?? run.error.class)}</strong></div>`}
    ${failed.slice(0, WRONG_MAX).map((task) => html`<${Failure} key=${`${task.name} ${task.attempt}`} run=${run} task=${task} />`)}
    ${failing.slice(0, WRONG_MAX).map((task) => html`<${Failing} key=${`${task.name} goes on`} run=${run} task=${task} />`)}
    ${asked.slice(0, WRONG_MAX).map((it) => html`<div key=${`${it.task} ${it.index}`} class="callout tone-waiting"><div><strong><a href=${to.task(run.id, it.task, it.index)}><bdi>${shown(it.task)}</bdi>${it.index === undefined ? '' : `[${it.index}]`}</a> waits for an approval:</strong> <bdi>${shown(it.message)}</bdi></div><div class="actions"><${Decide} approval=${it} /></div></div>`)}
    </div>
    ${(failed.length > WRONG_MAX || asked.length > WRONG_MAX) && html`<p class="more-links">${failed.length > WRONG_MAX && html`<a href=${to.run(run.id, 'tasks', 'failed')}>${number(failed.length - WRONG_MAX)} more failed</a>`}
      ${asked.length > WRONG_MAX && html`<a href=${to.approvals()}>${number(asked.length - WRONG_MAX)} more wait for an approval</a>`}</p>`}`;
}

/**
 * The last lines of what failed; of a fan-out, of the first instance that did.
 * @param {string} run @param {Task} task
 */
async function lastWords(run, task) {
  const at = path`/runs/${run}/tasks/${task.name}`;
  const first = task.count === undefined ? undefined : (await get(`${at}/instances${query({ status: 'failed', limit: 1 })}`)).items[0];
  if (task.count !== undefined && !first) return { lines: [] };
  const response = await request(`${at}/logs${query({ index: first?.index, tail: TAIL })}`);
  return { index: first?.index, message: first?.error?.message, lines: (await response.text()).split('\n').filter(Boolean).slice(-TAIL) };
}

/** @param {Run} run @param {Task} task @param {unknown} edition asked again when it is another */
function useLastWords(run, task, edition) {
  const [told, setTold] = useState(/** @type {{ index?: number, message?: string, lines: string[] }} */ ({ lines: [] }));
  useEffect(() => {
    if (hasLog(task.kind)) lastWords(run.id, task).then(setTold, () => {});
  }, [run.id, task.name, edition]);
  return told;
}

/** @param {{ run: Run, task: Task }} props */
function Failure({ run, task }) {
  const told = useLastWords(run, task, task.attempt);
  const tries = task.attempt > 1 && task.count === undefined ? ` on attempt ${task.attempt}` : '';
  return html`<div class="callout tone-failed">
    <div><strong><a href=${to.task(run.id, task.name)}><bdi>${shown(task.name)}</bdi></a> failed${tries}:</strong> ${shortened(task.error?.message ?? task.reason ?? '', 500)}${task.instances ? ` (${counted(task.instances.failed ?? 0, 'instance')} of ${number(task.instances.total)})` : ''}</div>
    <${LastWords} run=${run} task=${task} told=${told} />
  </div>`;
}

/** A fan-out that goes on although some of it has failed. @param {{ run: Run, task: Task }} props */
function Failing({ run, task }) {
  // The first of them stays the first, but for one with a lower index or one that is retried.
  const { failed = 0, total = 0 } = task.instances ?? {};
  const told = useLastWords(run, task, failed);
  return html`<div class="callout tone-failed">
    <div><strong><a href=${to.task(run.id, task.name)}><bdi>${shown(task.name)}</bdi></a>:</strong> <a href=${to.instances(run.id, task.name, 'failed')}>${number(failed)} of ${counted(total, 'instance')}</a> ${failed === 1 ? 'has' : 'have'} failed so far</div>
    <${LastWords} run=${run} task=${task} told=${told} />
  </div>`;
}

/** @param {{ run: Run, task: Task, told: { index?: number, message?: string, lines: string[] } }} props */
function LastWords({ run, task, told: { index, message, lines } }) {
  return html`${index !== undefined && html`<div><a href=${to.task(run.id, task.name, index)}><bdi>${shown(task.name)}</bdi>[${index}]</a>, the first of them: ${shortened(message ?? '', 500)}</div>`}
    ${lines.length > 0 && html`<pre class="tail" tabindex="0" role="region" aria-label=${`Last lines of ${task.name}`}>${lines.map((line) => html`<div>${terminalPieces(line.slice(0, 500)).map((piece) => html`<span class=${piece.style}>${piece.text}</span>`)}</div>`)}</pre>`}`;
}
