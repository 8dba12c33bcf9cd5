// One task, or one instance of a fan-out: its attempts side by side, its log, what went in and out.

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { get, path, query } from '../api.js';
import { useRunGraph } from '../graphs.js';
import { throttled, useEars } from '../live.js';
import { place, setQuery, to } from '../router.js';
import { now } from '../time.js';
import { shown } from '../text.js';
import { hasLog, isParked, isSettled, word } from '../words.js';
import { whyNot } from '../why.js';
import { Ago, Clock, Empty, Fact, Loading, Panel, Tabs, Took, Trouble } from '../parts/basics.js';
import { TaskActions } from '../parts/actions.js';
import { Instances } from '../parts/instances.js';
import { useLoaded } from '../parts/load.js';
import { LogView } from '../parts/logview.js';
import { Payload } from '../parts/payload.js';
import { shortId } from '../parts/runlist.js';
import { Shape, State } from '../parts/state.js';

/** @typedef {import('../shapes.js').Task} Task */
/** @typedef {import('../shapes.js').Attempt} Attempt */

const PAUSE_MS = 300;
const ATTEMPTS_MAX = 200;
/** Tasks before it that are shown; of more, how many there are. */
const NEEDS_MAX = 20;

/** @param {string} id @param {string} name @param {number | undefined} index */
function useTask(id, name, index) {
  const load = async (/** @type {AbortSignal} */ signal) => {
    const at = path`/runs/${id}/tasks/${name}`;
    const [run, task] = await Promise.all([get(path`/runs/${id}`, signal), get(at + query({ index }), signal)]);
    const isGroup = index === undefined && (task.count !== undefined || task.instances !== undefined);
    const attempts = isGroup || task.attempt === 0 ? [] : (await get(`${at}/attempts${query({ index, limit: ATTEMPTS_MAX })}`, signal)).items;
    return { run, task: /** @type {Task} */ (task), attempts: /** @type {Attempt[]} */ (attempts), isGroup };
  };
  const again = useMemo(() => throttled(() => void latest.again?.(), PAUSE_MS), []);
  const latest = useMemo(() => ({ again: /** @type {undefined | (() => unknown)} */ (undefined) }), []);
  const loaded = useLoaded(load, {
    keys: [id, name, index],
    run: id,
    hear: {
      run: (run, change) => change((data) => ({ ...data, run: { ...run, output: data.run.output } })),
      tasks: (tasks, change) => {
        const mine = tasks.find((task) => task.name === name);
        if (mine && index === undefined) change((data) => ({ ...data, task: { input: data.task.input, output: data.task.output, output_blob: data.task.output_blob, ...mine } }));
        // Attempts and outputs are not told of: they are asked for when the task has moved.
        if (mine) again();
      },
    },
  });
  latest.again = loaded.again;
  return loaded;
}

/**
 * The tasks before it: asked for once, then heard of.
 * @param {string} id @param {{ task: string, when: string }[] | undefined} needs
 */
function useBefore(id, needs) {
  const known = useRef(/** @type {Map<string, Task>} */ (new Map()));
  const [, setEdition] = useState(0);
  const show = () => setEdition((n) => n + 1);
  const load = () => {
    for (const { task: name } of (needs ?? []).slice(0, NEEDS_MAX)) {
      get(path`/runs/${id}/tasks/${name}`).then((task) => { known.current.set(name, task); show(); }, () => {});
    }
  };
  useEffect(load, [id, needs]);
  useEars({
    fresh: load,
    tasks: (run, tasks) => {
      const mine = run === id ? tasks.filter((task) => needs?.some((need) => need.task === task.name)) : [];
      for (const task of mine) known.current.set(task.name, task);
      if (mine.length) show();
    },
  });
  return (/** @type {string} */ name) => known.current.get(name);
}

/** @param {{ id: string, name: string }} props */
export function TaskView({ id, name }) {
  const given = place.value.query.get('index');
  const index = given === null || given === '' ? undefined : Number(given);
  const loaded = useTask(id, name, index);
  const { data, problem } = loaded;
  const graph = useRunGraph(data?.run);
  const called = `${name}${index === undefined ? '' : `[${index}]`}`;
  useEffect(() => { document.title = `${data?.task.status ?? 'task'}: ${called} · Mainspring`; }, [data?.task.status, called]);
  const needs = useMemo(() => graph.tasks?.find((task) => task.name === name)?.depends_on, [graph.tasks, name]);
  const find = useBefore(id, needs);
  if (!data) {
    return html`<main id="main" tabindex="-1"><${Crumbs} id=${id} name=${name} index=${index} /><h1><bdi>${shown(called)}</bdi></h1>
      ${problem?.code === 'not_started' ? html`<${Empty} title="This instance has not started yet."><p>It shows up here when it does. <a href=${to.task(id, name)}>The whole fan-out</a></p><//>` : problem ? html`<${Trouble} problem=${problem} again=${loaded.again} />` : html`<${Loading} />`}</main>`;
  }
  const { run, task, attempts, isGroup } = data;
  return html`<main id="main" tabindex="-1">
    <${Crumbs} id=${id} name=${name} index=${index} workflow=${run.workflow} />
    <div class="head"><h1><bdi>${shown(called)}</bdi></h1><${State} status=${task.status} /><span class="spread"></span><${TaskActions} run=${run} task=${task} index=${index} done=${loaded.again} /></div>
    ${problem && html`<${Trouble} problem=${problem} again=${loaded.again} />`}
    <${Facts} task=${task} needs=${needs} find=${find} run=${run} isGroup=${isGroup} />
    ${isGroup ? html`<${Instances} run=${run} task=${task} />` : html`<${Inside} run=${run} task=${task} index=${index} attempts=${attempts} />`}
  </main>`;
}

/** @param {{ id: string, name: string, index?: number, workflow?: string }} props */
function Crumbs({ id, name, index, workflow }) {
  return html`<nav class="crumbs" aria-label="Where this is"><a href=${workflow ? to.workflow(workflow) : to.workflows()}><bdi>${shown(workflow ?? 'Workflows')}</bdi></a> / <a class="mono" href=${to.run(id)}>${shortId(id)}</a> / ${index === undefined ? html`<bdi>${shown(name)}</bdi>` : html`<a href=${to.task(id, name)}><bdi>${shown(name)}</bdi></a> / ${index}`}</nav>`;
}

/** @param {{ task: Task, needs: { task: string, when: string }[] | undefined, find: (name: string) => Task | undefined, run: any, isGroup: boolean }} props */
function Facts({ task, needs, find, run, isGroup }) {
  const why = task.status === 'running' || (task.status === 'success' && !task.reason) ? '' : whyNot(task, needs, find, run, task.retry_at || task.status === 'waiting' ? now.value : now.peek());
  return html`${why && !task.error && html`<div class=${`callout tone-${task.status === 'blocked' ? 'blocked' : 'waiting'}`}><div><strong>${task.status === 'waiting' ? 'It is parked:' : isSettled(task.status) ? `Why it is ${word(task.status)}:` : 'Why it is not running:'}</strong> <bdi>${shown(why)}</bdi></div></div>`}
    ${task.error && html`<div class="callout tone-failed"><div><strong>${shown(task.error.class)}:</strong> <bdi>${shown(task.error.message)}</bdi></div>${task.retry_at && !isSettled(task.status) && html`<div>${shown(why)}</div>`}</div>`}
    <dl class="facts">
      <${Fact} name="Kind">${shown(task.kind)}<//>
      ${task.attempt > 0 && !isGroup && !isParked(task.kind) && html`<${Fact} name="Attempt">${task.attempt}${task.tries_max > 1 ? ` (${task.tries} of ${task.tries_max} failures used)` : ''}<//>`}
      ${task.started_at && html`<${Fact} name="Started"><${Ago} at=${task.started_at} /><//>`}
      ${task.started_at && (task.finished_at || ['running', 'dispatched', 'worker_done', 'waiting'].includes(task.status)) && html`<${Fact} name=${task.finished_at ? 'Took' : task.status === 'waiting' ? 'Waiting for' : 'Running for'}><${Took} from=${task.started_at} to=${task.finished_at} /><//>`}
      ${task.tier && html`<${Fact} name="Tier"><bdi>${shown(task.tier)}</bdi><//>`}
      ${(task.losses ?? 0) > 0 && html`<${Fact} name="Losses">${task.losses}<//>`}
      ${task.held && html`<${Fact} name="Held by"><bdi>${shown(task.held.by ?? 'somebody')}</bdi><//>`}
      ${needs && needs.length > 0 && html`<${Fact} name="After"><span class="needs">${needs.slice(0, NEEDS_MAX).map((need) => html`<a key=${need.task} href=${to.task(run.id, need.task)}><${Shape} status=${find(need.task)?.status ?? 'pending'} /><bdi>${shown(need.task)}</bdi></a>`)}${needs.length > NEEDS_MAX ? ` and ${needs.length - NEEDS_MAX} more` : ''}</span><//>`}
    </dl>`;
}

/** @param {{ run: any, task: Task, index?: number, attempts: Attempt[] }} props */
function Inside({ run, task, index, attempts }) {
  const chosen = Number(place.value.query.get('attempt')) || 0;
  const asked = place.value.query.get('tab') ?? '';
  const tabs = [...(hasLog(task.kind) ? [{ id: 'log', label: 'Log' }] : []), { id: 'data', label: 'Input and output' }];
  const tab = asked === 'data' || !hasLog(task.kind) ? 'data' : 'log';
  const isCurrent = chosen === 0 || chosen === task.attempt;
  const past = isCurrent ? undefined : attempts.findLast((it) => it.attempt === chosen);
  return html`${attempts.length > (isParked(task.kind) ? 1 : 0) && html`<${Attempts} attempts=${attempts} chosen=${isCurrent ? task.attempt : chosen} choose=${(/** @type {number} */ n) => setQuery({ attempt: n === task.attempt ? undefined : n })} />`}
    <${Tabs} label="Of the task" tabs=${tabs} chosen=${tab} choose=${(/** @type {string} */ id) => setQuery({ tab: id === 'log' ? undefined : id })} />
    <${Panel} id=${tab}>
      ${tab === 'log' && task.attempt === 0 && html`<${Empty} title=${isSettled(task.status) ? 'There is no log: it did not run.' : 'There is no log yet: it has not started.'}><p>${isSettled(task.status) ? '' : 'Lines show up here as they are written.'}</p><//>`}
      ${tab === 'log' && task.attempt > 0 && html`<${LogView} run=${run.id} task=${task.name} index=${index} attempt=${isCurrent ? task.attempt : chosen} isCurrent=${isCurrent} isSettled=${isSettled(task.status)} />`}
      ${tab === 'data' && html`<div class="columns"><section><h2>Input</h2><${Payload} value=${task.input} label="Input of the task" none="It has no input of its own." /></section>
        <section><h2>Output${past ? ` of attempt ${chosen}` : ''}</h2><${Payload} value=${(past ?? task).output} blob=${(past ?? task).output_blob} href=${path`/runs/${run.id}/tasks/${task.name}/output` + query({ index })} label="Output of the task" none=${isSettled(task.status) ? 'It put out nothing.' : 'Not yet.'} /></section></div>`}
    <//>`;
}

/** @param {{ attempts: Attempt[], chosen: number, choose: (n: number) => void }} props */
function Attempts({ attempts, chosen, choose }) {
  return html`<section aria-label="Attempts"><ul class="attempts" tabindex=${attempts.length > 3 ? 0 : undefined}>${attempts.map((it) => html`<li key=${it.id}><button type="button" class="attempt" aria-pressed=${it.attempt === chosen} onClick=${() => choose(it.attempt)}>
    <span class="attempt-head"><strong>Attempt ${it.attempt}${it.role === 'finalize' ? ', finalizer' : ''}</strong><${State} status=${it.status} /></span>
    <span class="muted"><${Clock} at=${it.started_at ?? it.dispatched_at} />, ${it.started_at ? html`<${Took} from=${it.started_at} to=${it.finished_at} />` : 'never started'}</span>
    ${it.error && html`<span class="attempt-error"><bdi>${shown(it.error.message).slice(0, 200)}</bdi></span>`}</button></li>`)}</ul></section>`;
}
