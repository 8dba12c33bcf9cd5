// Runs, newest first, as many as one scrolls to.

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { get, query } from '../api.js';
import { place, setQuery, to } from '../router.js';
import { Command, Empty, Loading, Trouble } from '../parts/basics.js';
import { BulkButton, BulkProgress } from '../parts/bulk.js';
import { useLoaded } from '../parts/load.js';
import { RunRows, withRun } from '../parts/runlist.js';
import { Shape } from '../parts/state.js';
import { shortId } from '../reasons.js';
import { rowsSpot } from '../spot.js';
import { RUN_STATES, word } from '../words.js';
import { counted, shortened, shown } from '../text.js';

const PAGE = 100;
/** As many as one question may ask for. */
const BACK_MAX = 1000;
/** A page that is left open on a busy server keeps so many; older ones are found by filters. */
const KEPT_MAX = 10_000;

/** @typedef {import('../shapes.js').Run} Run */
/** @typedef {{ runs: Run[], next?: string }} Data */

/** How far back the list goes, in ms. @type {Record<string, { label: string, ms: number }>} */
const WITHIN = {
  hour: { label: 'last hour', ms: 3_600_000 }, day: { label: 'last 24 hours', ms: 86_400_000 }, week: { label: 'last 7 days', ms: 7 * 86_400_000 },
};

/** @param {Data} data @returns {Data} */
const kept = (data) => (data.runs.length > KEPT_MAX ? { runs: data.runs.slice(0, KEPT_MAX) } : data);

/** @param {{ workflow?: string }} props of one workflow, when it is shown within that */
export function RunList({ workflow }) {
  const asked = place.value.query;
  const filter = {
    status: asked.get('status') ?? '', workflow: workflow ?? asked.get('workflow') ?? '', label: asked.get('label') ?? '', parent: asked.get('parent') ?? '',
  };
  const within = asked.get('within') ?? '';
  const since = useMemo(() => (WITHIN[within] ? new Date(Date.now() - WITHIN[within].ms).toISOString() : undefined), [within]);
  const states = filter.status ? filter.status.split(',') : [];
  const isWanted = (/** @type {Run} */ run) => {
    if (states.length && !states.includes(run.status)) return false;
    if (filter.workflow && run.workflow !== filter.workflow) return false;
    if (filter.parent && run.parent?.run !== filter.parent) return false;
    if (!filter.label) return true;
    const [key, ...value] = filter.label.split('=');
    return run.labels[key] === value.join('=');
  };
  const page = (/** @type {string | undefined} */ cursor, limit = PAGE) => `/runs${query({ ...filter, since, limit, cursor })}`;
  const loaded = useLoaded(async (signal) => {
    // Whoever comes back finds as much as there was; what is loaded again stays as long as it is.
    const wanted = data?.runs.length ?? rowsSpot('Runs')?.count ?? 0;
    const first = await get(page(undefined, Math.min(BACK_MAX, Math.max(PAGE, wanted))), signal);
    return /** @type {Data} */ ({ runs: first.items, next: first.next_cursor });
  }, { keys: [filter.status, filter.workflow, filter.label, filter.parent, since], hear: { run: (run, change) => change((data) => kept({ ...data, runs: withRun(data.runs, run, isWanted) })) } });
  const { data, problem } = loaded;
  /** The page that is on its way. */
  const more = useRef('');
  const near = data?.next ? async () => {
    const cursor = /** @type {string} */ (data.next);
    const url = page(cursor);
    if (more.current === url) return;
    more.current = url;
    try {
      const next = await get(url);
      // A list that was loaded again meanwhile may end elsewhere.
      loaded.change((before) => (before.next === cursor ? { runs: [...before.runs, ...next.items.filter((/** @type {Run} */ run) => !before.runs.some((it) => it.id === run.id))], next: next.next_cursor } : before));
    } catch {
      // Asked for again as soon as somebody scrolls.
    } finally {
      if (more.current === url) more.current = '';
    }
  } : undefined;
  const isFiltered = Boolean(filter.status || filter.label || filter.parent || since || (!workflow && filter.workflow));
  const isNothing = data?.runs.length === 0 && !isFiltered;
  return html`<${BulkProgress} />${!isNothing && html`<${Filter} states=${states} workflow=${workflow ? undefined : filter.workflow} label=${filter.label} within=${within} />`}
    ${filter.parent && html`<p>Only child runs of <a class="mono" href=${to.run(filter.parent)}>${shown(shortId(filter.parent))}</a>. <button type="button" class="link" onClick=${() => setQuery({ parent: '' })}>Show all runs</button></p>`}
    ${problem && html`<${Trouble} problem=${problem} again=${loaded.again} />`}
    ${!data && !problem && html`<${Loading} />`}
    ${data && data.runs.length === 0 && (isFiltered
      ? html`<${Empty} title="No run is like that."><button type="button" onClick=${() => setQuery({ status: '', workflow: '', label: '', parent: '', within: '' })}>Show all</button><//>`
      : html`<${Empty} title="Nothing has run yet."><p>Start one${workflow ? ' with the button above' : html` from a <a href=${to.workflows()}>workflow</a>`}, or on the command line:</p><${Command} name="trigger" args=${workflow ?? 'NAME'} /><//>`)}
    ${data && data.runs.length > 0 && html`<div class="over-list"><span class="muted">${counted(data.runs.length, 'run')}${data.next ? ' so far; more come as you scroll' : ''}</span><span class="spread"></span>
        ${!filter.parent && html`<${BulkButton} filter=${{ status: states, workflow: filter.workflow, label: filter.label, since }} />`}</div>
      <${RunRows} runs=${data.runs} label="Runs" near=${near} one=${Boolean(workflow)} total=${data.next ? -1 : undefined} />`}`;
}

/** @param {{ states: string[], workflow?: string, label: string, within: string }} props */
function Filter({ states, workflow, label, within }) {
  const toggle = (/** @type {string} */ status) => {
    const next = states.includes(status) ? states.filter((it) => it !== status) : [...states, status];
    setQuery({ status: next.join(',') });
  };
  const given = (/** @type {string} */ name) => (/** @type {any} */ event) => setQuery({ [name]: event.target.value.trim() });
  return html`<div class="filters" role="group" aria-label="Filter">
    ${RUN_STATES.map((status) => html`<button key=${status} type="button" class="chip" aria-pressed=${states.includes(status)} onClick=${() => toggle(status)}><${Shape} status=${status} />${word(status)}</button>`)}
    <span class="spread"></span>
    <select aria-label="Only runs accepted lately" value=${within} onChange=${given('within')}><option value="">any time</option>${Object.entries(WITHIN).map(([id, it]) => html`<option key=${id} value=${id}>${it.label}</option>`)}</select>
    ${workflow !== undefined && html`<${WorkflowFilter} workflow=${workflow} give=${given('workflow')} />`}
    <${LabelFilter} label=${label} />
  </div>`;
}

/**
 * What is typed is the box's own until it is given; what the address says comes from outside.
 * @param {string} given
 */
function useTyped(given) {
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  return { value: text, onInput: (/** @type {any} */ event) => setText(event.target.value) };
}

/** @param {{ workflow: string, give: (event: any) => void }} props */
function WorkflowFilter({ workflow, give }) {
  const typed = useTyped(workflow);
  const [names, setNames] = useState(/** @type {string[]} */ ([]));
  // Asked for when somebody is about to need them.
  const ask = () => { get(`/workflows${query({ limit: 1000 })}`).then((page) => setNames(page.items.map((/** @type {any} */ it) => it.name)), () => {}); };
  return html`<input type="search" class="filter" list="workflow-names" autocomplete="off" placeholder="Workflow" aria-label="Only runs of this workflow" ...${typed} onFocus=${ask} onChange=${give} />
    <datalist id="workflow-names">${names.map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>`;
}

/** @param {{ label: string }} props */
function LabelFilter({ label }) {
  const typed = useTyped(label);
  const [wrong, setWrong] = useState('');
  const give = (/** @type {any} */ event) => {
    const text = event.target.value.trim();
    const isRight = text === '' || text.indexOf('=') > 0;
    setWrong(isRight ? '' : `“${shortened(text, 40)}” is no label: key=value, like team=data.`);
    if (isRight) setQuery({ label: text });
  };
  return html`<input type="search" class="filter" placeholder="Label: key=value" aria-label="Only runs with this label, key=value" aria-invalid=${wrong ? 'true' : undefined} aria-describedby="label-wrong" ...${typed} onChange=${give} />
    <p id="label-wrong" class="field-wrong filter-wrong" role="alert">${wrong}</p>`;
}

export function Runs() {
  useEffect(() => { document.title = 'Runs · Mainspring'; }, []);
  return html`<main id="main" tabindex="-1"><h1>Runs</h1><${RunList} /></main>`;
}
