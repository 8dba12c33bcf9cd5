// What is drawn of a task in a timeline: pieces of time in which it waited, was started, worked,
// landed, or waited for the next try.

import { duration, moment } from '../time.js';
import { counted, number } from '../text.js';
import { isParked, isSettled, word } from '../words.js';

/** @typedef {import('../shapes.js').Task} Task */
/** @typedef {import('../shapes.js').Attempt} Attempt */
/** @typedef {{ kind: 'wait' | 'start' | 'delay' | 'work' | 'land' | 'parked', from: number, to: number, status: string, says: string }} Piece */

/** @param {{ task: string, when: string }[] | undefined} needs @param {(name: string) => Task | undefined} find @param {number} begin */
export function readyAt(needs, find, begin) {
  let at = begin;
  for (const need of needs ?? []) {
    const before = find(need.task);
    const done = need.when === 'completed' ? before?.finalizer?.since : undefined;
    const when = need.when === 'started' ? before?.started_at : done ?? before?.finished_at;
    if (when) at = Math.max(at, moment(when));
  }
  return at;
}

/** Whether all that it waits for has come. @param {{ task: string, when: string }[] | undefined} needs @param {(name: string) => Task | undefined} find */
export function areMet(needs, find) {
  return (needs ?? []).every((need) => {
    const before = find(need.task);
    return before && (isSettled(before.status) || (need.when === 'started' && before.started_at) || (need.when === 'completed' && before.finalizer));
  });
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

/**
 * @param {Task} task @param {Attempt[]} past
 * @param {{ ready: number, isMet: boolean, at: number }} when ready: it could start; isMet: that is over; at: now, 0 if nothing goes on any more
 * @returns {Piece[]}
 */
export function pieces(task, past, { ready, isMet, at }) {
  if (task.count !== undefined && task.index === undefined) return group(task, { ready, isMet, at });
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
  return [...made, ...waiting(task, { ready: Math.max(before, next || before), isMet, at })];
}

/** It could start, and does not: a limit is full, or somebody holds it. @param {Task} task @param {{ ready: number, isMet: boolean, at: number }} when @returns {Piece[]} */
function waiting(task, { ready, isMet, at }) {
  const waits = task.status === 'ready' || (task.status === 'paused' && isMet);
  if (!waits || !(at > ready)) return [];
  return [{ kind: 'wait', from: ready, to: at, status: 'pending', says: `${task.status === 'paused' ? 'held, waits' : 'waits'} to start for ${duration(at - ready)}` }];
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

/** @param {Task} task @param {{ ready: number, isMet: boolean, at: number }} when @returns {Piece[]} */
function group(task, when) {
  if (!task.started_at) return waiting(task, when);
  const from = moment(task.started_at);
  const end = task.finished_at ? moment(task.finished_at) : when.at || from;
  const { success = 0, failed = 0 } = task.instances ?? {};
  const counts = [`${number(success)} done`, ...(failed ? [`${number(failed)} failed`] : [])].join(', ');
  /** @type {Piece[]} */
  const before = from - when.ready > 1 ? [{ kind: 'wait', from: when.ready, to: from, status: 'pending', says: `waited ${duration(from - when.ready)}` }] : [];
  return [...before, { kind: isParked(task.kind) ? 'parked' : 'work', from, to: end, status: isParked(task.kind) ? 'waiting' : task.status, says: `${counted(task.count ?? 0, 'instance')}, ${counts}, ${word(task.status)}, ${duration(end - from)}` }];
}

/**
 * Of an instance only its last attempt is known; before its first it waited since the group began.
 * @param {Task} instance @param {Task} of @param {number} at @returns {Piece[]}
 */
export function instancePieces(instance, of, at) {
  const { finalizer, attempt, started_at } = instance;
  /** @type {Attempt[]} */
  const past = finalizer && started_at ? [{ attempt: finalizer.attempt === attempt ? attempt - 1 : attempt, id: '', role: 'work', status: 'success', dispatched_at: started_at, started_at, finished_at: finalizer.since }] : [];
  const isFirst = attempt - (finalizer?.attempt ? 1 : 0) <= 1;
  return pieces(instance, past, { ready: isFirst ? moment(of.started_at) : NaN, isMet: true, at });
}
