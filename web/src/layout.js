// Asks the worker to draw a graph, and remembers what it said for as long as the graph is around.

/** @typedef {import('./layout-worker.js').Question} Question */
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
/** @type {((drawing: Drawing) => void)[]} */
const waiting = [];
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
    worker ??= started();
    drawing = new Promise((/** @type {(drawing: Drawing) => void} */ done) => waiting.push(done));
    before.set(shape, drawing);
    worker.postMessage(question);
  }
  return drawing;
}

function started() {
  const it = new Worker(script(), { type: 'module' });
  // It answers in the order in which it was asked.
  it.onmessage = ({ data }) => waiting.shift()?.(data);
  return it;
}
