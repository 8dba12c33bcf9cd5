// Graphs of versions, which never change, and of runs, which change when tasks are added to them:
// each asked for once.

import { useEffect, useState } from './html.js';
import { get, path } from './api.js';

/** @type {Map<string, Promise<import('./shapes.js').GraphTask[]>>} */
const known = new Map();
const KNOWN_MAX = 20;

/** @param {string} key @param {string} place */
function graphAt(key, place) {
  let graph = known.get(key);
  if (!graph) {
    if (known.size >= KNOWN_MAX) known.clear();
    graph = get(place).then((it) => it.tasks);
    graph.catch(() => known.delete(key));
    known.set(key, graph);
  }
  return graph;
}

/** @param {string | undefined} key @param {string} place */
function useGraphAt(key, place) {
  const [state, setState] = useState(/** @type {{ tasks?: import('./shapes.js').GraphTask[], problem?: any }} */ ({}));
  useEffect(() => {
    if (!key) return undefined;
    let isWanted = true;
    graphAt(key, place).then(
      (tasks) => { if (isWanted) setState({ tasks }); },
      (problem) => { if (isWanted) setState({ problem }); },
    );
    return () => { isWanted = false; };
  }, [key]);
  return state;
}

/** @param {string | undefined} workflow @param {number | undefined} version */
export function useGraph(workflow, version) {
  const key = workflow && version ? `${version} ${workflow}` : undefined;
  return useGraphAt(key, path`/workflows/${workflow ?? ''}/versions/${version ?? 0}/graph`);
}

/**
 * As many tasks as a run has now: with more, it is another graph.
 * @param {import('./shapes.js').Run | undefined} run
 */
export function useRunGraph(run) {
  const key = run && `run ${run.id} ${run.tasks.total}`;
  return useGraphAt(key, path`/runs/${run?.id ?? ''}/graph`);
}
