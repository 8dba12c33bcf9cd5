// The states, each with a tone and a shape of its own.

/** @typedef {'quiet' | 'running' | 'waiting' | 'paused' | 'success' | 'failed' | 'blocked'} Tone */

/** @type {Record<string, { tone: Tone, means: string }>} */
const STATES = {
  pending: { tone: 'quiet', means: 'waits for what comes before it' },
  ready: { tone: 'waiting', means: 'may start, waits for a limit' },
  dispatched: { tone: 'running', means: 'handed to its executor, not yet started' },
  running: { tone: 'running', means: 'at work' },
  waiting: { tone: 'waiting', means: 'waits for a time, a signal, an approval or a child run' },
  worker_done: { tone: 'running', means: 'the work is done, its finalizer has not landed' },
  cancelling: { tone: 'waiting', means: 'what runs is being stopped' },
  paused: { tone: 'paused', means: 'held: no new attempt starts' },
  success: { tone: 'success', means: 'done' },
  cached: { tone: 'success', means: 'an earlier result was used' },
  copied: { tone: 'success', means: 'taken over from the run that this one runs anew' },
  failed: { tone: 'failed', means: 'failed for good' },
  cancelled: { tone: 'quiet', means: 'cancelled' },
  abandoned: { tone: 'quiet', means: 'given up without waiting for its end' },
  refused: { tone: 'quiet', means: 'could not be started; tried again' },
  skipped: { tone: 'quiet', means: 'its condition was false, or something before it was skipped' },
  blocked: { tone: 'blocked', means: 'something before it failed' },
};

/** In the order in which counts are shown: what is wrong, what goes on, what is to come, what is over. */
export const ORDER = [
  'failed', 'blocked', 'running', 'dispatched', 'worker_done', 'waiting', 'paused', 'ready', 'pending',
  'cancelled', 'skipped', 'success',
];

export const RUN_STATES = ['pending', 'running', 'paused', 'cancelling', 'success', 'failed', 'cancelled'];

const FINAL = new Set(['success', 'failed', 'cancelled']);
const SETTLED = new Set([...FINAL, 'skipped', 'blocked']);

/** @param {string} status */
export const isFinal = (status) => FINAL.has(status);
/** @param {string} status */
export const isSettled = (status) => SETTLED.has(status);
/** @param {string} status */
export const isLive = (status) => status === 'running' || status === 'dispatched';

/** Kinds that are no work of a process: they have no log, and their time is spent waiting. */
const PARKED = new Set(['approval', 'wait', 'sleep', 'workflow']);
/** @param {string} kind */
export const isParked = (kind) => PARKED.has(kind);
/** @param {string} kind */
export const hasLog = (kind) => !PARKED.has(kind) && kind !== 'noop';

/** @param {string} status @returns {Tone} */
export const tone = (status) => STATES[status]?.tone ?? 'quiet';
/** @param {string} status */
export const means = (status) => STATES[status]?.means ?? '';
/** @param {string} status */
export const word = (status) => status.replaceAll('_', ' ');

/** Who holds something: a person, or a task that is a checkpoint. @param {import('./shapes.js').Hold} hold */
export function heldBy({ by }) {
  const checkpoint = by.startsWith('checkpoint ');
  return { checkpoint, name: checkpoint ? by.slice('checkpoint '.length) : by };
}

/**
 * The state that a set of tasks has as a whole.
 * @param {Record<string, number>} counts
 */
export function worst(counts) {
  for (const status of ['failed', 'running', 'dispatched', 'worker_done', 'waiting', 'paused', 'ready', 'blocked']) {
    if (counts[status]) return status;
  }
  if (counts.pending) return counts.success ? 'running' : 'pending';
  return ['cancelled', 'success', 'skipped'].find((status) => counts[status]) ?? 'pending';
}
