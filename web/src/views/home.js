// What needs somebody, what runs now, how the last hour was.

import { html, useEffect } from '../html.js';
import { get, mayOperate, path, query } from '../api.js';
import { approvals, waitingApprovals } from '../approvals.js';
import { Ago, Command, Empty, Loading, Trouble } from '../parts/basics.js';
import { useDoing } from '../parts/doing.js';
import { useLoaded } from '../parts/load.js';
import { RunCard, withRun } from '../parts/runlist.js';
import { Counts, Shape } from '../parts/state.js';
import { ApprovalCard } from './approvals.js';
import { counted, number, shortened, shown } from '../text.js';
import { now } from '../time.js';
import { heldBy, isFinal } from '../words.js';
import { to } from '../router.js';

/** @typedef {import('../shapes.js').Run} Run */

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
const LAST_MAX = 1000;
/** Lists go by when runs were accepted: so many of those before the hour may have ended within it. */
const EARLIER_MAX = 200;
const FAILED_MAX = 200;
const LIVE_MAX = 200;
/** Cards of one kind; of more, a link leads to all. */
const CARDS = 5;
const CARDS_LIVE = 8;

async function load() {
  const at = Date.now();
  const hour = new Date(at - HOUR_MS).toISOString();
  const [failed, moving, paused, last, earlier, workflows] = await Promise.all([
    get(`/runs${query({ status: 'failed', limit: FAILED_MAX })}`),
    get(`/runs${query({ status: 'running,cancelling,pending', limit: LIVE_MAX })}`),
    // On their own: one that has waited for long must not be lost behind many that are newer.
    get(`/runs${query({ status: 'paused', limit: LIVE_MAX })}`),
    get(`/runs${query({ since: hour, limit: LAST_MAX })}`),
    get(`/runs${query({ since: new Date(at - DAY_MS).toISOString(), until: hour, status: 'success,failed,cancelled', limit: EARLIER_MAX })}`),
    get(`/workflows${query({ limit: 1 })}`),
  ]);
  return {
    failed: /** @type {Run[]} */ (failed.items), moreFailed: Boolean(failed.next_cursor), live: /** @type {Run[]} */ (paused.items).reduce((runs, run) => withRun(runs, run, () => true), /** @type {Run[]} */ (moving.items)), moreLive: Boolean(moving.next_cursor),
    last: /** @type {Run[]} */ ([...last.items, ...(last.next_cursor ? [] : earlier.items)]), moreLast: Boolean(last.next_cursor), hasWorkflows: workflows.items.length > 0,
  };
}

/** One that ended long ago needs nobody any more. @param {Run} run */
const isRecent = (run) => run.finished_at !== undefined && Date.parse(run.finished_at) > Date.now() - DAY_MS;

export function Home() {
  const loaded = useLoaded(load, { keys: [], hear: { run: (run, change) => change((data) => heard(data, run)) } });
  useEffect(() => { document.title = 'Mainspring'; }, []);
  const { data, problem } = loaded;
  if (!data) return html`<main id="main" tabindex="-1"><h1>Home</h1>${problem ? html`<${Trouble} problem=${problem} again=${loaded.again} />` : html`<${Loading} />`}</main>`;
  if (!data.hasWorkflows && data.live.length === 0 && data.last.length === 0) return html`<main id="main" tabindex="-1"><h1>Home</h1><${First} /></main>`;
  const live = data.live.filter(isOwn);
  return html`<main id="main" tabindex="-1"><h1>Home</h1>
    <div class="columns">
      <${Attention} failed=${data.failed.filter((run) => isOwn(run) && isRecent(run))} more=${data.moreFailed} held=${data.live.filter((run) => run.status === 'paused' && !isHeldByParent(run))} stuck=${data.live.filter((run) => run.attention?.why === 'kill_unconfirmed')} />
      <div class="stack"><${Now} live=${live.filter((run) => run.status !== 'paused')} more=${data.moreLive} /><${Hour} runs=${data.last} more=${data.moreLast} /></div>
    </div>
  </main>`;
}

/** Child runs are their parents' business: what becomes of them is told there. @param {Run} run */
const isOwn = (run) => run.parent === undefined;

/** One that its parent holds goes on with it; at a checkpoint of its own, or held by itself, it waits for somebody. @param {Run} run */
const isHeldByParent = (run) => run.parent !== undefined && (run.paused_reason === 'parent' || run.held?.by === `run ${run.parent.run}`);

/** @param {Awaited<ReturnType<typeof load>>} data @param {Run} run */
function heard(data, run) {
  return {
    ...data,
    failed: withRun(data.failed, run, (it) => it.status === 'failed').slice(0, 2 * FAILED_MAX),
    live: withRun(data.live, run, (it) => !isFinal(it.status)).filter((it, i) => i < 2 * LIVE_MAX || it.status === 'paused'),
    last: withRun(data.last, run, () => true).slice(0, LAST_MAX + EARLIER_MAX),
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

/** @param {{ failed: Run[], more: boolean, held: Run[], stuck: Run[] }} props more: there are older ones, too */
function Attention({ failed, more, held, stuck }) {
  const asked = approvals.value ?? [];
  const groups = alike(failed);
  const nothing = failed.length + held.length + stuck.length + asked.length === 0;
  return html`<section aria-labelledby="attention"><h2 id="attention">Needs attention</h2>
    ${nothing && html`<${Empty} title="Nothing needs you."><p>Runs that failed or are paused, and tasks that wait for an approval, show up here first.</p><//>`}
    <${Kind} title="Waits for an approval" count=${waitingApprovals.value} all=${asked.length > CARDS ? { href: to.approvals(), label: `All ${waitingApprovals.value} approvals` } : undefined}>
      ${asked.slice(0, CARDS).map((it) => html`<${ApprovalCard} key=${`${it.run} ${it.task} ${it.index}`} approval=${it} />`)}<//>
    <${Kind} title="Does not end" count=${stuck.length ? number(stuck.length) : ''}>
      ${stuck.slice(0, CARDS).map((run) => html`<${RunCard} key=${run.id} run=${run}>
        <p class="card-text">Something of it was told to end, and five minutes later nothing said that it is gone: noticed <${Ago} at=${run.attention?.since} />. A cancel with force gives it up as abandoned.</p>
        <div class="card-tools"><a href=${to.run(run.id)}>See what it is</a></div>
      <//>`)}<//>
    <${Kind} title="Failed in the last 24 hours" count=${failed.length ? `${number(failed.length)}${more ? '+' : ''}` : ''} all=${groups.length > CARDS ? { href: to.runs({ status: 'failed' }), label: 'All runs that failed' } : undefined}>
      ${groups.slice(0, CARDS).map((runs) => (runs.length > 1 ? html`<${FailedAlike} key=${runs[0].workflow + said(runs[0])} runs=${runs} more=${more} />` : html`<${RunCard} key=${runs[0].id} run=${runs[0]}>
        <p class="card-text">${shortened(said(runs[0]), 300)}</p>
        <div class="card-tools">${mayOperate() && html`<${Order} run=${runs[0]} verb="retry" label="Retry what failed" done=${`${runs[0].workflow} goes on with what failed.`} />`}<a href=${to.run(runs[0].id)}>See what went wrong</a></div>
      <//>`))}<//>
    <${Kind} title="Paused" count=${held.length ? number(held.length) : ''} all=${held.length > CARDS ? { href: to.runs({ status: 'paused' }), label: `All ${number(held.length)} paused runs` } : undefined}>
      ${held.slice(0, CARDS).map((run) => html`<${RunCard} key=${run.id} run=${run}>
        <p class="card-text"><${Held} run=${run} /></p>
        <div class="card-tools">${mayOperate() && html`<${Order} run=${run} verb="resume" label="Resume" done=${`${run.workflow} goes on.`} />`}<a href=${to.run(run.id)}>Open the run</a></div>
      <//>`)}<//>
  </section>`;
}

/** What needs somebody for the same reason, with how much there is. @param {{ title: string, count: string, all?: { href: string, label: string }, children?: any }} props */
function Kind({ title, count, all, children }) {
  if (!count) return null;
  return html`<h3>${title} <span class="badge">${count}</span></h3><ul class="cards">${children}</ul>${all && html`<p><a href=${all.href}>${all.label}</a></p>`}`;
}

/** What is said of a run that failed. @param {Run} run */
const said = (run) => run.error?.message ?? `${counted(run.tasks.failed ?? 0, 'task')} failed`;

/** Runs of one workflow that failed in the same way are one thing to look at; the newest first. @param {Run[]} runs */
function alike(runs) {
  /** @type {Map<string, Run[]>} */
  const groups = new Map();
  for (const run of [...runs].sort((a, b) => Date.parse(b.finished_at ?? '') - Date.parse(a.finished_at ?? ''))) {
    const key = JSON.stringify([run.workflow, said(run)]);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups.values()];
}

/** @param {{ runs: Run[], more: boolean }} props the newest first */
function FailedAlike({ runs, more }) {
  const [last] = runs;
  const count = `${number(runs.length)}${more ? '+' : ''}`;
  const all = to.runs({ status: 'failed', workflow: last.workflow });
  return html`<li class="card"><div class="card-head"><${Shape} status="failed" /><a href=${all}><bdi>${shown(last.workflow)}</bdi></a><strong class="tone-failed toned">${count} failed</strong><span class="spread"></span><span class="muted">last <${Ago} at=${last.finished_at} /></span></div>
    <p class="card-text">${shortened(said(last), 300)}</p>
    <div class="card-tools"><a href=${to.run(last.id)}>See what went wrong in the last one</a><a href=${all}>All of <bdi>${shown(last.workflow)}</bdi> that failed</a></div></li>`;
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

