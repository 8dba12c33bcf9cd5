// An input or an output: shown as a tree if it came along, fetched on request if it is large.

import { html, useState } from '../html.js';
import { get } from '../api.js';
import { bytes } from '../text.js';
import { Empty, Loading, Trouble } from './basics.js';
import { Tree } from './tree.js';

/** More than this is only downloaded. */
const SHOWN_MAX = 20 * 1024 * 1024;

/** @param {{ value?: any, blob?: import('../shapes.js').Blob, href?: string, label: string, none?: string }} props */
export function Payload({ value, blob, href, label, none = 'Nothing.' }) {
  const [state, setState] = useState(/** @type {{ value?: any, problem?: any, busy?: boolean }} */ ({}));
  if (value !== undefined) return html`<${Tree} value=${value} label=${label} />`;
  if (!blob || !href) return html`<${Empty} title=${none} />`;
  if (state.value !== undefined) return html`<${Tree} value=${state.value} label=${label} />`;
  const load = async () => {
    setState({ busy: true });
    try {
      setState({ value: await get(href) });
    } catch (problem) {
      setState({ problem });
    }
  };
  return html`<div class="empty"><p class="empty-title">${bytes(blob.bytes)} of JSON</p><div class="card-tools">
    ${blob.bytes <= SHOWN_MAX && html`<button type="button" disabled=${state.busy} onClick=${load}>Show it</button>`}<a href=${href} download="output.json">Download</a></div>
    ${state.busy && html`<${Loading} />`}${state.problem && html`<${Trouble} problem=${state.problem} />`}</div>`;
}
