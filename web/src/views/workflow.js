// One workflow: its graph, its runs, what it was and is.

import { html, useEffect, useState } from '../html.js';
import { get, mayOperate, path, query } from '../api.js';
import { useGraph } from '../graphs.js';
import { useKeys } from '../keys.js';
import { place, setQuery, to } from '../router.js';
import { counted, shown } from '../text.js';
import { Ago, Copy, Dialog, Empty, Fact, Labels, Loading, Panel, Tabs, Trouble } from '../parts/basics.js';
import { Graph } from '../parts/graph.js';
import { pages, useLoaded } from '../parts/load.js';
import { Strip, withRun } from '../parts/runlist.js';
import { Trigger } from '../parts/trigger.js';
import { RunList } from './runs.js';

/** @typedef {import('../shapes.js').Workflow} Workflow */

const STRIP = 40;

/** @param {{ name: string }} props */
export function WorkflowView({ name }) {
  const loaded = useLoaded(async (signal) => {
    const [workflow, runs] = await Promise.all([get(path`/workflows/${name}`, signal), get(`/runs${query({ workflow: name, limit: STRIP })}`, signal)]);
    return { workflow: /** @type {Workflow} */ (workflow), runs: runs.items };
  }, { keys: [name], hear: { run: (run, change) => { if (run.workflow === name) change((data) => ({ ...data, runs: withRun(data.runs, run, () => true).slice(0, STRIP) })); } } });
  const [isStarting, setStarting] = useState(false);
  useEffect(() => { document.title = `${name} · Mainspring`; }, [name]);
  useKeys([{ keys: 't', does: 'Start a run', act: () => setStarting(true), when: () => mayOperate() && loaded.data !== undefined }]);
  const { data, problem } = loaded;
  if (!data) return html`<main id="main" tabindex="-1"><h1><bdi>${shown(name)}</bdi></h1>${problem ? html`<${Trouble} problem=${problem} again=${loaded.again} /><p><a href=${to.workflows()}>All workflows</a></p>` : html`<${Loading} />`}</main>`;
  const { workflow, runs } = data;
  return html`<main id="main" tabindex="-1">
    <nav class="crumbs" aria-label="Where this is"><a href=${to.workflows()}>Workflows</a> / <bdi>${shown(name)}</bdi></nav>
    <div class="head"><h1><bdi>${shown(name)}</bdi></h1><span class="spread"></span>${mayOperate() && html`<button type="button" class="primary" onClick=${() => setStarting(true)}>Start a run…</button>`}</div>
    ${workflow.description && html`<p class="lead"><bdi>${shown(workflow.description)}</bdi></p>`}
    <dl class="facts"><${Fact} name="Version">${workflow.version}, <${Ago} at=${workflow.updated_at} /><//><${Fact} name="Tasks">${counted(workflow.tasks, 'task')}<//>${Object.keys(workflow.labels).length > 0 && html`<${Fact} name="Labels"><${Labels} labels=${workflow.labels} /><//>`}<${Fact} name="Last runs"><${Strip} runs=${runs} linked /><//></dl>
    <${Body} workflow=${workflow} />
    ${isStarting && html`<${Dialog} title=${`Start ${shown(name)}`} close=${() => setStarting(false)} wide><${Trigger} workflow=${workflow} close=${() => setStarting(false)} /><//>`}
  </main>`;
}

/** @param {{ workflow: Workflow }} props */
function Body({ workflow }) {
  const tabs = [{ id: 'graph', label: 'Graph' }, { id: 'runs', label: 'Runs' }, { id: 'versions', label: 'Versions' }, { id: 'source', label: 'Source' }];
  const asked = place.value.query.get('tab') ?? '';
  const tab = tabs.some((it) => it.id === asked) ? asked : 'graph';
  return html`<${Tabs} label="Of the workflow" tabs=${tabs} chosen=${tab} choose=${(/** @type {string} */ id) => setQuery({ tab: id, status: undefined })} />
    <${Panel} id=${tab}>
      ${tab === 'graph' && html`<${Drawn} key=${workflow.version} workflow=${workflow} />`}
      ${tab === 'runs' && html`<${RunList} workflow=${workflow.name} />`}
      ${tab === 'versions' && html`<${Versions} key=${workflow.version} workflow=${workflow} />`}
      ${tab === 'source' && html`<${Source} key=${workflow.version} workflow=${workflow.name} version=${workflow.version} />`}
    <//>`;
}

/** @param {{ workflow: Workflow }} props */
function Drawn({ workflow }) {
  const { tasks, problem } = useGraph(workflow.name, workflow.version);
  const [names, setNames] = useState(/** @type {string[] | undefined} */ (undefined));
  if (problem) return html`<${Trouble} problem=${problem} />`;
  if (!tasks) return html`<${Loading} />`;
  return html`<${Graph} tasks=${tasks} hrefOf=${() => undefined} openFold=${(/** @type {import('../fold.js').FoldedNode} */ node) => setNames(node.names)} />
    ${names && html`<${Dialog} title=${counted(names.length, 'task')} close=${() => setNames(undefined)}><ul class="plain">${names.slice(0, 500).map((name) => html`<li key=${name}><bdi>${shown(name)}</bdi></li>`)}</ul>${names.length > 500 && html`<p class="muted">and ${names.length - 500} more</p>`}<//>`}`;
}

/** @param {{ workflow: Workflow }} props */
function Versions({ workflow }) {
  const [all, setAll] = useState(/** @type {{ items?: any[], problem?: any }} */ ({}));
  const last = workflow.version;
  const [from, setFrom] = useState(Math.max(1, last - 1));
  const [upTo, setTo] = useState(last);
  useEffect(() => {
    pages((cursor) => get(path`/workflows/${workflow.name}/versions` + query({ limit: 200, cursor })), 200).then(({ items }) => setAll({ items }), (problem) => setAll({ problem }));
  }, [workflow.name]);
  if (all.problem) return html`<${Trouble} problem=${all.problem} />`;
  if (!all.items) return html`<${Loading} />`;
  return html`<div class="columns versions"><section><h2>Versions</h2><table class="plain-table"><thead><tr><th scope="col">Version</th><th scope="col">Deployed</th><th scope="col"><span class="visually-hidden">Compare</span></th></tr></thead><tbody>
      ${all.items.map((it) => html`<tr key=${it.version}><td>${it.version}${it.version === last ? html` <span class="label">latest</span>` : ''}</td><td><${Ago} at=${it.created_at} /></td><td>${it.version > 1 && html`<button type="button" class="small" aria-pressed=${upTo === it.version && from === it.version - 1} onClick=${() => { setFrom(it.version - 1); setTo(it.version); }}>What changed in ${it.version}</button>`}</td></tr>`)}</tbody></table></section>
    <section>${last > 1 && html`<div class="inline compare"><label for="from">Compare</label><${Which} id="from" all=${all.items} chosen=${from} choose=${setFrom} /><label for="up-to">with</label><${Which} id="up-to" all=${all.items} chosen=${upTo} choose=${setTo} /></div>`}${last === 1 ? html`<${Empty} title="This is the first version."><p>The next <code>mainspring apply</code> of a changed text makes version 2, and here is what changed.</p><//>` : html`<${Diff} workflow=${workflow.name} from=${from} upTo=${upTo} />`}</section></div>`;
}

/** @param {{ id: string, all: any[], chosen: number, choose: (version: number) => void }} props */
function Which({ id, all, chosen, choose }) {
  return html`<select id=${id} value=${String(chosen)} onChange=${(/** @type {any} */ event) => choose(Number(event.target.value))}>${all.map((it) => html`<option key=${it.version} value=${String(it.version)}>version ${it.version}</option>`)}</select>`;
}

/** @param {{ workflow: string, from: number, upTo: number }} props */
function Diff({ workflow, from, upTo }) {
  const [state, setState] = useState(/** @type {{ diff?: any, problem?: any }} */ ({}));
  useEffect(() => {
    let isWanted = true;
    get(path`/workflows/${workflow}/diff` + query({ from, to: upTo })).then((diff) => { if (isWanted) setState({ diff }); }, (problem) => { if (isWanted) setState({ problem }); });
    return () => { isWanted = false; };
  }, [workflow, from, upTo]);
  const { diff, problem } = state;
  if (problem) return html`<${Trouble} problem=${problem} />`;
  if (!diff) return html`<${Loading} />`;
  const kinds = { '+': 'added', '-': 'removed', '@': 'place' };
  const lines = diff.diff.trimEnd().split('\n').slice(2);
  const changed = Object.entries(diff.tasks ?? {}).filter(([, names]) => Array.isArray(names) && names.length > 0);
  return html`<h2>From ${diff.from} to ${diff.to}</h2>
    ${changed.length > 0 && html`<p>${changed.map(([what, names]) => html`<span class="label">${shown(what)}: ${names.map((/** @type {any} */ it) => shown(it.name ?? it)).join(', ')}</span> `)}</p>`}
    ${diff.diff === '' ? html`<${Empty} title="The texts are the same." />` : html`<pre class="diff" tabindex="0" role="region" aria-label="Difference of the texts">${lines.map((/** @type {string} */ line) => html`<div class=${/** @type {any} */ (kinds)[line[0]] ?? ''}>${shown(line) || ' '}</div>`)}</pre>`}`;
}

/** @param {{ workflow: string, version: number }} props */
function Source({ workflow, version }) {
  const [state, setState] = useState(/** @type {{ text?: string, problem?: any }} */ ({}));
  useEffect(() => {
    get(path`/workflows/${workflow}/versions/${version}`).then(({ text }) => setState({ text }), (problem) => setState({ problem }));
  }, [workflow, version]);
  if (state.problem) return html`<${Trouble} problem=${state.problem} />`;
  if (state.text === undefined) return html`<${Loading} />`;
  return html`<div class="log-tools"><span class="muted">Version ${version}, as it was deployed</span><span class="spread"></span><${Copy} text=${state.text} what="the source" /></div>
    <pre class="source" tabindex="0" role="region" aria-label="Source">${state.text.replace(/\n$/, '').split('\n').slice(0, 20_000).map((line) => html`<div class="source-line">${coloured(line)}</div>`)}</pre>`;
}

/** Enough of YAML to find one's way: comments and keys. @param {string} line */
function coloured(line) {
  if (/^\s*#/.test(line)) return html`<span class="y-comment">${shown(line)}</span>`;
  const key = /^(\s*(?:- )?)([\w.-]+|"[^"]*")(:)(?=\s|$)(.*)$/.exec(line);
  if (!key) return shown(line) || ' ';
  return html`${key[1]}<span class="y-key">${shown(key[2])}</span>:${shown(key[4])}`;
}
