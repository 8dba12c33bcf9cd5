// Keys that work wherever the page is, unless somebody is typing. They can be switched off, since
// they are single characters (WCAG 2.1.4).

import { signal, useLayoutEffect, useRef } from './html.js';

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

/** The first key of two, while the second is awaited. */
export const begun = signal('');

/** Keys that are pressed along with others. */
const HELD = ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock'];

/** @param {EventTarget | null} target */
function isTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** @param {KeyboardEvent} event */
function isMeant(event) {
  if (!keysAreOn.value || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  return !isTyping(event.target) && !document.querySelector('dialog[open]');
}

// Whatever comes second belongs to the first, however late it comes: by itself it may mean
// something that nobody wanted. So it is taken before anything else hears of it.
document.addEventListener('keydown', (event) => {
  if (!begun.value || HELD.includes(event.key)) return;
  const pair = `${begun.value} ${event.key}`;
  begun.value = '';
  if (!isMeant(event)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  find(pair)?.act();
}, true);

document.addEventListener('keydown', (event) => {
  if (!isMeant(event)) return;
  const found = find(event.key);
  if (!found && !following(event.key).length) return;
  event.preventDefault();
  if (found) found.act();
  else begun.value = event.key;
});

// Whoever takes the mouse has thought better of it.
document.addEventListener('pointerdown', () => { begun.value = ''; });

/** What may come after a first key. @param {string} first */
export const following = (first) => known.value.filter((key) => key.keys.startsWith(`${first} `) && (key.when?.() ?? true));

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
  // With what is drawn, not after it: whoever sees it may press at once.
  useLayoutEffect(() => {
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
