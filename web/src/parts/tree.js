// JSON as a tree that opens. Only what is open is drawn.

import { html, useState } from '../html.js';
import { counted, number, shortened, shown } from '../text.js';
import { Copy } from './basics.js';

const FIRST = 50;
const MORE = 500;
const TEXT_MAX = 400;

/** @param {{ value: any, label: string }} props */
export function Tree({ value, label }) {
  const text = () => JSON.stringify(value, null, 2);
  return html`<div class="tree" role="group" aria-label=${label}>
    <div class="tree-tools"><${Copy} text=${text()} label="Copy JSON" what=${label} /></div>
    <${Node} value=${value} depth=${0} />
  </div>`;
}

/** @param {{ name?: string, value: any, depth: number }} props */
function Node({ name, value, depth }) {
  const isBranch = value !== null && typeof value === 'object';
  if (!isBranch) return html`<div class="leaf"><${Name} name=${name} /><${Leaf} value=${value} /></div>`;
  return html`<${Branch} name=${name} value=${value} depth=${depth} />`;
}

/** @param {{ name?: string }} props */
function Name({ name }) {
  return name === undefined ? null : html`<span class="tree-name"><bdi>${shortened(name, 200)}</bdi>: </span>`;
}

/** @param {{ name?: string, value: any, depth: number }} props */
function Branch({ name, value, depth }) {
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  const [open, setOpen] = useState(depth < 2 && size <= FIRST);
  const [limit, setLimit] = useState(FIRST);
  const kind = Array.isArray(value) ? `[ ${counted(size, 'item')} ]` : `{ ${counted(size, 'field')} }`;
  if (size === 0) return html`<div class="leaf"><${Name} name=${name} /><span class="muted">${Array.isArray(value) ? '[ ]' : '{ }'}</span></div>`;
  const entries = open ? Object.entries(Array.isArray(value) ? value.slice(0, limit) : value).slice(0, limit) : [];
  return html`<div class="branch">
    <button type="button" class="twist" aria-expanded=${open} onClick=${() => setOpen(!open)}><span class="turn" aria-hidden="true">${open ? '▾' : '▸'}</span><${Name} name=${name} /><span class="muted">${kind}</span></button>
    ${open && html`<div class="twigs">
      ${entries.map(([key, inner]) => html`<${Node} key=${key} name=${key} value=${inner} depth=${depth + 1} />`)}
      ${size > limit && html`<button type="button" class="small" onClick=${() => setLimit(limit + MORE)}>Show ${number(Math.min(MORE, size - limit))} more of ${number(size)}</button>`}
    </div>`}
  </div>`;
}

/** @param {{ value: string | number | boolean | null }} props */
function Leaf({ value }) {
  const [whole, setWhole] = useState(false);
  if (typeof value !== 'string') return html`<span class=${`is-${value === null ? 'null' : typeof value}`}>${String(value)}</span>`;
  if (whole || value.length <= TEXT_MAX) return html`<span class="is-string"><bdi>"${shown(value)}"</bdi></span>`;
  return html`<span class="is-string"><bdi>"${shown(value.slice(0, TEXT_MAX))}…"</bdi></span> <button type="button" class="small" onClick=${() => setWhole(true)}>Show all ${number(value.length)} characters</button>`;
}
