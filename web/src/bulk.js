// One action on many runs, at work on the server. Kept for the whole page: it goes on wherever one
// looks meanwhile.

import { signal } from './html.js';
import { path } from './api.js';
import { openStream } from './stream.js';

/** @typedef {import('./shapes.js').Bulk} Bulk */

/** The one that was asked for last. */
export const bulk = signal(/** @type {{ view: Bulk, isForgotten?: boolean } | undefined} */ (undefined));

/** @type {ReturnType<typeof openStream> | undefined} */
let stream;

/** What it can do, in words, and to runs in which states. @type {Record<string, { verb: string, done: string, states: string[] }>} */
export const ACTIONS = {
  retry: { verb: 'Retry', done: 'retried', states: ['failed', 'cancelled'] },
  rerun: { verb: 'Run again', done: 'run again', states: ['success', 'failed', 'cancelled'] },
  cancel: { verb: 'Cancel', done: 'cancelled', states: ['pending', 'running', 'paused'] },
  pause: { verb: 'Pause', done: 'paused', states: ['running'] },
  resume: { verb: 'Resume', done: 'resumed', states: ['paused'] },
};

/** Looks on until it is over. @param {Bulk} view */
export function follow(view) {
  stream?.close();
  bulk.value = { view };
  if (view.finished_at) return;
  const mine = openStream(path`/runs/bulk/${view.id}` + '?follow=true', {
    isDone: () => bulk.value?.view.finished_at !== undefined,
    hear: ({ event, data }) => {
      if (event === 'progress' && stream === mine) bulk.value = { view: JSON.parse(data) };
    },
    tell: ({ is }) => {
      // One that is over is not remembered for ever.
      if (is === 'refused' && stream === mine && bulk.value) bulk.value = { ...bulk.value, isForgotten: true };
    },
  });
  stream = mine;
}

export function dismiss() {
  stream?.close();
  bulk.value = undefined;
}
