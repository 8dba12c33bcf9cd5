// Tasks in rows, with why each is not running.

import { html, useMemo, useState } from '../html.js';
import { place, setQuery, to } from '../router.js';
import { moment, now } from '../time.js';
import { isNarrow } from '../room.js';
import { number, shortened, shown } from '../text.js';
import { ORDER, word } from '../words.js';
import { whyNot } from '../why.js';
import { Clock, Empty, Took } from './basics.js';
import { Cell, Rows } from './rows.js';
import { Shape, State } from './state.js';

/** @typedef {import('../shapes.js').Task} Task */

const HEIGHT = 36;
/** Two lines: why comes below. */
const HEIGHT_NARROW = 54;

/**
 * @param {{ run: import('../shapes.js').Run, tasks: Task[], edition: number, find: (name: string) => Task | undefined,
 *   needsOf: (name: string) => { task: string, when: string }[] | undefined, within?: { label: string, names: Set<string> }, leave: () => void }} props
 *   within: only these; leave: shows all again
 */
export function TaskTable({ run, tasks, edition, find, needsOf, within, leave }) {
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
  const row = (/** @type {number} */ i) => html`<${Row} run=${run} task=${found[i]} find=${find} needs=${needsOf(found[i]?.name)} />`;
  return html`<div class="filters" role="group" aria-label="Filter">
      <input type="search" class="filter" placeholder="Filter by name" aria-label="Filter tasks by name" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
      ${ORDER.filter((status) => counts[status] || states.includes(status)).map((status) => html`<button key=${status} type="button" class="chip" aria-pressed=${states.includes(status)} onClick=${() => toggle(status)}><${Shape} status=${status} />${number(counts[status] ?? 0)} ${word(status)}</button>`)}
      ${within && html`<button type="button" class="chip" aria-pressed="true" onClick=${leave}>${shown(within.label)} ✕</button>`}
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

/** @param {{ run: import('../shapes.js').Run, task: Task | undefined, find: (name: string) => Task | undefined, needs: { task: string, when: string }[] | undefined }} props */
function Row({ run, task, find, needs }) {
  if (!task) return null;
  const at = task.retry_at || task.status === 'waiting' ? now.value : now.peek();
  const why = whyNot(task, needs, find, run, at);
  const { instances } = task;
  return html`<${Cell} className="c-state"><${State} status=${task.status} /><//>
    <${Cell} className="c-name"><a class="stretched" href=${to.task(run.id, task.name)}><bdi>${shown(task.name)}</bdi></a>${instances && html` <span class="muted">${number(instances.success ?? 0)}/${number(instances.total ?? 0)}</span>`}${isNarrow.value && html`<div class=${`second-line ${task.status === 'failed' ? 'tone-failed toned' : 'muted'}`}>${shortened(why, 300)}</div>`}<//>
    <${Cell} className="c-num wide roomy">${task.attempt > 0 ? `${task.attempt}` : ''}${task.tries_max > 1 ? html`<span class="muted" title="failures that count, of those allowed"> (${task.tries}/${task.tries_max})</span>` : ''}<//>
    <${Cell} className="c-time wide roomy"><${Clock} at=${task.started_at} /><//>
    <${Cell} className="c-took">${task.started_at && (task.finished_at || !isStopped(task)) && html`<${Took} from=${task.started_at} to=${task.finished_at} />`}<//>
    ${!isNarrow.value && html`<${Cell} className="grow wide one-line"><span class=${task.status === 'failed' ? 'tone-failed toned' : 'muted'} title=${shortened(why, 1000)}>${shortened(why, 300)}</span><//>`}`;
}

/** It has started once and waits for another try: no time goes by. @param {Task} task */
const isStopped = (task) => !['running', 'dispatched', 'worker_done', 'waiting'].includes(task.status);
