// When each task waited, started, ran and failed: one row each, attempts in a row, waiting apart
// from running. A fan-out unfolds into its instances.

import { html, useEffect, useMemo, useState } from '../html.js';
import { get, path, query } from '../api.js';
import { to } from '../router.js';
import { duration, moment, now } from '../time.js';
import { number, shown } from '../text.js';
import { isNarrow } from '../room.js';
import { isFinal, isParked, isSettled, tone } from '../words.js';
import { pages } from './load.js';
import { throttled } from '../live.js';
import { Empty } from './basics.js';
import { areMet, instancePieces, pieces, readyAt } from './pieces.js';
import { Cell, Rows } from './rows.js';
import { Shape } from './state.js';
import { useUnfolded } from './unfold.js';

/** @typedef {import('../shapes.js').Task} Task */
/** @typedef {import('../shapes.js').Attempt} Attempt */
/** @typedef {import('./pieces.js').Piece} Piece */
/** @typedef {{ key: string, task: Task, of?: Task, more?: number, pieces: Piece[] }} Row of: the fan-out that an instance belongs to; more: so many are not shown */

const HEIGHT = 30;
const ATTEMPTS_MAX = 20_000;
/** So many at most, fewer where there is no room. */
const TICKS = 6;
const TICKS_NARROW = 3;

/**
 * @param {{ run: import('../shapes.js').Run, tasks: Task[], edition: number, find: (name: string) => Task | undefined, needsOf: (name: string) => { task: string, when: string }[] | undefined, added: Set<string> }} props
 */
export function Timeline({ run, tasks, edition, find, needsOf, added }) {
  const past = usePast(run.id, tasks, edition);
  const isOver = isFinal(run.status);
  const at = isOver ? 0 : now.value;
  const begin = moment(run.started_at ?? run.created_at);
  const unfolded = useUnfolded(run.id, find, edition);
  const { rows, first, last } = useMemo(() => {
    const own = tasks
      .map((task) => {
        const needs = needsOf(task.name);
        return { key: task.name, task, pieces: pieces(task, past.get(task.name) ?? [], { ready: readyAt(needs, find, begin), isMet: areMet(needs, find), at }) };
      })
      .filter((row) => row.pieces.length > 0)
      .sort((a, b) => a.pieces[0].from - b.pieces[0].from);
    let [first, last] = [begin, isOver ? moment(run.finished_at) : at];
    for (const { pieces } of own) for (const piece of pieces) [first, last] = [Math.min(first, piece.from), Math.max(last, piece.to)];
    return { rows: own.flatMap((row) => [row, ...inside(row.task, unfolded.of(row.task.name), at)]), first, last: Math.max(last, first + 1) };
  }, [edition, tasks, past, at, run.finished_at, needsOf, unfolded.told, unfolded.names]);
  if (rows.length === 0) return html`<${Empty} title="Nothing has started yet." />`;
  const percent = (/** @type {number} */ time) => (100 * (time - first)) / (last - first);
  const columns = html`<${Cell} head className="t-name">Task<//><${Cell} head className="grow t-axis"><span class="ticks" aria-hidden="true">${ticks(last - first).map((tick) => html`<span key=${tick} style=${{ left: `${(100 * tick) / (last - first)}%` }}>${tick === 0 ? '0' : duration(tick)}</span>`)}</span><span class="visually-hidden">From the start to ${duration(last - first)} later</span><//>`;
  const row = (/** @type {number} */ i) => {
    const { pieces: parts } = rows[i];
    return html`<${Cell} className="t-name"><${Name} run=${run.id} row=${rows[i]} isAdded=${added.has(rows[i].task.name)} unfolded=${unfolded} /><//>
      <${Cell} className="grow t-line"><span class="visually-hidden">${parts.map((piece) => piece.says).join('; ')}</span>${parts.map((piece, n) => html`<span key=${n} class=${`piece ${piece.kind} tone-${tone(piece.status)}`} title=${shown(piece.says)} style=${{ left: `${percent(piece.from)}%`, width: `${Math.max(0, percent(piece.to) - percent(piece.from))}%` }}></span>`)}<//>`;
  };
  return html`<div class="legend timeline-legend"><span><i class="piece wait sample"></i> waits to start</span><span><i class="piece start sample tone-running"></i> being started</span><span><i class="piece work sample tone-running"></i> runs</span><span><i class="piece work sample tone-success"></i> succeeded</span><span><i class="piece work sample tone-failed"></i> failed</span><span><i class="piece delay sample"></i> waits for the next try</span>${tasks.some((task) => task.finalizer) && html`<span><i class="piece land sample tone-success"></i> lands (its finalizer)</span>`}${tasks.some((task) => isParked(task.kind)) && html`<span><i class="piece parked sample tone-waiting"></i> waits for a person, a signal, a time or a child run</span>`}</div>
    <${Rows} label="Timeline of the tasks" count=${rows.length} height=${HEIGHT} row=${row} columns=${columns} keyOf=${(/** @type {number} */ i) => rows[i].key} className="timeline" />`;
}

/**
 * Rows of the instances of a fan-out that is unfolded.
 * @param {Task} task @param {{ items: Task[], more: number } | undefined} told @param {number} at @returns {Row[]}
 */
function inside(task, told, at) {
  if (!told) return [];
  /** @type {Row[]} */
  const rows = told.items.map((it) => ({ key: `${task.name} ${it.index}`, task: it, of: task, pieces: instancePieces(it, task, at) }));
  return told.more > 0 ? [...rows, { key: `${task.name} more`, task, of: task, more: told.more, pieces: [] }] : rows;
}

/** @param {{ run: string, row: Row, isAdded: boolean, unfolded: ReturnType<typeof useUnfolded> }} props */
function Name({ run, row: { task, of, more }, isAdded, unfolded }) {
  if (more) return html`<span class="t-inner"></span><a href=${to.task(run, task.name)}>${number(more)} more</a>`;
  if (of) return html`<span class="t-inner"></span><${Shape} status=${task.status} /><a href=${to.task(run, task.name, task.index)} aria-label=${`${task.name}[${task.index}]`}>[${task.index}]</a>`;
  const { success = 0, failed = 0, total = 0 } = task.instances ?? {};
  return html`<${Shape} status=${task.status} /><a href=${to.task(run, task.name)}><bdi>${shown(task.name)}</bdi></a>${isAdded && html`<span class="label">added</span>`}
    ${task.instances && html`<span class="spread"></span>${failed > 0 && html`<span class="t-count"><${Shape} status="failed" />${number(failed)}<span class="visually-hidden"> failed</span></span>`}<span class="t-count wide">${number(success)}/${number(total)}</span>
      <button type="button" class="quiet small" aria-expanded=${unfolded.isOpen(task.name)} aria-label=${`Instances of ${task.name}`} onClick=${() => unfolded.toggle(task.name)}>${unfolded.isOpen(task.name) ? '▾' : '▸'}</button>`}`;
}

/** Round numbers of milliseconds, minutes and hours along a span. @param {number} span */
function ticks(span) {
  const most = isNarrow.value ? TICKS_NARROW : TICKS;
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 12e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];
  let step = steps.find((it) => span / it <= most) ?? 864e5;
  while (span / step > most) step *= 2;
  // The last one has room for its text.
  return Array.from({ length: Math.floor((span * 0.93) / step) + 1 }, (_, i) => i * step);
}

/** Attempts that are over. The current one of each task is in its view. @param {string} id @param {Task[]} tasks @param {number} edition */
function usePast(id, tasks, edition) {
  const [past, setPast] = useState(/** @type {Map<string, Attempt[]>} */ (new Map()));
  const load = useMemo(() => throttled(async () => {
    try {
      const { items } = await pages((cursor) => get(path`/runs/${id}/attempts` + query({ limit: 1000, cursor })), ATTEMPTS_MAX);
      const next = new Map();
      for (const attempt of items) next.set(attempt.task, [...(next.get(attempt.task) ?? []), attempt]);
      setPast(next);
    } catch { /* the current attempts are shown all the same */ }
  }, 2000), [id]);
  // An attempt number that is not known yet: the one before has gone into history.
  const tried = useMemo(() => tasks.reduce((sum, task) => sum + task.attempt + (task.finalizer && isSettled(task.status) ? 1 : 0), 0), [edition, tasks]);
  useEffect(load, [tried]);
  return past;
}
