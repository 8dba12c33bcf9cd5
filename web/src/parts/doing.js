// Orders to the server from a button or a form: one at a time, however often it is pressed, and
// what has gone wrong for as long as it matters.

import { useEffect, useRef, useState } from '../html.js';
import { newKey, send } from '../api.js';
import { useEars } from '../live.js';
import { say } from './basics.js';

/** @typedef {{ url: string, body?: unknown, done: string, after?: (answer: any) => void }} Order done: what is said of it */

/**
 * @param {unknown} [cause] what the order is about: a refusal holds for as long as this is the same
 */
export function useDoing(cause) {
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [busy, setBusy] = useState(false);
  // The second of two clicks comes before anything is drawn anew.
  const isGoing = useRef(false);
  /** What got no answer: sent again, it is the same order. */
  const lost = useRef(/** @type {{ order: Order, key: string } | undefined} */ (undefined));
  const act = async (/** @type {Order} */ order) => {
    if (isGoing.current) return;
    isGoing.current = true;
    const key = lost.current && isSame(lost.current.order, order) ? lost.current.key : newKey();
    setBusy(true);
    setProblem(undefined);
    try {
      const answer = await send(order.url, order.body, { key });
      lost.current = undefined;
      say(order.done);
      order.after?.(answer);
    } catch (error) {
      lost.current = isLost(error) ? { order, key } : undefined;
      setProblem(error);
    } finally {
      isGoing.current = false;
      setBusy(false);
    }
  };
  const forget = () => {
    lost.current = undefined;
    setProblem(undefined);
  };
  useEffect(forget, [cause]);
  // What is on the screen is true again, and says what has become of it.
  const isBack = () => { if (isLost(problem)) forget(); };
  useEars({ fresh: isBack, back: isBack });
  const again = isLost(problem) ? () => { if (lost.current) void act(lost.current.order); } : undefined;
  return { problem, busy, act, again, forget };
}

/** @param {any} problem */
const isLost = (problem) => problem?.code === 'unanswered';

/** @param {Order} a @param {Order} b */
const isSame = (a, b) => a.url === b.url && JSON.stringify(a.body) === JSON.stringify(b.body);
