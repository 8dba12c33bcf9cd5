// One run: how it stands, what is wrong, and everything in it.

import { html, useEffect, useMemo, useState } from '../html.js';
import { path } from '../api.js';
import { useBook } from '../book.js';
import { useReasons } from '../explained.js';
import { useRunGraph } from '../graphs.js';
import { place, setQuery, to } from '../router.js';
import { counted, number, shown } from '../text.js';
import { isFinal } from '../words.js';
import { Ago, Copy, Empty, Fact, Labels, Loading, Panel, Tabs, Took, Trouble } from '../parts/basics.js';
import { RunActions } from '../parts/actions.js';
import { Explain } from '../parts/explain.js';
import { Counts, State } from '../parts/state.js';
import { Graph } from '../parts/graph.js';
import { TaskTable } from '../parts/tasktable.js';
import { Timeline } from '../parts/timeline.js';
import { Payload } from '../parts/payload.js';
import { StandsStill, useStill } from '../parts/still.js';
import { Why } from '../parts/why.js';
import { Wrong } from '../parts/wrong.js';
import { shortId } from '../reasons.js';

/** @typedef {import('../shapes.js').Run} Run */
/** @typedef {import('../shapes.js').Task} Task */

/** @param {{ id: string }} props */
export function RunView({ id }) {
  const { book, again } = useBook(id);
  const { run } = book;
  const graph = useRunGraph(run);
  const tasks = useMemo(() => [...book.tasks.values()], [book.edition]);
  const needs = useMemo(() => new Map(graph.tasks?.map((task) => [task.name, task.depends_on])), [graph.tasks]);
  const added = useMemo(() => new Set(graph.tasks?.filter((task) => task.added).map((task) => task.name)), [graph.tasks]);
  const tab = tabOf(run);
  const isStill = useStill(run, tasks, book.isWhole);
  const reasons = useReasons(run, tab === 'tasks' || isStill || (run !== undefined && run.status !== 'running'));
  useEffect(() => { document.title = run ? `${run.status}: ${run.workflow} · Mainspring` : 'Run · Mainspring'; }, [run?.status, run?.workflow]);
  if (!run) return html`<main id="main" tabindex="-1"><h1>Run</h1>${book.problem ? html`<${Trouble} problem=${book.problem} again=${again} /><p>It may have been removed after its time: <a href=${to.runs()}>all runs</a></p>` : html`<${Loading} />`}</main>`;
  const find = (/** @type {string} */ name) => book.tasks.get(name);
  const needsOf = (/** @type {string} */ name) => needs.get(name);
  return html`<main id="main" tabindex="-1">
    <${Head} run=${run} hasChildren=${tasks.some((task) => task.kind === 'workflow' && task.attempt > 0)} />
    ${book.problem && html`<${Trouble} problem=${book.problem} again=${again} />`}
    <${Counts} counts=${book.counts()} label="Tasks" hrefOf=${(/** @type {string} */ status) => to.run(id, 'tasks', status)} />
    ${(reasons.first?.reasons.length ?? 0) > 0 && html`<div class="callout tone-paused"><strong>Why the run does not go on:</strong> <${Why} reasons=${reasons.first?.reasons} run=${id} /></div>`}
    <${Wrong} run=${run} tasks=${tasks} />
    <${Body} run=${run} tab=${tab} book=${book} tasks=${tasks} graph=${graph} find=${find} needsOf=${needsOf} reasons=${reasons} added=${added} isStill=${isStill} />
  </main>`;
}

const TABS = [{ id: 'graph', label: 'Graph' }, { id: 'timeline', label: 'Timeline' }, { id: 'tasks', label: 'Tasks' }, { id: 'why', label: 'Why not running' }, { id: 'data', label: 'Input and output' }];

/** What one run is asked for; of one that is over nothing has to be explained. @param {Run | undefined} run */
function tabsOf(run) {
  return run && isFinal(run.status) ? TABS.filter((tab) => tab.id !== 'why') : TABS;
}

/** @param {Run | undefined} run */
function tabOf(run) {
  const asked = place.value.query.get('tab') ?? '';
  return tabsOf(run).some((tab) => tab.id === asked) ? asked : 'graph';
}

/** @param {{ run: Run, hasChildren: boolean }} props */
function Head({ run, hasChildren }) {
  return html`<nav class="crumbs" aria-label="Where this is"><a href=${to.workflows()}>Workflows</a> / <a href=${to.workflow(run.workflow)}><bdi>${shown(run.workflow)}</bdi></a> / <span class="mono">${shortId(run.id)}</span></nav>
    <div class="head"><h1><bdi>${shown(run.workflow)}</bdi></h1><${State} status=${run.status} /><span class="spread"></span><${RunActions} run=${run} /></div>
    <dl class="facts">
      <${Fact} name="Run" className="wide"><span class="mono id">${run.id}</span> <${Copy} text=${run.id} what="the id of the run" /><//>
      <${Fact} name="Started"><${Ago} at=${run.started_at ?? run.created_at} />${!run.parent && html` by <bdi>${shown(run.triggered_by)}</bdi>`}<//>
      <${Fact} name=${isFinal(run.status) ? 'Took' : 'Running for'}><${Took} from=${run.started_at ?? run.created_at} to=${run.finished_at} /><//>
      <${Fact} name="Version"><a href=${to.workflow(run.workflow, 'versions')}>${run.version}</a><//>
      ${run.priority !== 0 && html`<${Fact} name="Priority">${run.priority}<//>`}
      ${run.parent && html`<${Fact} name="Child of"><a class="mono" href=${to.run(run.parent.run)}>${shortId(run.parent.run)}</a>, task <a href=${to.task(run.parent.run, run.parent.task, run.parent.index)}><bdi>${shown(run.parent.task)}</bdi>${run.parent.index === undefined ? '' : `[${run.parent.index}]`}</a><//>`}
      ${hasChildren && html`<${Fact} name="Child runs"><a href=${to.runs({ parent: run.id })}>all of them</a><//>`}
      ${run.retry_of && html`<${Fact} name="Runs anew"><a class="mono" href=${to.run(run.retry_of)}>${shortId(run.retry_of)}</a><//>`}
      ${Object.keys(run.labels).length > 0 && html`<${Fact} name="Labels"><${Labels} labels=${run.labels} hrefOf=${(/** @type {string} */ label) => to.runs({ label })} /><//>`}
    </dl>`;
}

/**
 * @param {{ run: Run, tab: string, book: import('../book.js').Book, tasks: Task[], graph: { tasks?: import('../shapes.js').GraphTask[], problem?: any },
 *   find: (name: string) => Task | undefined, needsOf: (name: string) => { task: string, when: string }[] | undefined,
 *   reasons: import('../explained.js').Reasons, added: Set<string>, isStill: boolean }} props
 */
function Body({ run, tab, book, tasks, graph, find, needsOf, reasons, added, isStill }) {
  const [within, setWithin] = useState(/** @type {{ label: string, names: Set<string> } | undefined} */ (undefined));
  const openFold = (/** @type {import('../fold.js').FoldedNode} */ node) => {
    setWithin({ label: `${counted(node.names.length, 'task')} from ${node.names[0]}`, names: new Set(node.names) });
    setQuery({ tab: 'tasks' }, 'push');
  };
  return html`<${Tabs} label="Views of the run" tabs=${tabsOf(run)} chosen=${tab} choose=${(/** @type {string} */ id) => setQuery({ tab: id, state: undefined })} />
    <${Panel} id=${tab}>
      ${isStill && (tab === 'graph' || tab === 'timeline') && reasons.first?.reasons.length === 0 && html`<${StandsStill} run=${run} told=${reasons.first} />`}
      ${!book.isWhole && tab !== 'data' && tab !== 'why' && html`<${Loading} label=${`${number(book.tasks.size)} of ${number(run.tasks.total ?? 0)} tasks loaded`} />`}
      ${tab === 'graph' && (graph.problem ? html`<${Trouble} problem=${graph.problem} />` : graph.tasks ? html`<${Graph} tasks=${graph.tasks} stateOf=${find} hrefOf=${(/** @type {string} */ name) => to.task(run.id, name)} openFold=${openFold} isKnown=${book.isWhole} />` : html`<${Loading} />`)}
      ${tab === 'timeline' && html`<${Timeline} run=${run} tasks=${tasks} edition=${book.edition} find=${find} needsOf=${needsOf} added=${added} />`}
      ${tab === 'why' && html`<${Explain} run=${run} />`}
      ${tab === 'tasks' && html`<${TaskTable} run=${run} tasks=${tasks} edition=${book.edition} reasons=${reasons} added=${added} within=${within} leave=${() => setWithin(undefined)} />`}
      ${tab === 'data' && html`<${Data} run=${run} />`}
    <//>`;
}

/** @param {{ run: Run }} props */
function Data({ run }) {
  const isEmpty = run.input === undefined || (typeof run.input === 'object' && run.input !== null && Object.keys(run.input).length === 0);
  return html`<div class="columns"><section><h2>Input</h2>${isEmpty ? html`<${Empty} title="It was started without input." />` : html`<${Payload} value=${run.input} label="Input of the run" />`}</section>
    <section><h2>Output</h2><${Payload} value=${run.output} blob=${run.output_blob} href=${path`/runs/${run.id}/output`} label="Output of the run"
      none=${isFinal(run.status) ? 'Nothing: the workflow has no outputs, or the run did not succeed.' : 'Not yet: outputs are there when the run has succeeded.'} /></section></div>`;
}
