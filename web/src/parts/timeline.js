// When each task waited, started, ran and failed: one row each, attempts in a row, waiting apart
// from running.

import { html, useEffect, useMemo, useState } from '../html.js';
import { get, path, query } from '../api.js';
import { to } from '../router.js';
import { duration, moment, now } from '../time.js';
import { shown } from '../text.js';
import { isNarrow } from '../room.js';
import { isFinal, isParked, isSettled, tone, word } from '../words.js';
import { pages } from './load.js';
import { throttled } from '../live.js';
import { Empty } from './basics.js';
import { Cell, Rows } from './rows.js';
import { Shape } from './state.js';

/** @typedef {import('../shapes.js').Task} Task */
/** @typedef {import('../shapes.js').Attempt} Attempt */
/** @typedef {{ kind: 'wait' | 'start' | 'delay' | 'work' | 'land' | 'parked', from: number, to: number, status: string, says: string }} Piece */

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
  const { rows, first, last } = useMemo(() => {
    const rows = tasks
      .map((task) => ({ task, pieces: pieces(task, past.get(task.name) ?? [], readyAt(needsOf(task.name), find, begin), at) }))
      .filter((row) => row.pieces.length > 0)
      .sort((a, b) => a.pieces[0].from - b.pieces[0].from);
    let [first, last] = [begin, isOver ? moment(run.finished_at) : at];
    for (const { pieces } of rows) for (const piece of pieces) [first, last] = [Math.min(first, piece.from), Math.max(last, piece.to)];
    return { rows, first, last: Math.max(last, first + 1) };
  }, [edition, tasks, past, at, run.finished_at, needsOf]);
  if (rows.length === 0) return html`<${Empty} title="Nothing has started yet." />`;
  const percent = (/** @type {number} */ time) => (100 * (time - first)) / (last - first);
  const columns = html`<${Cell} head className="t-name">Task<//><${Cell} head className="grow t-axis"><span class="ticks" aria-hidden="true">${ticks(last - first).map((tick) => html`<span key=${tick} style=${{ left: `${(100 * tick) / (last - first)}%` }}>${tick === 0 ? '0' : duration(tick)}</span>`)}</span><span class="visually-hidden">From the start to ${duration(last - first)} later</span><//>`;
  const row = (/** @type {number} */ i) => {
    const { task, pieces: parts } = rows[i];
    return html`<${Cell} className="t-name"><${Shape} status=${task.status} /><a href=${to.task(run.id, task.name)}><bdi>${shown(task.name)}</bdi></a>${added.has(task.name) && html`<span class="label">added</span>`}<//>
      <${Cell} className="grow t-line"><span class="visually-hidden">${parts.map((piece) => piece.says).join('; ')}</span>${parts.map((piece, n) => html`<span key=${n} class=${`piece ${piece.kind} tone-${tone(piece.status)}`} title=${shown(piece.says)} style=${{ left: `${percent(piece.from)}%`, width: `${Math.max(0, percent(piece.to) - percent(piece.from))}%` }}></span>`)}<//>`;
  };
  return html`<div class="legend timeline-legend"><span><i class="piece wait sample"></i> waits for a limit</span><span><i class="piece start sample tone-running"></i> being started</span><span><i class="piece work sample tone-running"></i> runs</span><span><i class="piece work sample tone-success"></i> succeeded</span><span><i class="piece work sample tone-failed"></i> failed</span><span><i class="piece delay sample"></i> waits for the next try</span>${tasks.some((task) => task.finalizer) && html`<span><i class="piece land sample tone-success"></i> lands (its finalizer)</span>`}${tasks.some((task) => isParked(task.kind)) && html`<span><i class="piece parked sample tone-waiting"></i> waits for a person, a signal, a time or a child run</span>`}</div>
    <${Rows} label="Timeline of the tasks" count=${rows.length} height=${HEIGHT} row=${row} columns=${columns} keyOf=${(/** @type {number} */ i) => rows[i].task.name} className="timeline" />`;
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

/** @param {{ task: string, when: string }[] | undefined} needs @param {(name: string) => Task | undefined} find @param {number} begin */
function readyAt(needs, find, begin) {
  let at = begin;
  for (const need of needs ?? []) {
    const before = find(need.task);
    const done = need.when === 'completed' ? before?.finalizer?.since : undefined;
    const when = need.when === 'started' ? before?.started_at : done ?? before?.finished_at;
    if (when) at = Math.max(at, moment(when));
  }
  return at;
}

/**
 * All attempts of a task. The list may be older than what is known of the task: the last attempt is
 * as that says.
 * @param {Task} task @param {Attempt[]} past
 */
function attemptsOf(task, past) {
  const { finalizer, attempt } = task;
  const all = past.filter((it) => it.attempt <= attempt).map((it) => ({ ...it }));
  const isListed = all.some((it) => it.attempt === attempt);
  if (!isListed && finalizer?.attempt === attempt && finalizer.started_at) all.push({ attempt, id: '', role: 'finalize', status: finalizer.state, dispatched_at: finalizer.started_at, started_at: finalizer.started_at });
  else if (!isListed && !finalizer && task.started_at) all.push({ attempt, id: '', role: 'work', status: task.status, dispatched_at: task.started_at, started_at: task.started_at, finished_at: task.finished_at });
  for (const [i, it] of all.entries()) {
    if (it.finished_at) continue;
    const next = all[i + 1];
    if (it.role === 'work' && finalizer) [it.finished_at, it.status] = [finalizer.since, 'success'];
    else if (next) it.finished_at = next.dispatched_at;
    else if (isSettled(task.status)) [it.finished_at, it.status] = [task.finished_at, task.status];
    else if (!finalizer) [it.started_at, it.status] = [it.started_at ?? task.started_at, task.status];
  }
  return all;
}

/** @param {Task} task @param {Attempt[]} past @param {number} ready @param {number} at @returns {Piece[]} */
function pieces(task, past, ready, at) {
  if (task.count !== undefined) return group(task, at);
  const all = attemptsOf(task, past);
  /** @type {Piece[]} */
  const made = [];
  let before = ready;
  for (const [n, it] of all.entries()) {
    const sent = moment(it.dispatched_at);
    const began = moment(it.started_at);
    const end = it.finished_at ? moment(it.finished_at) : at || sent;
    if (sent - before > 1) made.push(gap(all[n - 1], it, before, sent));
    const from = Number.isNaN(began) ? end : began;
    if (from - sent > 1) made.push({ kind: 'start', from: sent, to: from, status: 'dispatched', says: `being started ${duration(from - sent)}` });
    if (!Number.isNaN(began)) made.push(worked(task, it, began, end));
    before = end;
  }
  const waits = task.finalizer?.state === 'queued' || task.finalizer?.state === 'delayed';
  if (waits && all.length && at > before) made.push({ kind: task.finalizer?.tries ? 'delay' : 'wait', from: before, to: at, status: 'pending', says: `waits to land for ${duration(at - before)}` });
  const next = task.retry_at && !task.finished_at ? Math.min(moment(task.retry_at), at) : NaN;
  if (next > before && all.length) made.push({ kind: 'delay', from: before, to: next, status: 'pending', says: 'waits for the next try' });
  return made;
}

/** Before an attempt: for a place at the start and before landing, else for another try. @param {Attempt | undefined} before @param {Attempt} it @param {number} from @param {number} to @returns {Piece} */
function gap(before, it, from, to) {
  const isFirst = !before || (before.role !== 'finalize' && it.role === 'finalize');
  const what = !before ? 'waited' : isFirst ? 'waited to land' : 'waited for the next try';
  return { kind: isFirst ? 'wait' : 'delay', from, to, status: 'pending', says: `${what} ${duration(to - from)}` };
}

/** @param {Task} task @param {Attempt} it @param {number} from @param {number} to @returns {Piece} */
function worked(task, it, from, to) {
  if (it.role === 'finalize') return { kind: 'land', from, to, status: it.status, says: `attempt ${it.attempt}, the finalizer, ${word(it.status)}, ${duration(to - from)}` };
  if (isParked(task.kind)) return { kind: 'parked', from, to, status: 'waiting', says: `waited ${duration(to - from)}, ${word(it.status)}` };
  return { kind: 'work', from, to, status: it.status, says: `attempt ${it.attempt} ${word(it.status)}, ${duration(to - from)}` };
}

/** @param {Task} task @param {number} at @returns {Piece[]} */
function group(task, at) {
  if (!task.started_at) return [];
  const from = moment(task.started_at);
  const end = task.finished_at ? moment(task.finished_at) : at || from;
  return [{ kind: isParked(task.kind) ? 'parked' : 'work', from, to: end, status: isParked(task.kind) ? 'waiting' : task.status, says: `${task.count} instances, ${word(task.status)}, ${duration(end - from)}` }];
}
