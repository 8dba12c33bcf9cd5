// Whether anybody looks at the page. A browser has only six connections for each server, shared by
// all its tabs: one that nobody looks at gives its streams back, or the seventh would never load.

import { signal } from './html.js';

/** Long enough to look into another tab and come back, or to load what was opened behind this one. */
const HIDDEN_MAX_MS = 3000;

/** Nobody has looked for a while: streams rest until somebody does. */
export const isResting = signal(false);

let timer = /** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined);

function look() {
  clearTimeout(timer);
  if (document.visibilityState === 'hidden') timer = setTimeout(() => { isResting.value = true; }, HIDDEN_MAX_MS);
  else isResting.value = false;
}

document.addEventListener('visibilitychange', look);
// A tab may be opened behind another one: nothing tells of that.
look();
