// A log as lines: read as text when it is over, followed while it grows.

import { path, query, request } from './api.js';
import { openStream } from './stream.js';

/** @typedef {{ at: string, stream: string, text: string, number: number, attempt?: number, unended?: boolean }} Line number: in the log of its attempt, from 1 */

/** Lines that are kept; older ones go. */
export const LINES_MAX = 100_000;

/**
 * Lines of an attempt that is over.
 * @param {{ run: string, task: string, index?: number, attempt: number }} whose
 * @param {(lines: Line[]) => void} take
 * @param {AbortSignal} signal
 */
export async function readLog({ run, task, index, attempt }, take, signal) {
  const url = path`/runs/${run}/tasks/${task}/logs` + query({ index, attempt, tail: LINES_MAX, timestamps: true });
  const response = await request(url, { signal });
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  // Of a log that is longer than what is asked for, the server says how much comes before.
  let number = Number(response.headers.get('log-lines-before'));
  for (;;) {
    const { done, value } = await reader.read();
    const lines = (rest + decoder.decode(value, { stream: !done })).split('\n');
    rest = done ? '' : /** @type {string} */ (lines.pop());
    const parsed = lines.filter((line) => line !== '').map((line) => stamped(line, (number += 1)));
    if (parsed.length) take(parsed);
    if (done) return;
  }
}

/** `TIME STREAM text` @param {string} line @param {number} number @returns {Line} */
export function stamped(line, number) {
  const first = line.indexOf(' ');
  const second = line.indexOf(' ', first + 1);
  if (first < 0 || second < 0) return { at: '', stream: '', text: line, number };
  return { at: line.slice(0, first), stream: line.slice(first + 1, second), text: line.slice(second + 1), number };
}

/**
 * Lines as they are written, until the task is settled.
 * @param {{ run: string, task: string, index?: number }} whose
 * @param {(lines: Line[]) => void} take
 * @param {(is: 'live' | 'lost' | 'ended' | 'refused') => void} tell
 */
export function followLog({ run, task, index }, take, tell) {
  let isOver = false;
  /** @type {Line[]} */
  let waiting = [];
  let frame = 0;
  // Many lines come at once: drawn once a frame.
  const flush = () => {
    frame = 0;
    const lines = waiting;
    waiting = [];
    if (lines.length) take(lines);
  };
  const stream = openStream(path`/runs/${run}/tasks/${task}/logs` + query({ index, follow: true }), {
    isDone: () => isOver,
    hear: ({ event, data, id }) => {
      if (event === 'line') {
        // The id of a line is its attempt and its number there.
        waiting.push({ ...JSON.parse(data), number: Number(id?.split(':')[1]) });
        frame ||= requestAnimationFrame(flush);
      } else if (event === 'end' || event === 'error') {
        isOver = true;
        flush();
        tell('ended');
      }
    },
    tell: (state) => {
      if (isOver) return;
      if (state.is === 'live' || state.is === 'lost' || state.is === 'refused') tell(state.is);
    },
  });
  return () => {
    cancelAnimationFrame(frame);
    stream.close();
  };
}
