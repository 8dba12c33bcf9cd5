// Why a task is not running, from what the page knows of the run.

import { isSettled, word } from './words.js';
import { ahead, moment } from './time.js';

/** @typedef {import('./shapes.js').Task} Task */

/**
 * What a parked task waits for, with its kind.
 * @param {Task} task
 * @returns {(import('./shapes.js').Awaits & { kind: string }) | undefined}
 */
export function waitsFor(task) {
  const it = task.awaits;
  if (!it) return undefined;
  const kind = it.message !== undefined ? 'approval' : it.signal !== undefined ? 'signal' : 'timer';
  return { ...it, kind };
}

/** What each condition of an edge waits for. @type {Record<string, (status: string) => boolean>} */
const SATISFIED = {
  merged: (status) => status === 'success',
  success: (status) => status === 'success',
  completed: (status) => status === 'success' || status === 'worker_done',
  started: (status) => !['pending', 'ready', 'paused'].includes(status),
  failed: (status) => status === 'failed',
  finished: isSettled,
};

/** @type {Record<string, string>} */
const UNTIL = {
  merged: '', success: '', completed: 'to complete', started: 'to start', failed: 'to fail', finished: 'to finish',
};

/**
 * @param {Task} task
 * @param {{ task: string, when: string }[] | undefined} needs
 * @param {(name: string) => Task | undefined} find
 * @param {{ status: string, held?: { by?: string } } | undefined} run
 * @param {number} at
 * @returns {string}
 */
export function whyNot(task, needs, find, run, at) {
  if (task.stopping) return `being stopped (${task.stopping})`;
  if (task.held) return `held by ${task.held.by ?? 'somebody'}`;
  const parked = waitsFor(task);
  if (parked) return waits(parked, at);
  if (task.retry_at && !isSettled(task.status)) {
    const why = task.error?.message ?? task.reason ?? '';
    return `next try ${ahead(moment(task.retry_at), at)}${why ? ` after: ${why}` : ''}`;
  }
  if (task.status === 'ready') {
    if (run?.status === 'paused') return `the run is paused${run.held?.by ? ` by ${run.held.by}` : ''}`;
    return task.tier ? `waits for a free place in tier ${task.tier}` : 'waits for a free place';
  }
  if (task.status === 'pending') return pending(needs, find);
  if (isSettled(task.status) && !task.error) return reason(task.reason);
  return task.error?.message ?? '';
}

/** @param {{ task: string, when: string }[] | undefined} needs @param {(name: string) => Task | undefined} find */
function pending(needs, find) {
  const open = (needs ?? []).filter((edge) => !SATISFIED[edge.when]?.(find(edge.task)?.status ?? 'pending'));
  if (open.length === 0) return '';
  const named = open.slice(0, 3).map((edge) => {
    const until = UNTIL[edge.when];
    return `${edge.task}${until ? ` ${until}` : ''} (${word(find(edge.task)?.status ?? 'pending')})`;
  });
  const more = open.length > 3 ? ` and ${open.length - 3} more` : '';
  return `waits for ${named.join(', ')}${more}`;
}

/** @param {string | undefined} text */
function reason(text) {
  if (!text) return '';
  const [what, who] = text.split(': ');
  const said = { upstream_failed: 'failed before it', upstream_skipped: 'something before it was skipped', upstream_cancelled: 'something before it was cancelled', run_cancelled: 'the run was cancelled', condition: 'its condition was false', fail_fast: 'another instance failed', cached: 'an earlier result was used', copied: 'taken over from the run before' }[what];
  if (!said) return text.replaceAll('_', ' ');
  return what === 'upstream_failed' ? `${who ?? 'something'} ${said}` : said;
}

/** @param {import('./shapes.js').Awaits & { kind: string }} waits @param {number} at */
function waits(waits, at) {
  const until = waits.until ? `, for at most ${ahead(moment(waits.until), at).replace(/^in /, '')} more` : '';
  if (waits.decided) return `${waits.decided} already: it takes effect when the task is resumed`;
  if (waits.kind === 'approval') return `waits for an approval${waits.message ? `: ${waits.message}` : ''}`;
  if (waits.kind === 'signal') return `waits for the signal ${waits.signal ?? ''}${until}`;
  return waits.until ? `sleeps, goes on ${ahead(moment(waits.until), at)}` : 'sleeps';
}
