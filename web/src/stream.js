// One stream of server-sent events that is taken up again whenever it breaks, from where it was.
// Not EventSource: that one gives up for good when a server that is just starting answers 503, and
// does not say what it is doing.
//
//   connecting ── answered ──► live ── broke, or silent for too long ──► lost ── after a while ─┐
//       ▲                                                                                       │
//       └───────────────────────────────────────────────────────────────────────────────────────┘
//
// While nobody looks at the page it rests: the connection is given back, and taken up again from
// where it was as soon as somebody looks.

import { request } from './api.js';
import { isResting } from './sight.js';

/** The server says something at least every 15 s. */
const SILENCE_MAX_MS = 40_000;
const DELAYS_MS = [300, 1000, 2000, 4000, 8000];

/**
 * @typedef {{ event: string, data: string, id?: string }} Message
 * @typedef {{ is: 'connecting' | 'live' | 'lost' | 'refused', retryAt?: number, problem?: import('./api.js').Problem }} State
 */

/**
 * @param {string} url
 * @param {{ hear: (message: Message) => void, tell: (state: State) => void, isDone?: () => boolean }} to
 */
export function openStream(url, { hear, tell, isDone = () => false }) {
  let last = '';
  let failures = 0;
  let closed = false;
  let abort = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  async function connect() {
    clearTimeout(timer);
    abort = new AbortController();
    const mine = abort;
    tell({ is: 'connecting' });
    try {
      const headers = { accept: 'text/event-stream', ...(last ? { 'last-event-id': last } : {}) };
      const response = await request(url, { headers, signal: mine.signal });
      if (closed || mine !== abort) return;
      failures = 0;
      tell({ is: 'live' });
      await read(response, mine);
    } catch (error) {
      if (closed || mine !== abort) return;
      const status = /** @type {any} */ (error).status ?? 0;
      if (status >= 400 && status < 500 && status !== 429) {
        closed = true;
        leave();
        tell({ is: 'refused', problem: /** @type {any} */ (error) });
        return;
      }
    }
    if (closed || mine !== abort || isDone()) return;
    again();
  }

  function again() {
    const delay = DELAYS_MS[Math.min(failures, DELAYS_MS.length - 1)];
    failures += 1;
    tell({ is: 'lost', retryAt: Date.now() + delay });
    clearTimeout(timer);
    timer = setTimeout(connect, delay);
  }

  /** @param {Response} response @param {AbortController} mine */
  async function read(response, mine) {
    const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
    const decoder = new TextDecoder();
    const parse = parser((message) => {
      if (message.id !== undefined) last = message.id;
      hear(message);
    });
    for (;;) {
      const silence = setTimeout(() => mine.abort(), SILENCE_MAX_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (closed || mine !== abort) return void reader.cancel().catch(() => {});
      if (done) return undefined;
      parse(decoder.decode(value, { stream: true }));
    }
  }

  function hangUp() {
    clearTimeout(timer);
    abort.abort();
    // Whatever is still under way finds that it is not meant any more.
    abort = new AbortController();
  }

  // Said at once for how it is now: this opens it, unless nobody looks.
  const leave = isResting.subscribe((rests) => {
    if (closed || isDone()) return;
    hangUp();
    if (!rests) connect();
  });
  return {
    close() {
      closed = true;
      leave();
      hangUp();
    },
    /** Does not wait for the next try. */
    retry() {
      if (closed || isResting.peek()) return;
      hangUp();
      connect();
    },
  };
}

/**
 * Makes messages of pieces of text, wherever these were cut.
 * @param {(message: Message) => void} hear
 */
export function parser(hear) {
  let rest = '';
  /** @type {{ event: string, data: string[], id?: string }} */
  let message = { event: 'message', data: [] };
  const line = (/** @type {string} */ text) => {
    if (text === '') {
      if (message.data.length) hear({ event: message.event, data: message.data.join('\n'), id: message.id });
      message = { event: 'message', data: [] };
      return;
    }
    if (text.startsWith(':')) return;
    const colon = text.indexOf(':');
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') message.data.push(value);
    else if (field === 'event') message.event = value;
    else if (field === 'id') message.id = value;
  };
  return (/** @type {string} */ text) => {
    const lines = (rest + text).split('\n');
    rest = /** @type {string} */ (lines.pop());
    for (const one of lines) line(one.endsWith('\r') ? one.slice(0, -1) : one);
  };
}
