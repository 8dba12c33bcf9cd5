// All workflows, each with how it went lately.

import { html, signal, useEffect, useState } from '../html.js';
import { get, query } from '../api.js';
import { place, setQuery, to } from '../router.js';
import { Ago, Command, Empty, Loading, Trouble } from '../parts/basics.js';
import { pages, useLoaded } from '../parts/load.js';
import { Cell, Rows } from '../parts/rows.js';
import { Strip, withRun } from '../parts/runlist.js';
import { counted, shown } from '../text.js';

/** @typedef {import('../shapes.js').Workflow} Workflow */
/** @typedef {import('../shapes.js').Run} Run */

const MAX = 10_000;
const STRIP = 14;
const HEIGHT = 64;
const AT_ONCE = 4;

export function Workflows() {
  const loaded = useLoaded(
    (signal) => pages((cursor) => get(`/workflows${query({ limit: 1000, cursor })}`, signal), MAX),
    { keys: [], hear: { run: (run) => heardOf(run) } },
  );
  useEffect(() => {
    document.title = 'Workflows · Mainspring';
    return () => strips.clear();
  }, []);
  const wanted = (place.value.query.get('q') ?? '').toLowerCase();
  const all = /** @type {Workflow[]} */ (loaded.data?.items ?? []);
  const found = all.filter((it) => !wanted || it.name.toLowerCase().includes(wanted) || it.description?.toLowerCase().includes(wanted));
  return html`<main id="main" tabindex="-1">
    <div class="head"><h1>Workflows</h1><span class="muted">${all.length ? counted(all.length, 'workflow') : ''}</span><span class="spread"></span>
      ${all.length > 0 && html`<input type="search" class="filter" placeholder="Filter by name" aria-label="Filter workflows by name" value=${wanted} onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value })} />`}</div>
    ${loaded.problem && html`<${Trouble} problem=${loaded.problem} again=${loaded.again} />`}
    ${!loaded.data && !loaded.problem && html`<${Loading} />`}
    ${loaded.data && all.length === 0 && html`<${Empty} title="No workflow is deployed."><p>Write one and deploy it; what is wrong with it is said with line and column:</p><${Command} name="apply" args="my.yaml" /><//>`}
    ${all.length > 0 && found.length === 0 && html`<${Empty} title="No workflow has that in its name." />`}
    ${found.length > 0 && html`<${List} found=${found} />`}
  </main>`;
}

/** @param {{ found: Workflow[] }} props */
function List({ found }) {
  const columns = html`<${Cell} head className="grow">Workflow<//><${Cell} head className="c-strip">Last runs<//><${Cell} head className="c-time wide">Last run<//><${Cell} head className="c-tasks wide roomy">Tasks<//><${Cell} head className="c-num wide roomy">Version<//>`;
  const row = (/** @type {number} */ i) => html`<${Row} workflow=${found[i]} />`;
  return html`<${Rows} label="Workflows" count=${found.length} height=${HEIGHT} row=${row} columns=${columns} keyOf=${(/** @type {number} */ i) => found[i].name} className="workflows" />`;
}

/** @param {{ workflow: Workflow }} props */
function Row({ workflow }) {
  const strip = useStrip(workflow.name);
  return html`<${Cell} className="grow two-lines"><a class="stretched strong" href=${to.workflow(workflow.name)}><bdi>${shown(workflow.name)}</bdi></a><span class="muted one-line"><bdi>${shown(workflow.description ?? '')}</bdi></span><//>
    <${Cell} className="c-strip above">${strip && html`<${Strip} runs=${strip} />`}<//>
    <${Cell} className="c-time wide"><${Ago} at=${strip?.[0]?.created_at} /><//>
    <${Cell} className="c-tasks wide roomy">${counted(workflow.tasks, 'task')}<//>
    <${Cell} className="c-num wide roomy">${workflow.version}<//>`;
}

/** Last runs of the workflows that are in sight, newest first. @type {Map<string, import('../../vendor/signals.js').Signal<Run[] | undefined>>} */
const strips = new Map();
/** @type {string[]} */
const waiting = [];
let asking = 0;

/** @param {string} name */
function useStrip(name) {
  const [strip] = useState(() => {
    let it = strips.get(name);
    if (!it) {
      it = signal(/** @type {Run[] | undefined} */ (undefined));
      strips.set(name, it);
      waiting.push(name);
      ask();
    }
    return it;
  });
  return strip.value;
}

/** A few at a time: a browser has six connections for a server, and one is the stream's. */
async function ask() {
  if (asking >= AT_ONCE) return;
  const name = waiting.pop();
  if (name === undefined) return;
  asking += 1;
  try {
    const page = await get(`/runs${query({ workflow: name, limit: STRIP })}`);
    const it = strips.get(name);
    if (it) it.value = page.items;
  } catch { /* the list is there without it */ }
  asking -= 1;
  ask();
}

/** @param {Run} run */
function heardOf(run) {
  const it = strips.get(run.workflow);
  if (it?.value) it.value = withRun(it.value, run, () => true).slice(0, STRIP);
}
