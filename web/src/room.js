// How much room there is: the same line that the styles draw.

import { signal } from './html.js';

const NARROW = matchMedia('(max-width: 760px)');

export const isNarrow = signal(NARROW.matches);
NARROW.addEventListener('change', () => { isNarrow.value = NARROW.matches; });
