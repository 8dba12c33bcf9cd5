// A run that stands still says why, before anybody asks: nothing of it is at work, and it is neither
// over nor held as a whole.

import { html, useEffect, useState } from '../html.js';
import { to } from '../router.js';
import { isLive } from '../words.js';
import { alike, Same } from './explain.js';

/** @typedef {import('../shapes.js').Run} Run */
/** @typedef {import('../shapes.js').Task} Task */

/** Between one task and the next there is always a moment in which nothing runs. */
const STILL_MS = 1000;
/** Told of at once; the tab has all of them. */
const TOLD_MAX = 3;

/** @param {Task} task */
function isAtWork({ status, instances, finalizer }) {
  if (instances) return Boolean(instances.running || instances.dispatched);
  return isLive(status) || (status === 'worker_done' && isLive(finalizer?.state ?? ''));
}

/** Whether nothing of a run has been at work for a moment. @param {Run | undefined} run @param {Task[]} tasks @param {boolean} isWhole all tasks are known */
export function useStill(run, tasks, isWhole) {
  const rests = run?.status === 'running' && isWhole && !tasks.some(isAtWork);
  const [isStill, setStill] = useState(false);
  useEffect(() => {
    if (!rests) return setStill(false);
    const timer = setTimeout(() => setStill(true), STILL_MS);
    return () => clearTimeout(timer);
  }, [run?.id, rests]);
  return rests && isStill;
}

/** What merely follows from something else, or is asked above already. */
const TOLD_ELSEWHERE = new Set(['dependency', 'approval', 'instances']);

/** @param {import('../shapes.js').Explained} task */
const isNews = (task) => task.reasons.some((it) => !TOLD_ELSEWHERE.has(it.kind)) || (task.instances ?? []).some((it) => it.reasons.some((reason) => !TOLD_ELSEWHERE.has(reason.kind)));

/** @param {{ run: Run, told: import('../shapes.js').Explanation }} props */
export function StandsStill({ run, told }) {
  const groups = alike(told.tasks.filter(isNews));
  if (groups.length === 0) return null;
  return html`<section class="callout still tone-waiting" aria-label="Why nothing of the run is at work"><strong>Nothing of it is at work:</strong>
    <ul class="explained">${groups.slice(0, TOLD_MAX).map((tasks) => html`<${Same} key=${tasks[0].name} tasks=${tasks} run=${run.id} />`)}</ul>
    ${groups.length > TOLD_MAX && html`<a href=${to.run(run.id, 'why')}>All reasons</a>`}</section>`;
}
