// The page's one stream of events. What is on the screen says what it wants to hear: all runs, or
// one run with its tasks. A view loads its lists when the stream is ready, never before: whatever
// changes after that is heard.
//
//   view mounts ─► scope ─► stream opens ─► `ready` ─► view loads ─► `run`, `tasks` ─► view changes
//                              ▲     broke: taken up again from the last id, nothing is loaded anew
//                              │     (but for what could not be loaded meanwhile: `back`)
//                              └──── `reset`: something may have been missed, the view loads again

import { signal, useEffect, useRef } from './html.js';
import { query } from './api.js';
import { openStream } from './stream.js';

/** @typedef {{ fresh?: () => void, back?: () => void, run?: (run: import('./shapes.js').Run) => void, tasks?: (run: string, tasks: import('./shapes.js').Task[]) => void }} Ears */

export const connection = signal(/** @type {import('./stream.js').State & { since?: number, wasLost?: boolean }} */ ({ is: 'connecting' }));

/** @type {Set<Ears>} */
const listeners = new Set();
/** @type {{ run: string | undefined, stream: ReturnType<typeof openStream>, isReady: boolean } | undefined} */
let current;
let wanted = /** @type {string | undefined} */ (undefined);
/** When something was last heard of the server. */
let heardAt = Date.now();

/** @param {string | undefined} run */
function listen(run) {
  current?.stream.close();
  const mine = { run, isReady: false, stream: /** @type {any} */ (undefined) };
  current = mine;
  mine.stream = openStream(`/events${query({ run })}`, {
    hear: (message) => {
      if (current === mine) hear(mine, message);
    },
    tell: (state) => {
      if (current === mine) note(state);
    },
  });
}

/** @param {import('./stream.js').State} state */
function note(state) {
  const before = connection.value;
  // What is not there has no events either: the view finds out and says so.
  if (state.is === 'refused') {
    current = undefined;
    for (const ears of listeners) ears.fresh?.();
  }
  if (state.is === 'live') {
    connection.value = { is: 'live', wasLost: before.is !== 'live' && before.since !== undefined };
  } else if (state.is === 'lost') {
    connection.value = { ...state, since: before.since ?? heardAt };
  } else {
    connection.value = { ...state, since: before.since };
  }
}

/** @param {{ isReady: boolean }} mine @param {import('./stream.js').Message} message */
function hear(mine, message) {
  heardAt = Date.now();
  if (message.event === 'ready' || message.event === 'reset') {
    const isBack = message.event === 'ready' && mine.isReady;
    mine.isReady = true;
    for (const ears of listeners) (isBack ? ears.back : ears.fresh)?.();
    return;
  }
  const data = JSON.parse(message.data);
  if (message.event === 'run') for (const ears of listeners) ears.run?.(data);
  if (message.event === 'tasks') for (const ears of listeners) ears.tasks?.(data.run, data.tasks);
}

/** Tries at once instead of waiting. */
export function reconnect() {
  current?.stream.retry();
}

/** Ends the stream; somebody else may ask from now on. */
export function hangUp() {
  current?.stream.close();
  current = undefined;
}

// What was refused may be there by now, for whoever looks again.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && !current && listeners.size) listen(wanted);
});
addEventListener('online', reconnect);

/**
 * Hears the stream for as long as a component is there.
 * @param {string | undefined} run all runs if not said
 * @param {Ears} ears
 * @param {unknown[]} [keys] what the loading depends on
 */
export function useLive(run, ears, keys = []) {
  const latest = useRef(ears);
  latest.current = ears;
  useEffect(() => {
    /** @type {Ears} */
    const mine = {
      fresh: () => latest.current.fresh?.(),
      back: () => latest.current.back?.(),
      run: (it) => latest.current.run?.(it),
      tasks: (id, tasks) => latest.current.tasks?.(id, tasks),
    };
    listeners.add(mine);
    wanted = run;
    if (!current || current.run !== run) listen(run);
    else if (current.isReady) mine.fresh?.();
    return () => void listeners.delete(mine);
  }, [run, ...keys]);
}

/**
 * Hears whatever the view has asked for.
 * @param {Ears} ears
 */
export function useEars(ears) {
  const latest = useRef(ears);
  latest.current = ears;
  useEffect(() => {
    /** @type {Ears} */
    const mine = { fresh: () => latest.current.fresh?.(), back: () => latest.current.back?.(), run: (it) => latest.current.run?.(it), tasks: (id, tasks) => latest.current.tasks?.(id, tasks) };
    listeners.add(mine);
    return () => void listeners.delete(mine);
  }, []);
}

/**
 * Does something at once, and again after a pause if it was asked for meanwhile. Never twice at a
 * time: the pause begins when it is done.
 * @param {() => unknown} work
 * @param {number} pauseMs
 */
export function throttled(work, pauseMs) {
  let isBusy = false;
  let isAsked = false;
  const act = async () => {
    isBusy = true;
    isAsked = false;
    try {
      await work();
    } finally {
      setTimeout(() => {
        isBusy = false;
        if (isAsked) void act();
      }, pauseMs);
    }
  };
  return () => {
    if (isBusy) isAsked = true;
    else void act();
  };
}
