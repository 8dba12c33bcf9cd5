// What needs somebody, what runs now, how the last hour was.

import { html, useEffect } from '../html.js';
import { get, mayOperate, path, query } from '../api.js';
import { approvals, waitingApprovals } from '../approvals.js';
import { Ago, Command, Empty, Loading, Trouble } from '../parts/basics.js';
import { useDoing } from '../parts/doing.js';
import { useLoaded } from '../parts/load.js';
import { RunCard, withRun } from '../parts/runlist.js';
import { Counts } from '../parts/state.js';
import { ApprovalCard } from './approvals.js';
import { counted, number, shortened, shown } from '../text.js';
import { now } from '../time.js';
import { heldBy, isFinal } from '../words.js';
import { to } from '../router.js';

/** @typedef {import('../shapes.js').Run} Run */

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
const LAST_MAX = 1000;
/** Cards of one kind; of more, a link leads to all. */
const CARDS = 5;
const CARDS_LIVE = 8;

async function load() {
  const since = new Date(Date.now() - DAY_MS).toISOString();
  const hour = new Date(Date.now() - HOUR_MS).toISOString();
  const [failed, live, last, workflows] = await Promise.all([
    get(`/runs${query({ status: 'failed', since, limit: 50 })}`),
    get(`/runs${query({ status: 'running,paused,cancelling,pending', limit: 200 })}`),
    get(`/runs${query({ since: hour, limit: LAST_MAX })}`),
    get(`/workflows${query({ limit: 1 })}`),
  ]);
  return {
    failed: /** @type {Run[]} */ (failed.items), live: /** @type {Run[]} */ (live.items), moreLive: Boolean(live.next_cursor),
    last: /** @type {Run[]} */ (last.items), moreLast: Boolean(last.next_cursor), hasWorkflows: workflows.items.length > 0,
  };
}

export function Home() {
  const loaded = useLoaded(load, { keys: [], hear: { run: (run, change) => change((data) => heard(data, run)) } });
  useEffect(() => { document.title = 'Mainspring'; }, []);
  const { data, problem } = loaded;
  if (!data) return html`<main id="main" tabindex="-1"><h1>Home</h1>${problem ? html`<${Trouble} problem=${problem} again=${loaded.again} />` : html`<${Loading} />`}</main>`;
  if (!data.hasWorkflows && data.live.length === 0 && data.last.length === 0) return html`<main id="main" tabindex="-1"><h1>Home</h1><${First} /></main>`;
  const live = data.live.filter(isOwn);
  return html`<main id="main" tabindex="-1"><h1>Home</h1>
    <div class="columns">
      <${Attention} failed=${data.failed.filter(isOwn)} held=${live.filter((run) => run.status === 'paused')} />
      <div class="stack"><${Now} live=${live.filter((run) => run.status !== 'paused')} more=${data.moreLive} /><${Hour} runs=${data.last} more=${data.moreLast} /></div>
    </div>
  </main>`;
}

/** Child runs are their parents' business: what becomes of them is told there. @param {Run} run */
const isOwn = (run) => run.parent === undefined;

/** @param {Awaited<ReturnType<typeof load>>} data @param {Run} run */
function heard(data, run) {
  return {
    ...data,
    failed: withRun(data.failed, run, (it) => it.status === 'failed').slice(0, 50),
    live: withRun(data.live, run, (it) => !isFinal(it.status)).slice(0, 400),
    last: withRun(data.last, run, () => true).slice(0, LAST_MAX),
  };
}

/** A first workflow: two tasks, one after the other. */
const HELLO = `name: hello
tasks:
  greet: { run: echo hello }
  part: { run: echo goodbye, depends_on: [greet] }
`;

function First() {
  return html`<${Empty} title="No workflow is here yet.">
    <p>A workflow is a text that names tasks and what each waits for. Deploy this one:</p>
    <${Command} name="apply" args="-" stdin=${HELLO} />
    <p>Start it, and watch it here:</p>
    <${Command} name="trigger" args="hello" />
    <p class="muted">The folder <code>examples</code> of the repository has more to begin with; <code>mainspring schema</code> helps your editor to write your own.</p>
  <//>`;
}

/** @param {{ failed: Run[], held: Run[] }} props */
function Attention({ failed, held }) {
  const asked = approvals.value ?? [];
  const nothing = failed.length + held.length + asked.length === 0;
  return html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
    ${nothing && html`<${Empty} title="Nothing needs you."><p>Runs that failed or are paused, and tasks that wait for an approval, show up here first.</p><//>`}
    <ul class="cards">
      ${failed.slice(0, CARDS).map((run) => html`<${RunCard} key=${run.id} run=${run}>
        <p class="card-text">${shortened(run.error?.message ?? `${counted(run.tasks.failed ?? 0, 'task')} failed`, 300)}</p>
        <div class="card-tools">${mayOperate() && html`<${Order} run=${run} verb="retry" label="Retry what failed" done=${`${run.workflow} goes on with what failed.`} />`}<a href=${to.run(run.id)}>See what went wrong</a></div>
      <//>`)}
      ${asked.slice(0, CARDS).map((it) => html`<${ApprovalCard} key=${`${it.run} ${it.task} ${it.index}`} approval=${it} />`)}
      ${held.slice(0, CARDS).map((run) => html`<${RunCard} key=${run.id} run=${run}>
        <p class="card-text"><${Held} run=${run} /></p>
        <div class="card-tools">${mayOperate() && html`<${Order} run=${run} verb="resume" label="Resume" done=${`${run.workflow} goes on.`} />`}<a href=${to.run(run.id)}>Open the run</a></div>
      <//>`)}
    </ul>
    <p class="more-links">${failed.length > CARDS && html`<a href=${to.runs({ status: 'failed' })}>All runs that failed</a>`}
      ${asked.length > CARDS && html`<a href=${to.approvals()}>All ${waitingApprovals.value} approvals</a>`}
      ${held.length > CARDS && html`<a href=${to.runs({ status: 'paused' })}>All ${number(held.length)} paused runs</a>`}</p>
  </section>`;
}

/** @param {{ run: Run }} props */
function Held({ run }) {
  if (!run.held) return html`Paused: nothing new starts until it is resumed.`;
  const { checkpoint, name } = heldBy(run.held);
  if (checkpoint) return html`At the checkpoint <a href=${to.task(run.id, name)}><bdi>${shown(name)}</bdi></a>, <${Ago} at=${run.held.at} />: look at what was done so far, then resume.`;
  return html`Paused by <bdi>${shown(name)}</bdi>, <${Ago} at=${run.held.at} />: nothing new starts until it is resumed.`;
}

/** A button that does one thing to a run, once. @param {{ run: Run, verb: 'retry' | 'resume', label: string, done: string }} props */
function Order({ run, verb, label, done }) {
  const { problem, busy, act, again } = useDoing(run.status);
  return html`<button type="button" disabled=${busy} onClick=${() => act({ url: path`/runs/${run.id}/${verb}`, done })}>${label}</button>${problem && html`<${Trouble} problem=${problem} again=${again} />`}`;
}

/** @param {{ live: Run[], more: boolean }} props */
function Now({ live, more }) {
  return html`<section aria-labelledby="now"><h2 id="now">Runs now${live.length > 0 ? html` <span class="badge">${number(live.length)}${more ? '+' : ''}</span>` : ''}</h2>
    ${live.length === 0 && html`<${Empty} title="Nothing runs."><p>Start a run from a <a href=${to.workflows()}>workflow</a>, or:</p><${Command} name="trigger" args="NAME" /><//>`}
    <ul class="cards">${live.slice(0, CARDS_LIVE).map((run) => html`<${RunCard} key=${run.id} run=${run}><${Counts} counts=${rest(run.tasks)} label="Tasks" /><//>`)}</ul>
    ${live.length > CARDS_LIVE && html`<a href=${to.runs({ status: 'running,cancelling,pending' })}>All ${number(live.length)}${more ? '+' : ''} that run</a>`}
  </section>`;
}

/** Lists count only what is stored: what is left is pending. @param {Record<string, number>} tasks */
function rest({ total = 0, ...counts }) {
  const known = Object.values(counts).reduce((sum, n) => sum + n, 0);
  return { ...counts, pending: Math.max(0, total - known) };
}

/** @param {{ runs: Run[], more: boolean }} props */
function Hour({ runs, more }) {
  const end = Math.floor(now.value / 60_000);
  const bars = Array.from({ length: 60 }, () => ({ success: 0, failed: 0, other: 0 }));
  for (const run of runs) {
    if (!run.finished_at) continue;
    const at = 59 - (end - Math.floor(Date.parse(run.finished_at) / 60_000));
    if (at < 0 || at > 59) continue;
    if (run.status === 'success') bars[at].success += 1;
    else if (run.status === 'failed') bars[at].failed += 1;
    else bars[at].other += 1;
  }
  const most = Math.max(1, ...bars.map((bar) => bar.success + bar.failed + bar.other));
  const sum = (/** @type {'success' | 'failed' | 'other'} */ key) => bars.reduce((total, bar) => total + bar[key], 0);
  const ended = sum('success') + sum('failed') + sum('other');
  const said = `${counted(sum('success'), 'run')} succeeded, ${number(sum('failed'))} failed, ${number(sum('other'))} cancelled`;
  return html`<section aria-labelledby="hour"><h2 id="hour">The last hour</h2>
    ${ended === 0 && html`<${Empty} title="No run has ended in the last hour." />`}
    ${ended > 0 && html`<p class="muted">${said}${more ? ` (of the last ${number(LAST_MAX)} runs that were started)` : ''}.</p>
    <div class="hour-most muted" aria-hidden="true">${number(most)} a minute</div>
    <div class="hour" role="img" aria-label=${`Runs that ended in each minute of the last hour: ${said}`}>
      ${bars.map((bar, i) => html`<div key=${i} class="hour-bar" title=${`${59 - i} min ago: ${bar.success} succeeded, ${bar.failed} failed`}>
        <span class="tone-quiet" style=${{ height: `${(100 * bar.other) / most}%` }}></span><span class="tone-failed" style=${{ height: `${(100 * bar.failed) / most}%` }}></span><span class="tone-success" style=${{ height: `${(100 * bar.success) / most}%` }}></span></div>`)}
    </div>
    <div class="hour-axis muted" aria-hidden="true"><span>1 h ago</span><span>30 min ago</span><span>now</span></div>`}
  </section>`;
}

