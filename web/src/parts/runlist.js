// Runs in rows.

import { html } from '../html.js';
import { shortId } from '../reasons.js';
import { to } from '../router.js';
import { counted, number, shown } from '../text.js';
import { isNarrow } from '../room.js';
import { duration } from '../time.js';
import { isFinal, word } from '../words.js';
import { Ago, Labels, Took } from './basics.js';
import { Cell, Rows } from './rows.js';
import { Shape, State } from './state.js';

/** @typedef {import('../shapes.js').Run} Run */

const HEIGHT = 44;
/** Two lines. */
const HEIGHT_NARROW = 58;

/** @param {Run} run */
function progress(run) {
  const { total = 0, success = 0, failed = 0, skipped = 0, cancelled = 0 } = run.tasks;
  return html`<span class="progress" title=${`${number(success)} of ${number(total)} tasks succeeded`}>
    <span class="bar" aria-hidden="true">
      <span class="part tone-success" style=${{ flexGrow: success }} /><span class="part tone-failed" style=${{ flexGrow: failed }} />
      <span class="part tone-quiet" style=${{ flexGrow: total - success - failed - skipped - cancelled }} /></span>
    <span class="muted">${number(success)}/${number(total)}</span></span>`;
}

/** @param {{ runs: Run[], label: string, near?: () => void, one?: boolean, total?: number }} props one: all of one workflow */
export function RunRows({ runs, label, near, one, total }) {
  const columns = html`<${Cell} head className="c-state">State<//><${Cell} head className="grow">${one ? 'Run' : 'Workflow'}<//><${Cell} head className="c-tasks wide">Tasks<//><${Cell} head className="c-who wide roomy">Started by<//><${Cell} head className="c-time wide">Started<//><${Cell} head className="c-took">Took<//>`;
  const row = (/** @type {number} */ i) => {
    const run = runs[i];
    if (!run) return null;
    return html`<${Cell} className="c-state"><${State} status=${run.status} /><//>
      <${Cell} className="grow"><a class="stretched" href=${to.run(run.id)}><bdi>${one ? shortId(run.id) : shown(run.workflow)}</bdi></a>
        ${isNarrow.value ? html`<div class="muted second-line">${!one && html`<span class="mono">${shortId(run.id)}</span> · `}<${Ago} at=${run.started_at ?? run.created_at} /> <${Labels} labels=${run.labels} /></div>` : html`${!one && html` <span class="muted mono">${shortId(run.id)}</span>`} <${Labels} labels=${run.labels} />`}<//>
      <${Cell} className="c-tasks wide">${progress(run)}<//>
      <${Cell} className="c-who wide roomy"><bdi>${run.parent ? 'its parent' : shown(run.triggered_by)}</bdi><//>
      <${Cell} className="c-time wide"><${Ago} at=${run.started_at ?? run.created_at} /><//>
      <${Cell} className="c-took"><${Took} from=${run.started_at} to=${run.finished_at} /><//>`;
  };
  return html`<${Rows} label=${label} count=${runs.length} total=${total} height=${isNarrow.value ? HEIGHT_NARROW : HEIGHT} row=${row} columns=${columns} near=${near} keyOf=${(/** @type {number} */ i) => runs[i]?.id ?? i} className="runs" />`;
}

/** The last results, oldest first, as a strip of bars. @param {{ runs: Run[], linked?: boolean }} props linked: each leads to its run */
export function Strip({ runs, linked }) {
  const bars = [...runs].reverse();
  const longest = Math.max(1, ...bars.map(lasted));
  const said = `Last ${counted(bars.length, 'run')}, oldest first: ${bars.map((run) => run.status).join(', ')}`;
  if (bars.length === 0) return html`<span class="muted">no runs yet</span>`;
  const fill = (/** @type {Run} */ run) => html`<span class=${`strip-fill tone-${toneOf(run.status)}`} style=${{ height: `${30 + (70 * lasted(run)) / longest}%` }}></span>`;
  const about = (/** @type {Run} */ run) => `${word(run.status)}${run.started_at ? `, ${duration(lasted(run))}` : ''}, ${shortId(run.id)}`;
  if (linked) return html`<div class="strip" role="group" aria-label=${said}>${bars.map((run) => html`<a key=${run.id} class=${`strip-bar is-${run.status}`} href=${to.run(run.id)} title=${about(run)} aria-label=${about(run)}>${fill(run)}</a>`)}</div>`;
  return html`<div class="strip" role="img" aria-label=${said}>
    ${bars.map((run) => html`<span key=${run.id} class=${`strip-bar is-${run.status}`} title=${about(run)}>${fill(run)}</span>`)}
  </div>`;
}

/** @param {string} status */
const toneOf = (status) => ({ success: 'success', failed: 'failed', running: 'running', paused: 'paused', cancelling: 'waiting' }[status] ?? 'quiet');

/** @param {Run} run */
function lasted(run) {
  if (!run.started_at) return 0;
  return (run.finished_at ? Date.parse(run.finished_at) : Date.now()) - Date.parse(run.started_at);
}

/** One run in a card. @param {{ run: Run, children?: any }} props */
export function RunCard({ run, children }) {
  return html`<li class="card"><div class="card-head"><${Shape} status=${run.status} /><a href=${to.run(run.id)}><bdi>${shown(run.workflow)}</bdi> <span class="muted mono">${shortId(run.id)}</span></a><span class="spread"></span>
    <span class="muted">${isFinal(run.status) ? html`<${Ago} at=${run.finished_at} />` : html`<${Took} from=${run.started_at ?? run.created_at} />`}</span></div>
    ${children}</li>`;
}

/**
 * The newest first, each once; what is not wanted any more goes.
 * @param {Run[]} runs @param {Run} run @param {(run: Run) => boolean} isWanted
 */
export function withRun(runs, run, isWanted) {
  const at = runs.findIndex((it) => it.id === run.id);
  if (!isWanted(run)) return at < 0 ? runs : runs.filter((it) => it.id !== run.id);
  if (at >= 0) {
    const next = [...runs];
    next[at] = run;
    return next;
  }
  const before = runs.findIndex((it) => it.created_at < run.created_at || (it.created_at === run.created_at && it.id < run.id));
  return before < 0 ? [...runs, run] : [...runs.slice(0, before), run, ...runs.slice(before)];
}
