// A state, told by a shape, a word and a colour.

import { html } from '../html.js';
import { means, ORDER, tone, word } from '../words.js';
import { number } from '../text.js';

/** @type {Record<string, any>} */
const SHAPES = {
  pending: html`<circle cx="8" cy="8" r="6" class="line dashed" />`,
  ready: html`<circle cx="8" cy="8" r="6" class="line" /><circle cx="8" cy="8" r="2" class="fill" />`,
  dispatched: html`<circle cx="8" cy="8" r="6" class="line" /><path d="M6.5 5.5 10.5 8l-4 2.5z" class="line" />`,
  running: html`<circle cx="8" cy="8" r="6" class="line faint" /><path d="M8 2a6 6 0 0 1 6 6" class="line turning" /><path d="M6.5 5.2 11 8l-4.5 2.8z" class="fill" />`,
  waiting: html`<path d="M4 2h8M4 14h8M5 2c0 4 6 4 6 6s-6 2-6 6M11 2c0 4-6 4-6 6s6 2 6 6" class="line" />`,
  worker_done: html`<circle cx="8" cy="8" r="6" class="line dashed" /><path d="m5.2 8.2 2 2 3.6-4" class="line" />`,
  cancelling: html`<circle cx="8" cy="8" r="6" class="line dashed" /><path d="M4.5 11.5l7-7" class="line" />`,
  paused: html`<rect x="2" y="2" width="12" height="12" rx="3" class="line" /><path d="M6.3 5.5v5M9.7 5.5v5" class="line" />`,
  success: html`<circle cx="8" cy="8" r="7" class="fill" /><path d="m4.8 8.3 2.2 2.2 4.2-4.6" class="cut" />`,
  copied: html`<circle cx="8" cy="8" r="6" class="line dashed" /><path d="m5.2 8.2 2 2 3.6-4" class="line" />`,
  cached: html`<circle cx="8" cy="8" r="6" class="line" /><path d="m5.2 8.2 2 2 3.6-4" class="line" />`,
  failed: html`<path d="M5.2 1h5.6L15 5.2v5.6L10.8 15H5.2L1 10.8V5.2z" class="fill" /><path d="m5.5 5.5 5 5m0-5-5 5" class="cut" />`,
  cancelled: html`<circle cx="8" cy="8" r="6" class="line" /><path d="M4 12l8-8" class="line" />`,
  abandoned: html`<circle cx="8" cy="8" r="6" class="line dashed" /><path d="M5 8h6" class="line" />`,
  refused: html`<circle cx="8" cy="8" r="6" class="line" /><path d="M5 8h6" class="line" />`,
  skipped: html`<path d="m3 4 4 4-4 4M8.5 4l4 4-4 4" class="line" />`,
  blocked: html`<rect x="1.5" y="1.5" width="13" height="13" rx="2" class="fill" /><path d="M4.5 8h7" class="cut" />`,
};

/** The shape alone, beside a word that says the same. @param {{ status: string }} props */
export function Shape({ status }) {
  return html`<svg class=${`shape tone-${tone(status)}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    ${SHAPES[status] ?? SHAPES.pending}
  </svg>`;
}

/** @param {{ status: string, note?: string }} props */
export function State({ status, note }) {
  return html`<span class=${`state tone-${tone(status)}`} title=${means(status)}>
    <${Shape} status=${status} /><span>${word(status)}${note ? ` ${note}` : ''}</span>
  </span>`;
}

/**
 * How many of each, as a bar and in words.
 * @param {{ counts: Record<string, number>, label: string, words?: boolean, hrefOf?: (status: string) => string }} props hrefOf: where those in a state are listed
 */
export function Counts({ counts, label, words = true, hrefOf }) {
  const given = ORDER.filter((status) => counts[status]);
  const total = given.reduce((sum, status) => sum + counts[status], 0) || 1;
  const text = given.map((status) => `${number(counts[status])} ${word(status)}`).join(', ');
  return html`<div class="counts">
    <div class="bar" role="img" aria-label=${`${label}: ${text || 'none'}`}>
      ${given.map((status) => html`<span key=${status} class=${`part tone-${tone(status)} is-${status}`} style=${{ flexGrow: counts[status] / total }} />`)}
    </div>
    ${words && html`<div class="legend">${given.map((status) => {
      const inside = html`<${Shape} status=${status} />${number(counts[status])} ${word(status)}`;
      return hrefOf ? html`<a key=${status} class="count" href=${hrefOf(status)}>${inside}</a>` : html`<span key=${status} class="count">${inside}</span>`;
    })}</div>`}
  </div>`;
}
