// What every component is written with.

import { h } from '../vendor/preact.js';
import htm from '../vendor/htm.js';

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = /** @type {any} */ (htm).bind(h);

export { render, Fragment } from '../vendor/preact.js';
export { useEffect, useLayoutEffect, useMemo, useRef, useState, useId, useErrorBoundary } from '../vendor/hooks.js';
export { signal, computed, effect, batch, useSignal, useComputed } from '../vendor/signals.js';
