// Many runs at once: chosen by the filter of the list, looked at before, and how far it is.

import { html, useEffect, useState } from '../html.js';
import { mayOperate, onceKeys, send } from '../api.js';
import { ACTIONS, bulk, dismiss, follow } from '../bulk.js';
import { shortId } from '../reasons.js';
import { to } from '../router.js';
import { counted, number, shown } from '../text.js';
import { word } from '../words.js';
import { Ago, Dialog, Loading, Trouble } from './basics.js';
import { State } from './state.js';

/** @typedef {{ status: string[], workflow: string, label: string, since?: string }} Filter */
/** @typedef {{ matched: number, first: import('../shapes.js').Run[], until: string }} Preview */

/** What the filter says, as the server takes it. @param {Filter} filter @param {string} action */
function asked({ status, workflow, label, since }, action) {
  const states = status.filter((it) => ACTIONS[action].states.includes(it));
  return {
    ...(status.length ? { status: states } : {}), ...(workflow ? { workflow } : {}), ...(label ? { label: [label] } : {}), ...(since ? { since } : {}),
  };
}

/** What suits the states that are chosen. @param {string[]} status */
const suiting = (status) => (status.length ? Object.keys(ACTIONS).find((action) => status.every((it) => ACTIONS[action].states.includes(it))) : undefined) ?? 'retry';

/** @param {{ filter: Filter }} props */
export function BulkButton({ filter }) {
  const [isOpen, setOpen] = useState(false);
  if (!mayOperate()) return null;
  return html`<button type="button" onClick=${() => setOpen(true)}>Act on all of these…</button>${isOpen && html`<${BulkDialog} filter=${filter} close=${() => setOpen(false)} />`}`;
}

/** @param {{ filter: Filter, close: () => void }} props */
function BulkDialog({ filter, close }) {
  const [action, setAction] = useState(suiting(filter.status));
  const [from, setFrom] = useState('');
  const [version, setVersion] = useState('same');
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [preview, setPreview] = useState(/** @type {Preview | undefined} */ (undefined));
  const [busy, setBusy] = useState(false);
  const [once] = useState(onceKeys);
  const meant = asked(filter, action);
  const order = { action, ...(action === 'rerun' ? { ...(from ? { from } : {}), version } : {}) };
  const isNone = meant.status?.length === 0;
  useEffect(() => {
    setProblem(undefined);
    setPreview(undefined);
    if (isNone) return undefined;
    let isWanted = true;
    const body = { action, dry_run: true, ...(Object.keys(meant).length ? { filter: meant } : { all: true }) };
    send('/runs/bulk', body).then((it) => { if (isWanted) setPreview(it); }, (error) => { if (isWanted) setProblem(error); });
    return () => { isWanted = false; };
  }, [action]);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!preview) return;
    setBusy(true);
    setProblem(undefined);
    // What came since it was looked at is not meant.
    const body = { ...order, filter: { ...meant, until: preview.until } };
    try {
      follow(await send('/runs/bulk', body, { key: once(body) }));
      close();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const count = preview?.matched ?? 0;
  return html`<${Dialog} title="Many runs at once" close=${close} wide><form onSubmit=${submit}>
    <p>For every run that fits the filter of the list: <strong><bdi>${inWords(filter)}</bdi></strong>. Those that it does not apply to are left alone.</p>
    <label for="bulk-action">What to do</label><select id="bulk-action" autofocus value=${action} onChange=${(/** @type {any} */ event) => setAction(event.target.value)}>${Object.entries(ACTIONS).map(([id, it]) => html`<option key=${id} value=${id}>${it.verb}</option>`)}</select>
    ${action === 'rerun' && html`<label for="bulk-from">Begin at this task (empty: from the start)</label><input id="bulk-from" autocomplete="off" value=${from} onInput=${(/** @type {any} */ event) => setFrom(event.target.value.trim())} />
      <label for="bulk-version">Version</label><select id="bulk-version" value=${version} onChange=${(/** @type {any} */ event) => setVersion(event.target.value)}><option value="same">the same as each had</option><option value="latest">the latest</option></select>`}
    <div class="preview" aria-live="polite">${isNone ? html`<p>Nothing: ${word(action)} is for runs that are ${ACTIONS[action].states.map(word).join(' or ')}.</p>` : preview ? html`<${Meant} preview=${preview} />` : !problem && html`<${Loading} label="Looking which runs that are" />`}</div>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div class="dialog-tools"><button type="button" onClick=${close}>Not now</button><button type="submit" class=${action === 'cancel' ? 'danger' : 'primary'} disabled=${busy || count === 0}>${ACTIONS[action].verb}${preview ? `: ${counted(count, 'run')}` : ''}</button></div></form><//>`;
}

/** @param {Filter} filter */
function inWords({ status, workflow, label, since }) {
  const parts = [status.length ? status.map(word).join(' or ') : 'in any state'];
  if (workflow) parts.push(`of ${shown(workflow)}`);
  if (label) parts.push(`with the label ${shown(label)}`);
  if (since) parts.push(`accepted since ${new Date(since).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })}`);
  return parts.join(', ');
}

/** @param {{ preview: Preview }} props */
function Meant({ preview }) {
  const { matched, first } = preview;
  if (matched === 0) return html`<p>No run is meant.</p>`;
  return html`<p><strong>${counted(matched, 'run')}</strong>${matched > first.length ? `, the newest ${number(first.length)} of them` : ''}:</p>
    <ul class="plain preview-runs" tabindex="0" aria-label="Runs that are meant">${first.map((run) => html`<li key=${run.id}><${State} status=${run.status} /> <bdi>${shown(run.workflow)}</bdi> <span class="muted mono">${shortId(run.id)}</span> <span class="muted"><${Ago} at=${run.created_at} /></span></li>`)}</ul>`;
}

/** How far it is, until somebody has read it. */
export function BulkProgress() {
  const now = bulk.value;
  if (!now) return null;
  const { action, matched, done, refused, failed, problems, finished_at } = now.view;
  const { verb, done: past } = ACTIONS[action];
  const through = done + refused + failed;
  const tone = finished_at ? (failed || refused ? 'waiting' : 'success') : 'running';
  return html`<section class=${`callout bulk tone-${tone}`} aria-label="Many runs at once">
    <div class="card-head"><strong>${verb}: ${number(through)} of ${counted(matched, 'run')}</strong>${finished_at && html`<span>over</span>`}<span class="spread"></span><button type="button" class="quiet small" onClick=${dismiss} aria-label="Put it away">✕</button></div>
    <div class="meter" role="meter" aria-label="Runs that are through" aria-valuemin="0" aria-valuemax=${matched} aria-valuenow=${through}><span style=${{ width: `${matched ? (100 * through) / matched : 100}%` }}></span></div>
    <div role="status">${counted(done, 'run')} ${past}${refused ? `, ${number(refused)} refused` : ''}${failed ? `, ${number(failed)} failed` : ''}.${now.isForgotten ? ' The server knows nothing of it any more.' : ''}</div>
    ${problems.length > 0 && html`<details><summary>Why not all</summary><ul class="plain">${problems.map((it) => html`<li key=${it.run}><a class="mono" href=${to.run(it.run)}>${shortId(it.run)}</a> <bdi>${shown(it.detail)}</bdi></li>`)}</ul></details>`}
  </section>`;
}
