// Keys that work wherever the page is, unless somebody is typing. They can be switched off, since
// they are single characters (WCAG 2.1.4).

import { signal, useEffect, useRef } from './html.js';

const STORED = 'mainspring.keys';

export const keysAreOn = signal(stored() !== 'off');

function stored() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** @param {boolean} on */
export function switchKeys(on) {
  keysAreOn.value = on;
  try {
    localStorage.setItem(STORED, on ? 'on' : 'off');
  } catch { /* it holds until the page is closed */ }
}

/** @typedef {{ keys: string, does: string, act: () => void, when?: () => boolean }} Key */

/** @type {import('../vendor/signals.js').Signal<Key[]>} */
export const known = signal([]);

/** How long the second key of two may take. */
const SEQUENCE_MS = 1200;
let first = '';
let firstAt = 0;

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

document.addEventListener('keydown', (event) => {
  if (!keysAreOn.value || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (isTyping(event.target) || document.querySelector('dialog[open]')) return;
  const pair = event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${event.key}` : '';
  const found = find(pair) ?? find(event.key);
  first = found ? '' : event.key;
  firstAt = event.timeStamp;
  if (!found) return;
  event.preventDefault();
  found.act();
});

/** @param {string} keys the one that was added last wins */
function find(keys) {
  return keys ? known.value.findLast((key) => key.keys === keys && (key.when?.() ?? true)) : undefined;
}

/**
 * Keys that work while a component is there.
 * @param {Key[]} keys
 */
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const mine = keys.map((key, i) => ({
      keys: key.keys,
      does: key.does,
      when: () => latest.current[i]?.when?.() ?? true,
      act: () => latest.current[i]?.act(),
    }));
    known.value = [...known.value, ...mine];
    return () => { known.value = known.value.filter((key) => !mine.includes(/** @type {any} */ (key))); };
  }, [keys.map((key) => key.keys).join()]);
}
