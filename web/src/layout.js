// Asks the worker to draw a graph, and remembers what it said for as long as the graph is around. A
// worker that fails is forgotten with all that it was asked: whoever asks next gets a new one.

import { Problem } from './api.js';

/** @typedef {import('./layout-worker.js').Question} Question */
/** @typedef {import('./layout-worker.js').Answer} Answer */
/** @typedef {import('./layout-worker.js').Drawing} Drawing */

/** Names its one script for the browser, which otherwise starts none (Trusted Types). */
function script() {
  const url = new URL('./layout-worker.js', import.meta.url).href;
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types) return url;
  policy ??= types.createPolicy('mainspring', { createScriptURL: (/** @type {string} */ it) => it });
  return policy.createScriptURL(url);
}

/** @type {any} */
let policy;
/** @type {Worker | undefined} */
let worker;
let lastId = 0;
/** Who waits for the answer to which question. @type {Map<number, { done: (drawing: Drawing) => void, fail: (why: Problem) => void }>} */
const waiting = new Map();
/** @type {WeakMap<Question['tasks'], Map<string, Promise<Drawing>>>} */
const known = new WeakMap();

/** @param {Question} question @returns {Promise<Drawing>} */
export function draw(question) {
  const { tasks } = question;
  const shape = `${question.room} ${question.width}`;
  const before = known.get(tasks) ?? new Map();
  known.set(tasks, before);
  let drawing = before.get(shape);
  if (!drawing) {
    const mine = asked(question);
    before.set(shape, mine);
    mine.catch(() => before.delete(shape));
    drawing = mine;
  }
  return drawing;
}

/** @param {Question} question @returns {Promise<Drawing>} */
function asked(question) {
  const id = (lastId += 1);
  return new Promise((done, fail) => {
    waiting.set(id, { done, fail });
    worker ??= started();
    worker.postMessage({ id, question });
  });
}

function started() {
  const it = new Worker(script(), { type: 'module' });
  it.onmessage = (/** @type {MessageEvent<Answer>} */ { data }) => {
    const asker = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.drawing) asker?.done(data.drawing);
    else asker?.fail(new Problem('The graph could not be drawn', data.why ?? ''));
  };
  // Its script could not be loaded, or it broke in a way that it cannot tell of itself.
  it.onerror = (event) => {
    event.preventDefault();
    giveUp(it);
  };
  it.onmessageerror = () => giveUp(it);
  return it;
}

/** @param {Worker} broken */
function giveUp(broken) {
  if (worker !== broken) return;
  broken.terminate();
  worker = undefined;
  const askers = [...waiting.values()];
  waiting.clear();
  for (const { fail } of askers) fail(new Problem('The graph could not be drawn', 'What draws it did not start, or has broken. The server may be away for a moment.'));
}
