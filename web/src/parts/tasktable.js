// Tasks in rows, with why each is not running.

import { html, useEffect, useMemo, useState } from '../html.js';
import { mayOperate, path, send } from '../api.js';
import { place, setQuery, to } from '../router.js';
import { moment } from '../time.js';
import { isNarrow } from '../room.js';
import { counted, number, shown } from '../text.js';
import { isSettled, ORDER, word } from '../words.js';
import { Clock, Empty, say, Took } from './basics.js';
import { Cell, Rows } from './rows.js';
import { Shape, State } from './state.js';
import { WhyBriefly } from './why.js';

/** @typedef {import('../shapes.js').Task} Task */

const HEIGHT = 36;
/** Two lines: why comes below. */
const HEIGHT_NARROW = 54;

/** Tasks of one order. */
const RETRIED_MAX = 1000;

/**
 * @param {{ run: import('../shapes.js').Run, tasks: Task[], edition: number, reasons: import('../explained.js').Reasons,
 *   added: Set<string>, within?: { label: string, names: Set<string> }, leave: () => void }} props
 *   added: names of tasks that are not in the version; within: only these; leave: shows all again
 */
export function TaskTable({ run, tasks, edition, reasons, added, within, leave }) {
  const [text, setText] = useState('');
  const states = (place.value.query.get('state') ?? '').split(',').filter(Boolean);
  const counts = useMemo(() => count(tasks), [edition, tasks]);
  const sort = place.value.query.get('sort') ?? '';
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return sorted(sort, tasks.filter((task) => (!within || within.names.has(task.name)) && (states.length === 0 || states.includes(task.status)) && (!wanted || task.name.toLowerCase().includes(wanted))));
  }, [edition, tasks, text, states.join(), within, sort]);
  const toggle = (/** @type {string} */ status) => setQuery({ state: (states.includes(status) ? states.filter((it) => it !== status) : [...states, status]).join(',') });
  const head = (/** @type {string} */ key, /** @type {string} */ className, /** @type {string} */ label) => {
    const order = sort === key ? 'ascending' : sort === `-${key}` ? 'descending' : undefined;
    const next = order === 'ascending' ? `-${key}` : order === 'descending' ? '' : key;
    return html`<${Cell} head className=${className} sort=${order ?? 'none'}><button type="button" class="sorts" onClick=${() => setQuery({ sort: next })}>${label}<span aria-hidden="true">${order === 'ascending' ? ' ▴' : order === 'descending' ? ' ▾' : ''}</span></button><//>`;
  };
  const columns = html`${head('state', 'c-state', 'State')}${head('name', 'c-name', 'Task')}${head('attempt', 'c-num wide roomy', 'Attempt')}${head('started', 'c-time wide roomy', 'Started')}${head('took', 'c-took', 'Took')}<${Cell} head className="grow wide">Why<//>`;
  const row = (/** @type {number} */ i) => html`<${Row} run=${run.id} task=${found[i]} reasons=${reasons} isAdded=${added.has(found[i]?.name)} />`;
  const isFiltered = Boolean(text.trim() || states.length || within);
  return html`<div class="filters" role="group" aria-label="Filter">
      <input type="search" class="filter" placeholder="Filter by name" aria-label="Filter tasks by name" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
      ${ORDER.filter((status) => counts[status] || states.includes(status)).map((status) => html`<button key=${status} type="button" class="chip" aria-pressed=${states.includes(status)} onClick=${() => toggle(status)}><${Shape} status=${status} />${number(counts[status] ?? 0)} ${word(status)}</button>`)}
      ${within && html`<button type="button" class="chip" aria-pressed="true" onClick=${leave}>${shown(within.label)} ✕</button>`}
      ${isFiltered && html`<span class="spread"></span><${RetryThese} run=${run} tasks=${found} />`}
    </div>
    ${found.length === 0 ? html`<${Empty} title="No task is like that." />` : html`<${Rows} label="Tasks" count=${found.length} height=${isNarrow.value ? HEIGHT_NARROW : HEIGHT} row=${row} columns=${columns} keyOf=${(/** @type {number} */ i) => found[i].name} className="tasks" />`}`;
}

/** What tasks are put in order by; unsaid, it is the order of the definition. @type {Record<string, (task: Task) => number | string>} */
const KEYS = {
  state: (task) => ORDER.indexOf(task.status),
  name: (task) => task.name,
  attempt: (task) => task.attempt,
  started: (task) => task.started_at ?? '~',
  took: (task) => (task.started_at ? (task.finished_at ? moment(task.finished_at) : Date.now()) - moment(task.started_at) : -1),
};

/** @param {string} sort a key, with a minus the other way round @param {Task[]} tasks a list of its own */
function sorted(sort, tasks) {
  const isDown = sort.startsWith('-');
  const key = KEYS[isDown ? sort.slice(1) : sort];
  if (!key) return tasks;
  const by = new Map(tasks.map((task) => [task, key(task)]));
  const compared = (/** @type {Task} */ a, /** @type {Task} */ b) => {
    const [one, other] = [/** @type {any} */ (by.get(a)), /** @type {any} */ (by.get(b))];
    return one < other ? -1 : one > other ? 1 : 0;
  };
  return tasks.sort((a, b) => (isDown ? -compared(a, b) : compared(a, b)));
}

/** @param {Task[]} tasks */
function count(tasks) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const task of tasks) counts[task.status] = (counts[task.status] ?? 0) + 1;
  return counts;
}

/** Of the tasks that are chosen, those that can be tried again. @param {{ run: import('../shapes.js').Run, tasks: Task[] }} props */
function RetryThese({ run, tasks }) {
  const [isBusy, setBusy] = useState(false);
  const names = tasks.filter((task) => task.status === 'failed' || task.status === 'cancelled').map((task) => task.name);
  if (!mayOperate() || names.length === 0 || names.length > RETRIED_MAX) return null;
  const retry = async () => {
    setBusy(true);
    try {
      await send(path`/runs/${run.id}/retry`, { tasks: names });
      say(`${counted(names.length, 'task')} ${names.length === 1 ? 'runs' : 'run'} again.`);
    } catch (problem) {
      say(/** @type {Error} */ (problem).message, 'failed');
    }
    setBusy(false);
  };
  return html`<button type="button" disabled=${isBusy} onClick=${retry}>Retry ${names.length === 1 ? 'this one' : `these ${number(names.length)}`}</button>`;
}

/** @param {{ run: string, task: Task | undefined, reasons: import('../explained.js').Reasons, isAdded: boolean }} props */
function Row({ run, task, reasons, isAdded }) {
  const isOpen = task !== undefined && !isSettled(task.status);
  useEffect(() => (isOpen ? reasons.see(/** @type {Task} */ (task).name) : undefined), [task?.name, isOpen, reasons.see]);
  if (!task) return null;
  const { instances } = task;
  const why = html`<${WhyBriefly} task=${task} explained=${reasons.of(task.name)} run=${run} />`;
  const name = html`<a class="stretched" href=${to.task(run, task.name)}><bdi>${shown(task.name)}</bdi></a>${isAdded && html` <span class="label">added</span>`}${instances && html` <span class="muted">${number(instances.success ?? 0)}/${number(instances.total ?? 0)}</span>`}`;
  return html`<${Cell} className="c-state"><${State} status=${task.status} /><//>
    <${Cell} className="c-name">${isNarrow.value ? html`<div class="one-line">${name}</div><div class="second-line">${why}</div>` : name}<//>
    <${Cell} className="c-num wide roomy">${task.attempt > 0 ? `${task.attempt}` : ''}${task.tries_max > 1 ? html`<span class="muted" title="failures that count, of those allowed"> (${task.tries}/${task.tries_max})</span>` : ''}<//>
    <${Cell} className="c-time wide roomy"><${Clock} at=${task.started_at} /><//>
    <${Cell} className="c-took">${task.started_at && (task.finished_at || !isStopped(task)) && html`<${Took} from=${task.started_at} to=${task.finished_at} />`}<//>
    ${!isNarrow.value && html`<${Cell} className="grow wide one-line">${why}<//>`}`;
}

/** It has started once and waits for another try: no time goes by. @param {Task} task */
const isStopped = (task) => !['running', 'dispatched', 'worker_done', 'waiting'].includes(task.status);
