// Where one was: how far down the page and its tables, and how much of these had been loaded. Kept
// with the entry of the history, so that Back leads to the same place.

/** @typedef {{ top: number, rows: Record<string, { top: number, count: number }> }} Spot rows: by the label of the table */

/**
 * Where the page that is shown was left before, but for the tables that are back there; nowhere if
 * one has just come to it.
 * @type {Spot | undefined}
 */
let left;
history.scrollRestoration = 'manual';
arrive(history.state?.spot);

/**
 * Whoever leaves while it is still loading was on the way to where it was left before: that is where
 * Back leads, not to the beginning of what there was by then.
 * @returns {Spot}
 */
function here() {
  const tables = [...document.querySelectorAll('.rows[data-count]')].map((it) => [it.getAttribute('aria-label') ?? '', { top: it.scrollTop, count: Number(it.getAttribute('data-count')) }]);
  const isAtEnd = scrollY + innerHeight > document.documentElement.scrollHeight - 2;
  return { top: left && isAtEnd ? Math.max(left.top, scrollY) : scrollY, rows: { ...Object.fromEntries(tables), ...left?.rows } };
}

export function keepSpot() {
  history.replaceState({ ...history.state, spot: here() }, '');
}

/** One has come to somewhere, or back to it. @param {Spot} [spot] */
export function arrive(spot) {
  left = spot && { ...spot, rows: { ...spot.rows } };
}

/** How far down a table one was, and how long it was, until it is so again. @param {string} label */
export const rowsSpot = (label) => left?.rows[label];

/** A table is back where it was left, or somebody has moved it. @param {string} label */
export function rowsReached(label) {
  if (left) delete left.rows[label];
}

/** As long as something may still be loading that makes the page longer. */
const GROWS_MS = 5000;

/** To where one was on the page, as soon as it is long enough; or to the top. */
export function toSpot() {
  const top = left?.top ?? 0;
  scrollTo(0, top);
  if (Math.abs(scrollY - top) < 2) return;
  const over = new AbortController();
  const observer = new ResizeObserver(() => {
    scrollTo(0, top);
    if (Math.abs(scrollY - top) < 2) over.abort();
  });
  over.signal.addEventListener('abort', () => observer.disconnect());
  observer.observe(document.body);
  // Whoever does something is not moved any more.
  for (const moved of ['wheel', 'touchstart', 'pointerdown', 'keydown', 'popstate']) addEventListener(moved, () => over.abort(), { once: true, passive: true, signal: over.signal });
  setTimeout(() => over.abort(), GROWS_MS);
}

/** A browser refuses to note more than some hundred of them in half a minute. */
const PAUSE_MS = 300;
let pause = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

// Back and Forward are told of only when the entry is another one already.
document.addEventListener('scrollend', () => {
  pause ??= setTimeout(() => {
    pause = undefined;
    keepSpot();
  }, PAUSE_MS);
}, true);
// Whoever leaves for another page altogether does not wait for the pause.
addEventListener('pagehide', keepSpot);
