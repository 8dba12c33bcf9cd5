// Loads what a view shows, again whenever the stream says that something may have been missed.

import { useEffect, useRef, useState } from '../html.js';
import { Problem } from '../api.js';
import { useLive } from '../live.js';

/** @template T @typedef {(how: (data: T) => T) => void} Change */

/**
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {{ keys: unknown[], run?: string, hear?: { run?: (run: any, change: Change<T>) => void, tasks?: (tasks: any[], change: Change<T>) => void } }} about
 */
export function useLoaded(load, { keys, run, hear = {} }) {
  const [state, setState] = useState(/** @type {{ data?: T, problem?: Problem, key: string }} */ ({ key: '' }));
  const key = JSON.stringify(keys);
  const abort = useRef(/** @type {AbortController | undefined} */ (undefined));
  /** Heard since the last load began: what it answers may be older. @type {{ current: ((data: T) => T)[] | undefined }} */
  const heard = useRef(undefined);
  const again = async () => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    /** @type {((data: T) => T)[]} */
    const since = [];
    heard.current = since;
    try {
      let data = /** @type {T} */ (await load(mine.signal));
      for (const how of since) data = how(data);
      if (!mine.signal.aborted) setState({ data, key });
    } catch (error) {
      if (mine.signal.aborted) return;
      const problem = error instanceof Problem ? error : new Problem('The page made a mistake', String(error));
      setState((before) => ({ data: before.key === key ? before.data : undefined, problem, key }));
    } finally {
      if (heard.current === since) heard.current = undefined;
    }
  };
  useEffect(() => () => abort.current?.abort(), [key]);
  /** Of what is shown now: whatever was asked for before is about something else. @type {Change<T>} */
  const change = (how) => setState((before) => (before.data === undefined || before.key !== key ? before : { ...before, data: how(before.data) }));
  /** @type {Change<T>} */
  const learn = (how) => {
    heard.current?.push(how);
    change(how);
  };
  useLive(run, { fresh: () => void again(), back: () => { if (state.problem) void again(); }, run: (it) => hear.run?.(it, learn), tasks: (_, tasks) => hear.tasks?.(tasks, learn) }, [key]);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    problem: isCurrent ? state.problem : undefined,
    again,
    change,
  };
}

/**
 * All pages of a list, up to a number of items.
 * @param {(cursor: string | undefined) => Promise<import('../shapes.js').Page>} page
 * @param {number} max
 */
export async function pages(page, max) {
  const items = [];
  let cursor;
  do {
    const part = await page(cursor);
    items.push(...part.items);
    cursor = part.next_cursor;
  } while (cursor && items.length < max);
  return { items, more: cursor };
}
