// Instances of fan-outs that somebody has unfolded: the first of each, those that failed, and those
// that are not over. The others are a number.

import { useEffect, useMemo, useRef, useState } from '../html.js';
import { get, path, query } from '../api.js';
import { throttled } from '../live.js';

/** @typedef {import('../shapes.js').Task} Task */

/** Of each kind: enough to see how it goes, few enough to be taken in. */
const SHOWN = 20;
const PAUSE_MS = 1000;
const KINDS = ['', 'failed', 'dispatched,running,waiting,worker_done'];

/** @param {string} run @param {Task} task */
async function load(run, task) {
  const lists = await Promise.all(KINDS.map((status) => get(path`/runs/${run}/tasks/${task.name}/instances` + query({ status, limit: SHOWN }))));
  const found = new Map(lists.flatMap((list) => list.items).map((/** @type {Task} */ it) => [it.index, it]));
  const items = [...found.values()].sort((a, b) => Number(a.index) - Number(b.index));
  return { items, more: Math.max(0, (task.instances?.total ?? 0) - items.length) };
}

/** @param {string} run @param {(name: string) => Task | undefined} find @param {number} edition of the tasks */
export function useUnfolded(run, find, edition) {
  const [names, setNames] = useState(/** @type {string[]} */ ([]));
  const [told, setTold] = useState(/** @type {Map<string, { items: Task[], more: number }>} */ (new Map()));
  const latest = useRef({ names, find });
  latest.current = { names, find };
  const refresh = useMemo(() => throttled(async () => {
    const open = latest.current.names.map((name) => latest.current.find(name)).filter((task) => task !== undefined);
    try {
      setTold(new Map(await Promise.all(open.map(async (task) => /** @type {const} */ ([task.name, await load(run, task)])))));
    } catch { /* the fan-out as a whole is shown all the same */ }
  }, PAUSE_MS), [run]);
  // Asked for anew when the counts have changed.
  const counts = useMemo(() => JSON.stringify(names.map((name) => [name, find(name)?.instances])), [names, edition]);
  useEffect(() => { if (names.length) refresh(); }, [counts]);
  return {
    told,
    names,
    isOpen: (/** @type {string} */ name) => names.includes(name),
    of: (/** @type {string} */ name) => (names.includes(name) ? told.get(name) : undefined),
    toggle: (/** @type {string} */ name) => setNames(names.includes(name) ? names.filter((it) => it !== name) : [...names, name]),
  };
}
