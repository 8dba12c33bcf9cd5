// What the keys do, and where more is written.

import { html } from '../html.js';
import { begun, following, keysAreOn, known, switchKeys } from '../keys.js';
import { ORDER, means, word } from '../words.js';
import { Dialog } from './basics.js';
import { Shape } from './state.js';

/** @param {{ close: () => void }} props */
export function Help({ close }) {
  const seen = new Map(known.value.filter((key) => key.when?.() ?? true).map((key) => [key.keys, key.does]));
  return html`<${Dialog} title="Help" close=${close} wide>
    <h3>Keys</h3>
    <dl class="keys">${[...seen].map(([keys, does]) => html`<div key=${keys}><dt>${keys.split(' ').map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${does}</dd></div>`)}
      <div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next and previous row of a table</dd></div>
      <div><dt><kbd>Esc</kbd></dt><dd>Close a dialog</dd></div></dl>
    <p class="muted">A key that would change something asks first: Enter says yes, Esc no.</p>
    <label class="check"><input type="checkbox" checked=${keysAreOn.value} onChange=${(/** @type {any} */ event) => switchKeys(event.target.checked)} /> Keys of one letter are on</label>
    <h3>States</h3>
    <dl class="keys states">${ORDER.map((status) => html`<div key=${status}><dt><${Shape} status=${status} /> ${word(status)}</dt><dd>${means(status)}</dd></div>`)}</dl>
    <p>The API behind this page: <a href="/docs" target="_blank" rel="noopener">/docs</a>. On the command line: <code>mainspring --help</code>.</p>
  <//>`;
}

/** The first key of two was pressed: what may come next. */
export function Begun() {
  const first = begun.value;
  return html`<div class="begun-place" role="status">${first && html`<div class="begun"><span><kbd>${first}</kbd>…</span>
    ${following(first).map((key) => html`<span key=${key.keys}><kbd>${key.keys.slice(first.length + 1)}</kbd> ${key.does}</span>`)}</div>`}</div>`;
}
