// One task, or one instance of a fan-out: how it stands, its attempts side by side, its log, what
// went in and out.

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { get, path, query } from '../api.js';
import { useInSight } from '../book.js';
import { explain, useExplained } from '../explained.js';
import { useRunGraph } from '../graphs.js';
import { throttled, useEars } from '../live.js';
import { shortId } from '../reasons.js';
import { place, to } from '../router.js';
import { shortened, shown } from '../text.js';
import { Empty, Loading, Trouble } from '../parts/basics.js';
import { TaskActions } from '../parts/actions.js';
import { Inside } from '../parts/attempts.js';
import { Instances } from '../parts/instances.js';
import { useLoaded } from '../parts/load.js';
import { Facts, NEEDS_MAX } from '../parts/standing.js';
import { State } from '../parts/state.js';

/** @typedef {import('../shapes.js').Task} Task */
/** @typedef {import('../shapes.js').Attempt} Attempt */

const PAUSE_MS = 300;
const ATTEMPTS_MAX = 200;

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

/**
 * Why it is not running; of a finalizer that waits for others also its place among them.
 * @param {import('../shapes.js').Run | undefined} run @param {string} name @param {number | undefined} index
 */
function useWhy(run, name, index) {
  return useExplained(run, async () => {
    const [told] = (await explain(/** @type {any} */ (run).id, { task: name })).tasks;
    const mine = index === undefined ? told : told?.instances?.find((it) => it.index === index);
    const full = mine?.status === 'worker_done' ? mine.reasons.filter((it) => it.kind === 'limit').map((it) => it.name) : [];
    const tiers = full.length ? /** @type {import('../shapes.js').Tier[]} */ ((await get('/tiers')).items) : [];
    const isMine = (/** @type {import('../shapes.js').Holder} */ it) => it.run === run?.id && it.task === name && it.index === index;
    const places = tiers.filter((tier) => full.includes(tier.name)).map((tier) => ({ name: tier.name, at: tier.waiters.findIndex(isMine) + 1, of: tier.waiting }));
    return { told, place: places.find((it) => it.at > 0 && it.name.startsWith('queue:')) };
  }, `task ${name}`).data;
}

/** @param {{ id: string, name: string }} props */
export function TaskView({ id, name }) {
  const given = place.value.query.get('index') ?? '';
  if (given === '' || /^\d{1,9}$/.test(given)) return html`<${OneTask} id=${id} name=${name} index=${given === '' ? undefined : Number(given)} />`;
  return html`<main id="main" tabindex="-1"><${Crumbs} id=${id} name=${name} /><h1><bdi>${shown(name)}</bdi></h1>
    <${Trouble} problem=${{ title: `“${shortened(given, 40)}” is no instance.`, detail: 'The address asks for one instance of a fan-out; these are numbered from 0.' }} /><p><a href=${to.task(id, name)}>The whole task</a></p></main>`;
}

/** @param {{ id: string, name: string, index?: number }} props */
function OneTask({ id, name, index }) {
  const loaded = useTask(id, name, index);
  const { data, problem } = loaded;
  const graph = useRunGraph(data?.run);
  const called = `${name}${index === undefined ? '' : `[${index}]`}`;
  useEffect(() => { document.title = `${data?.task.status ?? 'task'}: ${called} · Mainspring`; }, [data?.task.status, called]);
  const drawn = useMemo(() => graph.tasks?.find((task) => task.name === name), [graph.tasks, name]);
  const needs = drawn?.depends_on;
  const isAdded = drawn?.added ?? false;
  useInSight(() => graph.tasks?.map((task) => task.name) ?? []);
  const find = useBefore(id, needs);
  const why = useWhy(data?.run, name, index);
  if (!data) {
    return html`<main id="main" tabindex="-1"><${Crumbs} id=${id} name=${name} index=${index} /><h1><bdi>${shown(called)}</bdi></h1>
      ${problem?.code === 'not_started' ? html`<${Empty} title="This instance has not started yet."><p>It shows up here when it does. <a href=${to.task(id, name)}>The whole fan-out</a></p><//>` : problem ? html`<${Trouble} problem=${problem} again=${loaded.again} /><p>${index === undefined ? html`<a href=${to.run(id)}>The whole run</a>` : html`<a href=${to.task(id, name)}>The whole task</a>`}</p>` : html`<${Loading} />`}</main>`;
  }
  const { run, task, attempts, isGroup } = data;
  const explained = index === undefined ? why?.told : why?.told?.instances?.find((it) => it.index === index);
  return html`<main id="main" tabindex="-1">
    <${Crumbs} id=${id} name=${name} index=${index} workflow=${run.workflow} />
    <div class="head"><h1><bdi>${shown(called)}</bdi></h1><${State} status=${task.status} /><span class="spread"></span><${TaskActions} run=${run} task=${task} index=${index} done=${loaded.again} /></div>
    ${problem && html`<${Trouble} problem=${problem} again=${loaded.again} />`}
    <${Facts} task=${task} needs=${needs} find=${find} run=${run} isGroup=${isGroup} isAdded=${isAdded} explained=${explained} place=${why?.place} />
    ${isGroup ? html`<${Instances} run=${run} task=${task} explained=${why?.told?.instances ?? []} atOnce=${why?.told?.reasons.find((it) => it.kind === 'concurrency')?.limit} />` : html`<${Inside} run=${run} task=${task} index=${index} attempts=${attempts} />`}
  </main>`;
}

/** @param {{ id: string, name: string, index?: number, workflow?: string }} props */
function Crumbs({ id, name, index, workflow }) {
  return html`<nav class="crumbs" aria-label="Where this is"><a href=${workflow ? to.workflow(workflow) : to.workflows()}><bdi>${shown(workflow ?? 'Workflows')}</bdi></a> / <a class="mono" href=${to.run(id)}>${shortId(id)}</a> / ${index === undefined ? html`<bdi>${shown(name)}</bdi>` : html`<a href=${to.task(id, name)}><bdi>${shown(name)}</bdi></a> / ${index}`}</nav>`;
}
