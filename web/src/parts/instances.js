// The instances of a fan-out that have been started, as many as one scrolls to; the others are a
// number.

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { get, path, query } from '../api.js';
import { throttled } from '../live.js';
import { isNarrow } from '../room.js';
import { go, place, setQuery, to } from '../router.js';
import { counted, number } from '../text.js';
import { isSettled, ORDER, word } from '../words.js';
import { Clock, Empty, Loading, Panel, Tabs, Took, Trouble } from './basics.js';
import { Payload } from './payload.js';
import { Cell, Rows } from './rows.js';
import { Counts, Shape, State } from './state.js';
import { WhyBriefly } from './why.js';

/** @typedef {import('../shapes.js').Task} Task */

const PAGE = 500;
const HEIGHT = 36;
/** Two lines: why comes below. */
const HEIGHT_NARROW = 54;
const PAUSE_MS = 1000;

/** @param {{ run: any, task: Task, explained: import('../shapes.js').Explained[], atOnce?: number }} props explained: instances without an outcome, the first of them; atOnce: how many of it may be at work */
export function Instances({ run, task, explained, atOnce }) {
  const { total = 0, ...counts } = task.instances ?? {};
  const [tab, setTab] = useState('instances');
  // In the address, so that a link can lead to those that failed.
  const states = (place.value.query.get('state') ?? '').split(',').filter((status) => ORDER.includes(status));
  const toggle = (/** @type {string} */ status) => setQuery({ state: (states.includes(status) ? states.filter((it) => it !== status) : [...states, status]).join(',') });
  const goTo = (/** @type {any} */ event) => {
    event.preventDefault();
    const wanted = new FormData(event.target).get('index');
    if (wanted !== null && wanted !== '') go(to.task(run.id, task.name, Number(wanted)));
  };
  if (!task.instances) return html`<${Empty} title="It has not fanned out yet."><p>How many instances there are is known when what it depends on has ended.</p><//>`;
  return html`<${Counts} counts=${counts} label="Instances" />
    <${Tabs} label="Of the fan-out" tabs=${[{ id: 'instances', label: counted(total, 'instance') }, { id: 'data', label: 'Input and output' }]} chosen=${tab} choose=${setTab} />
    <${Panel} id=${tab}>
      ${tab === 'data' && html`<div class="columns"><section><h2>Input</h2><${Payload} value=${task.input} label="Input of the task" none="It has no input of its own." /></section><section><h2>Output, a list</h2><${Payload} value=${task.output} blob=${task.output_blob} href=${path`/runs/${run.id}/tasks/${task.name}/output`} label="Output of the task" none=${isSettled(task.status) ? 'It put out nothing.' : 'Not yet.'} /></section></div>`}
      ${tab === 'instances' && html`<div class="filters" role="group" aria-label="Filter">
        ${ORDER.filter((status) => counts[status] || states.includes(status)).map((status) => html`<button key=${status} type="button" class="chip" aria-pressed=${states.includes(status)} onClick=${() => toggle(status)}><${Shape} status=${status} />${number(counts[status] ?? 0)} ${word(status)}</button>`)}
        <span class="spread"></span><form class="inline" onSubmit=${goTo}><label for="index">Go to</label><input id="index" name="index" type="number" min="0" max=${Math.max(0, total - 1)} placeholder="index" /><button type="submit">Open</button></form></div>
        <${List} run=${run} task=${task} states=${states} explained=${explained} atOnce=${atOnce} />`}
    <//>`;
}

/** Those of which the server has no more than their number. @param {{ count: number, atOnce?: number }} props */
function Unopened({ count, atOnce }) {
  return html`<p class="muted small-print">${counted(count, 'instance')} ${count === 1 ? 'has' : 'have'} not been opened yet${atOnce === undefined ? '' : `: at most ${number(atOnce)} at once`}.</p>`;
}

/** @param {{ run: any, task: Task, states: string[], explained: import('../shapes.js').Explained[], atOnce?: number }} props */
function List({ run, task, states, explained, atOnce }) {
  const told = useMemo(() => new Map(explained.map((it) => [it.index, it])), [explained]);
  const [list, setList] = useState(/** @type {{ items?: Task[], next?: string, problem?: any }} */ ({}));
  const asked = useRef('');
  const status = states.join(',');
  const page = (/** @type {string | undefined} */ cursor, /** @type {number} */ limit) => get(path`/runs/${run.id}/tasks/${task.name}/instances` + query({ status, limit, cursor }));
  const state = useRef(list);
  state.current = list;
  /** What the list is of now: an answer to what was asked for before is none of it. */
  const shown = useRef(status);
  shown.current = status;
  // As much as is on the screen already is asked for anew when the counts have changed.
  const refresh = useMemo(() => throttled(async () => {
    try {
      const wanted = Math.max(PAGE, Math.min(1000, state.current.items?.length ?? 0));
      const first = await page(undefined, wanted);
      if (shown.current !== status) return;
      const kept = (state.current.items ?? []).slice(first.items.length);
      const isLonger = first.next_cursor && kept.length > 0;
      setList(isLonger ? { items: [...first.items, ...kept], next: state.current.next } : { items: first.items, next: first.next_cursor });
    } catch (problem) {
      if (shown.current === status) setList((before) => ({ ...before, problem }));
    }
  }, PAUSE_MS), [run.id, task.name, status]);
  useEffect(() => {
    setList({});
    state.current = {};
    asked.current = '';
  }, [status]);
  useEffect(refresh, [status, JSON.stringify(task.instances)]);
  const { items, next, problem } = list;
  if (problem) return html`<${Trouble} problem=${problem} again=${refresh} />`;
  if (!items) return html`<${Loading} />`;
  const closed = isSettled(task.status) || (states.length > 0 && !states.includes('pending')) ? 0 : (task.instances?.pending ?? 0) - items.filter((it) => it.status === 'pending').length;
  const unopened = !next && closed > 0 && html`<${Unopened} count=${closed} atOnce=${atOnce} />`;
  if (items.length === 0) return html`<${Empty} title=${status ? 'No instance that has been opened is like that.' : 'No instance has been opened yet.'}>${unopened}<//>`;
  const near = next ? async () => {
    if (asked.current === next) return;
    asked.current = next;
    const more = await page(next, PAGE).catch(() => undefined);
    if (asked.current === next) asked.current = '';
    // A list that was loaded again meanwhile may end elsewhere.
    if (more && shown.current === status) setList((before) => (before.next === next ? { items: [...(before.items ?? []), ...more.items], next: more.next_cursor } : before));
  } : undefined;
  const columns = html`<${Cell} head className="c-state">State<//><${Cell} head className=${isNarrow.value ? 'grow' : 'c-num'}>Index<//><${Cell} head className="c-num wide roomy">Attempt<//><${Cell} head className="c-time wide roomy">Started<//><${Cell} head className="c-took">Took<//><${Cell} head className="grow wide">Why<//>`;
  const row = (/** @type {number} */ i) => {
    const it = items[i];
    const why = html`<${WhyBriefly} task=${it} explained=${told.get(it.index)} run=${run.id} />`;
    return html`<${Cell} className="c-state"><${State} status=${it.status} /><//><${Cell} className=${isNarrow.value ? 'grow' : 'c-num'}><a class="stretched" href=${to.task(run.id, task.name, it.index)}>${it.index}</a>${isNarrow.value && html`<div class="second-line">${why}</div>`}<//><${Cell} className="c-num wide roomy">${it.attempt}<//><${Cell} className="c-time wide roomy"><${Clock} at=${it.started_at} /><//>
      <${Cell} className="c-took">${it.started_at && (it.finished_at || it.status === 'running') && html`<${Took} from=${it.started_at} to=${it.finished_at} />`}<//>${!isNarrow.value && html`<${Cell} className="grow wide one-line">${why}<//>`}`;
  };
  return html`<${Rows} label="Instances" count=${items.length} total=${task.instances?.total} height=${isNarrow.value ? HEIGHT_NARROW : HEIGHT} row=${row} columns=${columns} near=${near} keyOf=${(/** @type {number} */ i) => items[i].index} className="tasks" />
    ${unopened}`;
}
