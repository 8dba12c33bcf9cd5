// Every task without an outcome, with every reason: what somebody can do something about comes
// first, and what waits for the same is told once.

import { html, useState } from '../html.js';
import { explain, useExplained } from '../explained.js';
import { to } from '../router.js';
import { counted, number, shown } from '../text.js';
import { Empty, Loading, Trouble } from './basics.js';
import { Shape } from './state.js';
import { Why } from './why.js';

/** @typedef {import('../shapes.js').Explained} Explained */

/** Names told of those that wait for the same. */
const NAMED_MAX = 12;

/** What somebody can do something about, then what a limit or a time keeps, then what merely follows. */
const ORDER = [
  ['approval', 'signal', 'held', 'run_paused', 'start_refused', 'unattended'],
  ['limit', 'concurrency', 'backlog', 'finalizer', 'child', 'max_active_runs', 'concurrency_group'],
  ['retry', 'time', 'stopping', 'evaluation', 'dispatched', 'landing', 'starting', 'run_pending', 'run_cancelling'],
  ['running', 'instances', 'grace'],
  ['dependency'],
];

/** @param {Explained} task */
const weight = (task) => Math.min(...task.reasons.map((it) => { const at = ORDER.findIndex((kinds) => kinds.includes(it.kind)); return at < 0 ? 2 : at; }));

/** @param {Explained[]} tasks @returns {Explained[][]} those with the same reasons together */
export function alike(tasks) {
  /** @type {Map<string, Explained[]>} */
  const found = new Map();
  for (const task of tasks) {
    const key = JSON.stringify([task.status, task.reasons, task.instances?.length ? task.name : '']);
    found.set(key, [...(found.get(key) ?? []), task]);
  }
  return [...found.values()].sort((a, b) => weight(a[0]) - weight(b[0]));
}

/** @param {{ run: import('../shapes.js').Run }} props */
export function Explain({ run }) {
  const [from, setFrom] = useState('');
  const { data, problem, ask } = useExplained(run, () => explain(run.id, { from: from || undefined }), `from ${from}`);
  if (problem) return html`<${Trouble} problem=${problem} again=${ask} />`;
  if (!data) return html`<${Loading} />`;
  if (data.unsettled === 0) return html`<${Empty} title="Every task has its outcome." />`;
  const part = data.next || from ? `, ${number(data.tasks.length)} of them here` : '';
  return html`<div class="graph-tools"><span class="muted">${counted(data.unsettled, 'task')} without an outcome${part}; what waits for the same is told once.</span><span class="spread"></span>
      ${from && html`<button type="button" onClick=${() => setFrom('')}>From the start</button>`}${data.next && html`<button type="button" onClick=${() => setFrom(/** @type {string} */ (data.next))}>The next ones</button>`}</div>
    <ul class="explained">${alike(data.tasks).map((tasks) => html`<${Same} key=${tasks[0].name} tasks=${tasks} run=${run.id} />`)}</ul>`;
}

/** @param {{ tasks: Explained[], run: string }} props */
export function Same({ tasks, run }) {
  const [first] = tasks;
  const stuck = alike((first.instances ?? []).filter((it) => it.reasons.some((reason) => reason.kind !== 'running')));
  return html`<li><${Names} tasks=${tasks} run=${run} /><div><${Why} reasons=${first.reasons} run=${run} />
    ${stuck.length > 0 && html`<ul class="explained inner">${stuck.map((some) => html`<li key=${some[0].index}><${Names} tasks=${some} run=${run} /><${Why} reasons=${some[0].reasons} run=${run} /></li>`)}</ul>`}</div></li>`;
}

/** @param {{ tasks: Explained[], run: string }} props */
function Names({ tasks, run }) {
  const more = tasks.length - NAMED_MAX;
  return html`<div class="explained-names"><${Shape} status=${tasks[0].status} /><span>${tasks.slice(0, NAMED_MAX).map((task, i) => html`${i ? ', ' : ''}<a href=${to.task(run, task.name, task.index)}><bdi>${shown(task.name)}</bdi>${task.index === undefined ? '' : `[${task.index}]`}</a>`)}${more > 0 ? ` and ${number(more)} more` : ''}</span></div>`;
}
