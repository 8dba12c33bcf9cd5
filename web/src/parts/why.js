// Reasons on the screen: in full, one line each, with links to what is in the way; or in one line.

import { html } from '../html.js';
import { inShort, isTimed, lines, outcome } from '../reasons.js';
import { shortened, shown } from '../text.js';
import { now } from '../time.js';
import { isSettled } from '../words.js';
import { Shape } from './state.js';

/** @typedef {import('../shapes.js').Reason} Reason */

/** @param {{ reasons: Reason[], run: string }} props */
export function Why({ reasons, run }) {
  const at = isTimed(reasons) ? now.value : now.peek();
  return html`<ul class="why">${lines(reasons, run, at).map((line, i) => html`<li key=${i}>${line.map((piece) => (typeof piece === 'string'
    ? html`<bdi>${shown(piece)}</bdi>`
    : html`<a href=${piece.href}>${piece.status && html`<${Shape} status=${piece.status} />`}<bdi>${shown(piece.text)}</bdi></a>`))}</li>`)}</ul>`;
}

/**
 * In one line: what keeps it, or why it ended as it did.
 * @param {{ task: import('../shapes.js').Task, explained?: import('../shapes.js').Explained, run: string }} props
 */
export function WhyBriefly({ task, explained, run }) {
  // An explanation of a state that the task has left already says nothing any more.
  const told = !isSettled(task.status) && explained?.status === task.status ? explained : undefined;
  const at = told && isTimed(told.reasons) ? now.value : now.peek();
  const text = isSettled(task.status) ? outcome(task) : told ? inShort(told, run, at) : '';
  return html`<span class=${task.status === 'failed' ? 'tone-failed toned' : 'muted'} title=${shortened(text, 1000)}>${shortened(text, 300)}</span>`;
}
