// What was tried: attempts side by side, those at the work and those at landing it, each with its
// log; and what went in and out.

import { html, useEffect, useRef } from '../html.js';
import { path, query } from '../api.js';
import { place, setQuery } from '../router.js';
import { shown } from '../text.js';
import { hasLog, isParked, isSettled } from '../words.js';
import { Clock, Empty, Panel, Tabs, Took } from './basics.js';
import { LogView } from './logview.js';
import { Payload } from './payload.js';
import { State } from './state.js';

/** @typedef {import('../shapes.js').Task} Task */
/** @typedef {import('../shapes.js').Attempt} Attempt */

/** @param {{ run: any, task: Task, index?: number, attempts: Attempt[] }} props */
export function Inside({ run, task, index, attempts }) {
  const isLog = hasLog(task.kind) || attempts.some((it) => it.role === 'finalize');
  const chosen = Number(place.value.query.get('attempt')) || 0;
  const asked = place.value.query.get('tab') ?? '';
  const tabs = [...(isLog ? [{ id: 'log', label: 'Log' }] : []), { id: 'data', label: 'Input and output' }];
  const tab = asked === 'data' || !isLog ? 'data' : 'log';
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
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  // Of more than there is room for, the one that is chosen is in sight.
  useEffect(() => {
    const it = /** @type {HTMLElement | null | undefined} */ (list.current?.querySelector('[aria-pressed="true"]'));
    if (it && list.current) list.current.scrollLeft += it.getBoundingClientRect().left - list.current.getBoundingClientRect().left - (list.current.clientWidth - it.offsetWidth) / 2;
  }, [chosen, attempts.length]);
  return html`<section aria-label="Attempts"><ul class="attempts" ref=${list} tabindex=${attempts.length > 3 ? 0 : undefined}>${attempts.map((it) => html`<li key=${it.id}><button type="button" class="attempt" aria-pressed=${it.attempt === chosen} onClick=${() => choose(it.attempt)}>
    <span class="attempt-head"><strong>Attempt ${it.attempt}</strong><${State} status=${it.status} /></span>
    <span class="muted">${it.role === 'finalize' && html`<span class="label">finalizer</span> `}<${Clock} at=${it.started_at ?? it.dispatched_at} />, ${it.started_at ? html`<${Took} from=${it.started_at} to=${it.finished_at} />` : 'never started'}</span>
    ${it.error && html`<span class="attempt-error"><bdi>${shown(it.error.message).slice(0, 200)}</bdi></span>`}</button></li>`)}</ul></section>`;
}
