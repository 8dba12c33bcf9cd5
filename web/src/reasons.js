// Why something does not go on. The server says why (`explain`); here that is put into sentences
// that stay true while time goes by, with links to whatever is in the way.

import { ago, ahead, duration, moment } from './time.js';
import { counted, number } from './text.js';
import { to } from './router.js';
import { word } from './words.js';

/** @typedef {import('./shapes.js').Reason} Reason */
/** @typedef {string | { text: string, href: string, status?: string }} Piece */

/** Names in one sentence. */
const NAMED_MAX = 4;

/** What an edge waits for, unless it is a success. @type {Record<string, string>} */
const UNTIL = { completed: ' to have done its work', started: ' to start', failed: ' to fail', finished: ' to be settled' };

/** What happens when nobody decides in time. @type {Record<string, string>} */
export const BY_ITSELF = { reject: 'is rejected', approve: 'is approved', fail: 'fails' };

/** The end of an id tells runs apart; its beginning is the time. @param {string} id */
export const shortId = (id) => id.slice(-8);

/** @param {string | undefined} at @param {number} now */
const since = (at, now) => (at ? `, ${ago(moment(at), now)}` : '');
/** @param {string | undefined} at @param {number} now */
const soFar = (at, now) => (at ? ` for ${duration(Math.max(0, Math.round((now - moment(at)) / 1000) * 1000))}` : '');
/** @param {string | undefined} at @param {number} now */
const again = (at, now) => (at ? `next try ${ahead(moment(at), now)}` : 'tried again');
/** @param {string | undefined} at @param {number} now */
const atMost = (at, now) => (at ? `, for at most ${ahead(moment(at), now).replace(/^in /, '')} more` : '');
/** @param {string | undefined} text */
const after = (text) => (text ? ` after: ${text}` : '');

/**
 * The first few of a list, and how many more.
 * @param {Piece[][]} items @param {number} all @returns {Piece[]}
 */
function listed(items, all) {
  const named = items.slice(0, NAMED_MAX);
  const left = all - named.length;
  const joined = named.flatMap((item, i) => (i ? [', ', ...item] : item));
  return left > 0 ? [...joined, ` and ${number(left)} more`] : joined;
}

/** @param {string} id @returns {Piece} */
const runLink = (id) => ({ text: shortId(id), href: to.run(id) });

/** @param {import('./shapes.js').Holder} it @param {string} run the one that is looked at @returns {Piece[]} */
function holder(it, run) {
  if (it.task === undefined) return [`${it.workflow} `, runLink(it.run)];
  const name = `${it.task}${it.index === undefined ? '' : `[${it.index}]`}`;
  const task = { text: name, href: to.task(it.run, it.task, it.index) };
  return it.run === run ? [task] : [task, ` of ${it.workflow} `, runLink(it.run)];
}

/** @type {Record<string, string>} */
const WORKED_OUT = {
  opening: 'its expressions are being worked out',
  instances: 'what its next instances are is being worked out',
  list: 'the list of what its instances put out is being made',
  outputs: 'what the run puts out is being worked out',
};

/** @type {Record<string, string>} */
const STOPPED_FOR = { pause: 'it is held', cancel: 'it is cancelled', timeout: 'its timeout is over', start_timeout: 'it did not start in time' };

/** A kill that nobody has confirmed by then is a person's to give up. */
const KILL_CONFIRMED_WITHIN_MS = 300_000;
/** @param {string | undefined} at @param {number} now */
const unconfirmed = (at, now) => (now - moment(at) >= KILL_CONFIRMED_WITHIN_MS ? `, ${ago(moment(at), now)}, and is not known to be gone: mainspring cancel --force gives it up as abandoned` : '');

/** @param {Reason} it @param {string} run @param {number} now @returns {Piece[]} */
function limit(it, run, now) {
  const name = { text: it.name ?? '', href: to.tiers() };
  if (it.rate && it.frees_at) return ['the rate ', it.rate, ' of ', name, ` lets the next one start ${ahead(moment(it.frees_at), now)}`];
  if (it.limit === 0) return [name, ' lets nothing start: its limit is 0'];
  const held = listed((it.holders ?? []).map((one) => holder(one, run)), it.in_use ?? 0);
  return [name, ` is full, ${number(it.in_use ?? 0)} of ${number(it.limit ?? 0)} in use`, ...(held.length ? [': ', ...held] : [])];
}

/** @param {Reason} it @param {string} what @returns {Piece[]} */
function behind(it, what) {
  const runs = listed((it.runs ?? []).map((id) => [runLink(id)]), it.active ?? 0);
  return [`waits until fewer than ${number(it.limit ?? 0)} ${what} are active: `, ...runs];
}

/** @param {Reason} it @param {number} now */
function approval(it, now) {
  if (it.decided) return [`${it.decided} already: it takes effect when the task is resumed`];
  const by = [it.by ?? []].flat();
  const end = it.until ? ` (${BY_ITSELF[it.on_timeout ?? ''] ?? 'ends'} ${ahead(moment(it.until), now)})` : '';
  return [`waits for an approval${by.length ? ` by ${by.join(' or ')}` : ''}: ${it.message ?? ''}${end}`];
}

/** @param {Reason} it @param {number} now @returns {Piece[]} */
function finalizer(it, now) {
  const queue = it.queue ? [' in the queue ', { text: it.queue, href: to.tiers() }] : [];
  return ['its work is done and waits to land', ...queue, `${it.retry_at ? `, ${again(it.retry_at, now)}` : ''}${after(it.message)}`];
}

/** @type {Record<string, (it: Reason, run: string, now: number) => Piece[]>} */
const SAID = {
  dependency: (it, run) => ['waits for ', { text: it.task ?? '', href: to.task(run, it.task ?? ''), status: it.state }, `${UNTIL[it.when ?? ''] ?? ''} (${word(it.state ?? '')})`],
  held: (it, _, now) => [`held by ${it.by}${since(it.since, now)}`],
  limit,
  retry: (it, _, now) => [`${again(it.at, now)}${after(it.message)}`],
  start_refused: (it, _, now) => [`could not start: ${it.missing}; ${again(it.at, now)}`],
  time: (it, _, now) => [`sleeps, goes on ${ahead(moment(it.until), now)}`],
  signal: (it, _, now) => [`waits for the signal ${it.key}${atMost(it.until, now)}`],
  approval: (it, _, now) => approval(it, now),
  child: (it, _, now) => ['waits for its child run ', runLink(it.run ?? ''), atMost(it.until, now)],
  evaluation: (it) => [WORKED_OUT[it.what ?? ''] ?? it.text],
  instances: (it) => [`${counted(it.counts?.total ?? 0, 'instance')}: ${Object.entries(it.counts ?? {}).filter(([state]) => state !== 'total').map(([state, n]) => `${number(n)} ${word(state)}`).join(', ')}`],
  concurrency: (it) => [`${number(it.at_work ?? 0)} of at most ${number(it.limit ?? 0)} instances are at work at once`],
  backlog: (it) => [`${counted(it.delayed ?? 0, 'instance')} wait for another try: no more are opened`],
  starting: () => ['nothing is in the way: it is about to start'],
  dispatched: (it, _, now) => [`attempt ${it.attempt} was handed over${since(it.since, now)}, and has not started yet`],
  running: (it, _, now) => [`attempt ${it.attempt} runs${soFar(it.since, now)}`],
  stopping: (it, _, now) => [`is being stopped: ${STOPPED_FOR[it.why ?? ''] ?? it.why}${it.reason ? ` (${word(it.reason)})` : ''}${unconfirmed(it.since, now)}`],
  finalizer: (it, _, now) => finalizer(it, now),
  landing: (it, _, now) => [`its work is done and lands, attempt ${it.attempt}${soFar(it.since, now)}`],
  grace: (it, _, now) => [`runs whatever happens, and is stopped ${ahead(moment(it.until), now)}`],
  run_pending: () => ['the run has not begun'],
  run_paused: (it, run, now) => (it.checkpoint ? ['the run is paused at the checkpoint ', { text: it.checkpoint, href: to.task(run, it.checkpoint) }, since(it.since, now)] : [`the run is paused by ${it.by}${since(it.since, now)}`]),
  run_cancelling: (it) => [it.by ? `the run is being cancelled by ${it.by}` : 'the run took longer than its timeout and is being ended'],
  max_active_runs: (it) => behind(it, `runs of ${it.name}`),
  concurrency_group: (it) => behind(it, `runs of the group ${it.name}`),
};

/**
 * All reasons, one line each; what has to come first is one line together.
 * @param {Reason[]} reasons @param {string} run @param {number} now @returns {Piece[][]}
 */
export function lines(reasons, run, now) {
  const say = (/** @type {Reason} */ it) => (SAID[it.kind] ? SAID[it.kind](it, run, now) : [it.text]);
  const first = reasons.filter((it) => it.kind === 'dependency');
  const others = reasons.filter((it) => it.kind !== 'dependency').map(say);
  if (first.length === 0) return others;
  const waits = listed(first.map((it) => say(it).slice(1)), first.length);
  return [['waits for ', ...waits], ...others];
}

/** @param {Piece[]} line */
export const plain = (line) => line.map((piece) => (typeof piece === 'string' ? piece : piece.text)).join('');

/** What says nothing that is not seen beside it; of instances, those that stand are told of below. */
const SEEN = new Set(['running', 'instances']);

/** What parked instances wait for. @type {Record<string, string>} */
const PARKED_FOR = { approval: 'an approval', signal: 'a signal', time: 'a time', child: 'a child run' };

/** Instances of a fan-out that stand, and for what, as far as it is told of them. @param {import('./shapes.js').Explained} it */
function standing({ reasons, instances = [] }) {
  const { failed = 0, waiting = 0, worker_done: done = 0 } = reasons.find((reason) => reason.kind === 'instances')?.counts ?? {};
  const kinds = new Set(instances.flatMap((one) => one.reasons).map((reason) => PARKED_FOR[reason.kind]).filter(Boolean));
  const said = (/** @type {number} */ n, /** @type {string} */ one, /** @type {string} */ many) => (n ? [`${counted(n, 'instance')} ${n === 1 ? one : many}`] : []);
  const end = kinds.size ? ` for ${[...kinds].join(' or ')}` : '';
  return [...said(failed, 'has failed', 'have failed'), ...said(waiting, `waits${end}`, `wait${end}`), ...said(done, 'has not landed', 'have not landed')];
}

/**
 * What keeps it, in one line.
 * @param {import('./shapes.js').Explained} it @param {string} run @param {number} now
 */
export function inShort(it, run, now) {
  return [...standing(it), ...lines(it.reasons.filter((reason) => !SEEN.has(reason.kind)), run, now).map(plain)].join('; ');
}

/** Whether a sentence changes as time goes by. @param {Reason[]} reasons */
export const isTimed = (reasons) => reasons.some((it) => it.since || it.at || it.until || it.frees_at || it.retry_at);

/** Why a task has the outcome that it has, beside its error. @type {Record<string, string>} */
const OUTCOMES = {
  upstream_failed: 'failed before it', upstream_skipped: 'something before it was skipped',
  upstream_cancelled: 'something before it was cancelled', run_cancelled: 'the run was cancelled',
  run_timeout: 'the run took longer than its timeout', condition: 'its condition was false',
  fail_fast: 'another instance failed', cached: 'an earlier result was used', copied: 'taken over from the run before',
};

/** @param {import('./shapes.js').Task} task one that is settled */
export function outcome(task) {
  if (task.error) return task.error.message;
  if (!task.reason) return '';
  const [what, who] = task.reason.split(': ');
  if (what === 'upstream_failed') return `${who ?? 'something'} ${OUTCOMES[what]}`;
  return OUTCOMES[what] ?? task.reason.replaceAll('_', ' ');
}

/**
 * What a parked task waits for, with its kind.
 * @param {import('./shapes.js').Task} task
 * @returns {(import('./shapes.js').Awaits & { kind: 'approval' | 'signal' | 'child' | 'timer' }) | undefined}
 */
export function parkedFor(task) {
  const it = task.awaits;
  if (!it) return undefined;
  if (it.message !== undefined) return { ...it, kind: 'approval' };
  if (it.signal !== undefined) return { ...it, kind: 'signal' };
  return { ...it, kind: it.run === undefined ? 'timer' : 'child' };
}
