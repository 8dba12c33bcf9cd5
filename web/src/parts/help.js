// What the keys do, and where more is written.

import { html } from '../html.js';
import { keysAreOn, known, switchKeys } from '../keys.js';
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
    <label class="check"><input type="checkbox" checked=${keysAreOn.value} onChange=${(/** @type {any} */ event) => switchKeys(event.target.checked)} /> Keys of one letter are on</label>
    <h3>States</h3>
    <dl class="keys states">${ORDER.map((status) => html`<div key=${status}><dt><${Shape} status=${status} /> ${word(status)}</dt><dd>${means(status)}</dd></div>`)}</dl>
    <p>The API behind this page: <a href="/docs" target="_blank" rel="noopener">/docs</a>. On the command line: <code>mainspring --help</code>.</p>
  <//>`;
}
