// Why tasks are not running, as the server explains it: asked for at once when somebody wants to know
// something else, anew whenever the run moves, once a second at most, and never otherwise.

import { useEffect, useMemo, useRef, useState } from './html.js';
import { get, path, query } from './api.js';
import { throttled, useEars } from './live.js';
import { isFinal } from './words.js';

/** @typedef {import('./shapes.js').Run} Run */
/** @typedef {import('./shapes.js').Explanation} Explanation */
/** @typedef {import('./shapes.js').Explained} Explained */

const PAUSE_MS = 1000;
/** Of a run with more tasks than this it costs the server more to say. */
const LARGE = 1000;
const PAUSE_LARGE_MS = 3000;
/** Pages asked for at a time, for rows that the first one does not have. */
const PAGES_MAX = 3;

/** @param {string} run @param {{ task?: string, from?: string }} [what] @returns {Promise<Explanation>} */
export const explain = (run, what = {}) => get(path`/runs/${run}/explain` + query(what));

/**
 * @template T
 * @param {Run | undefined} run nothing is asked of one that is final
 * @param {() => Promise<T>} load
 * @param {string} key what is asked: another answer belongs to another key
 * @returns {{ data?: T, problem?: any, ask: () => void }}
 */
export function useExplained(run, load, key) {
  const [state, setState] = useState(/** @type {{ data?: T, problem?: any, key: string }} */ ({ key: '' }));
  const isOpen = run !== undefined && !isFinal(run.status);
  const whole = `${run?.id} ${key}`;
  const latest = useRef({ load, whole });
  latest.current = { load, whole };
  const pause = (run?.tasks.total ?? 0) > LARGE ? PAUSE_LARGE_MS : PAUSE_MS;
  const refresh = useMemo(() => throttled(async () => {
    const { load: now, whole: mine } = latest.current;
    try {
      const data = await now();
      if (latest.current.whole === mine) setState({ data, key: mine });
    } catch (problem) {
      if (latest.current.whole === mine) setState((before) => ({ data: before.key === mine ? before.data : undefined, problem, key: mine }));
    }
  }, pause), [whole, pause]);
  const ask = () => { if (isOpen && key) refresh(); };
  useEffect(ask, [whole, isOpen]);
  useEars({ fresh: ask, back: ask, run: ask, tasks: ask });
  const isCurrent = isOpen && state.key === whole;
  return { data: isCurrent ? state.data : undefined, problem: isCurrent ? state.problem : undefined, ask };
}

/**
 * Of the tasks of a run: the run as a whole, the first hundred, and whichever rows are in sight.
 * @param {Run | undefined} run
 * @param {boolean} isWanted
 */
export function useReasons(run, isWanted) {
  const rows = useRef(/** @type {Map<string, number>} */ (new Map()));
  const load = async () => {
    const id = /** @type {Run} */ (run).id;
    const first = await explain(id);
    const known = new Map(first.tasks.map((task) => [task.name, task]));
    const asked = new Set();
    for (let n = 0; first.next && n < PAGES_MAX; n += 1) {
      const missing = [...rows.current.keys()].find((name) => !known.has(name) && !asked.has(name));
      if (!missing) break;
      asked.add(missing);
      for (const task of (await explain(id, { from: missing })).tasks) known.set(task.name, task);
    }
    return { first, known };
  };
  const { data, problem, ask } = useExplained(run, load, isWanted ? 'tasks' : '');
  const latest = useRef({ data, ask });
  latest.current = { data, ask };
  /** A row has come into sight; the answer is for when it leaves. Asks once, whatever comes of it. */
  const see = useMemo(() => (/** @type {string} */ name) => {
    rows.current.set(name, (rows.current.get(name) ?? 0) + 1);
    const { data: now, ask: again } = latest.current;
    if (now?.first.next && !now.known.has(name)) again();
    return () => {
      const left = (rows.current.get(name) ?? 1) - 1;
      if (left) rows.current.set(name, left);
      else rows.current.delete(name);
    };
  }, []);
  return { first: data?.first, problem, of: (/** @type {string} */ name) => data?.known.get(name), see };
}

/** @typedef {ReturnType<typeof useReasons>} Reasons */
