// A long table of which only what can be seen is there: rows of one height, in a region that
// scrolls. It stays smooth with 100,000 rows, and says to readers of the screen how many there are.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../html.js';
import { rowsReached, rowsSpot } from '../spot.js';

/** Rows drawn beyond the edges. */
const MARGIN = 12;

/**
 * @param {{
 *   label: string, count: number, height: number, row: (index: number) => any, columns?: any,
 *   near?: () => void, className?: string, keyOf?: (index: number) => string | number, stick?: boolean, leave?: () => void,
 *   reveal?: { index: number, at: number }, total?: number,
 * }} props
 *   near: called when the end comes near; stick: stays at the end while more comes; leave: somebody has scrolled away from there; reveal: a row to bring into sight
 */
export function Rows({ label, count, height, row, columns, near, className = '', keyOf, stick, leave, reveal, total }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const left = useRef(stick ? undefined : rowsSpot(label));
  const measure = () => {
    const it = box.current;
    if (!it) return;
    const next = { top: it.scrollTop, height: it.clientHeight || 600 };
    setSeen((before) => (before.top === next.top && before.height === next.height ? before : next));
  };
  const arrived = () => {
    left.current = undefined;
    rowsReached(label);
  };
  const scrolled = () => {
    const it = box.current;
    // Whoever moves it while it is too short yet is not moved any more.
    if (left.current) arrived();
    if (stick && it && it.scrollHeight - it.scrollTop - it.clientHeight > 3 * height) leave?.();
    measure();
  };
  useLayoutEffect(() => {
    // Back where one was, as soon as there is as much of it.
    if (left.current && box.current && count > 0 && count * height > left.current.top) {
      box.current.scrollTop = left.current.top;
      arrived();
    }
    measure();
  }, [count]);
  useEffect(() => {
    const it = box.current;
    if (!it) return undefined;
    const observer = new ResizeObserver(measure);
    observer.observe(it);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (stick && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [stick, count]);
  useLayoutEffect(() => {
    const it = box.current;
    if (!reveal || !it) return;
    it.scrollTop = Math.max(0, reveal.index * height - it.clientHeight / 2);
    measure();
  }, [reveal?.index, reveal?.at]);

  const from = Math.max(0, Math.floor(seen.top / height) - MARGIN);
  const to = Math.min(count, Math.ceil((seen.top + seen.height) / height) + MARGIN);
  useEffect(() => {
    if (near && to >= count - MARGIN) near();
  }, [to, count, near]);
  const indexes = Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);
  const move = (/** @type {KeyboardEvent} */ event) => step(event, box.current);
  return html`<div class=${`rows ${className}`} ref=${box} role="table" aria-label=${label} data-count=${stick ? undefined : count} aria-rowcount=${(total ?? count) + (columns ? 1 : 0)}
      tabindex="0" onScroll=${scrolled} onKeyDown=${move}>
    ${columns && html`<div class="row head" role="row" aria-rowindex="1">${columns}</div>`}
    <div role="rowgroup">
      <div style=${{ height: `${from * height}px` }} aria-hidden="true"></div>
      ${indexes.map((index) => html`<div key=${keyOf ? keyOf(index) : index} class="row" role="row" aria-rowindex=${index + (columns ? 2 : 1)} style=${{ height: `${height}px` }}>${row(index)}</div>`)}
      <div style=${{ height: `${(count - to) * height}px` }} aria-hidden="true"></div>
    </div>
  </div>`;
}

/** j and k go from row to row. @param {KeyboardEvent} event @param {HTMLElement | null} box */
function step(event, box) {
  const by = { j: 1, k: -1 }[event.key];
  if (!by || !box || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...box.querySelectorAll('.row:not(.head) a[href]')];
  const here = links.findIndex((link) => link.closest('.row')?.contains(document.activeElement));
  const current = links[here]?.closest('.row');
  let next = here + by;
  while (here >= 0 && links[next] && links[next].closest('.row') === current) next += by;
  const link = links[here < 0 ? 0 : next];
  if (!(link instanceof HTMLElement)) return;
  event.preventDefault();
  link.focus();
  link.scrollIntoView({ block: 'nearest' });
}

/** @param {{ children?: any, className?: string, head?: boolean, sort?: 'ascending' | 'descending' | 'none' }} props */
export function Cell({ children, className = '', head, sort }) {
  return html`<div role=${head ? 'columnheader' : 'cell'} aria-sort=${sort} class=${`cell ${className}`}>${children}</div>`;
}
