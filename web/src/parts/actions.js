// What a person may do to a run or a task, as far as it applies and the server has it.

import { html, useEffect, useState } from '../html.js';
import { mayAdminister, mayOperate, path, query } from '../api.js';
import { tasksInSight } from '../book.js';
import { go, to } from '../router.js';
import { useKeys } from '../keys.js';
import { isFinal, isSettled } from '../words.js';
import { parkedFor } from '../reasons.js';
import { counted, shown } from '../text.js';
import { AddDialog } from './add.js';
import { Ask } from './ask.js';
import { Dialog, Trouble } from './basics.js';
import { useDoing } from './doing.js';
import { Decide } from '../views/approvals.js';

/** @typedef {import('../shapes.js').Run} Run */
/** @typedef {import('../shapes.js').Task} Task */

/** What a key asks before it changes a run. @type {Record<string, import('./ask.js').Question>} */
const ASKED = {
  pause: { title: 'Pause the run?', text: 'What runs goes on; nothing new starts until the run is resumed.', verb: 'Pause' },
  resume: { title: 'Resume the run?', text: 'What can start starts.', verb: 'Resume' },
  retry: { title: 'Retry what failed?', text: 'What failed or was cancelled runs again, and what comes after it.', verb: 'Retry' },
};

/** @param {{ run: Run }} props */
export function RunActions({ run }) {
  const { status } = run;
  const { problem, busy, act, again } = useDoing(status);
  const [asking, setAsking] = useState(/** @type {'' | 'add' | 'cancel' | 'pause' | 'rerun' | 'resume' | 'retry' | 'signal'} */ (''));
  const close = () => setAsking('');
  // What a key has asked about is another question by then.
  useEffect(() => { if (asking in ASKED) close(); }, [status]);
  const order = (/** @type {string} */ verb, /** @type {string} */ done) => act({ url: path`/runs/${run.id}/${verb}`, done, after: close });
  const can = {
    pause: mayOperate() && (status === 'running' || status === 'pending'),
    resume: mayOperate() && status === 'paused',
    cancel: mayOperate() && !isFinal(status),
    // A child is tried again by its parent.
    retry: mayOperate() && (status === 'failed' || status === 'cancelled') && !run.parent,
    rerun: mayOperate() && isFinal(status) && !run.parent,
    signal: mayOperate() && !isFinal(status),
    // It says what may run, as a deploy does.
    add: mayAdminister() && !isFinal(status) && status !== 'cancelling',
  };
  const orders = {
    pause: () => order('pause', 'Paused: what runs goes on, nothing new starts.'),
    resume: () => order('resume', 'The run goes on.'),
    retry: () => order('retry', 'What failed or was cancelled runs again.'),
  };
  useKeys([
    { keys: 'p', does: 'Pause or resume the run', act: () => setAsking(can.pause ? 'pause' : 'resume'), when: () => can.pause || can.resume },
    { keys: 'c', does: 'Cancel the run', act: () => setAsking('cancel'), when: () => can.cancel },
    { keys: 'r', does: 'Retry what failed', act: () => setAsking('retry'), when: () => can.retry },
  ]);
  return html`<div class="actions" role="group" aria-label="Actions on the run">
    ${can.retry && html`<button type="button" class="primary" disabled=${busy} onClick=${orders.retry}>Retry what ${status === 'failed' ? 'failed' : 'was cancelled'}</button>`}
    ${can.resume && html`<button type="button" class="primary" disabled=${busy} onClick=${orders.resume}>Resume</button>`}
    ${can.pause && html`<button type="button" disabled=${busy} onClick=${orders.pause}>Pause</button>`}
    ${can.rerun && html`<button type="button" disabled=${busy} onClick=${() => setAsking('rerun')}>Run again…</button>`}
    ${can.signal && html`<button type="button" disabled=${busy} onClick=${() => setAsking('signal')}>Signal…</button>`}
    ${can.add && html`<button type="button" disabled=${busy} onClick=${() => setAsking('add')}>Add tasks…</button>`}
    ${can.cancel && html`<button type="button" class="danger" disabled=${busy} onClick=${() => setAsking('cancel')}>Cancel…</button>`}
  </div>
  ${problem && !asking && html`<${Trouble} problem=${problem} again=${again} />`}
  ${(asking === 'pause' || asking === 'resume' || asking === 'retry') && html`<${Ask} question=${ASKED[asking]} busy=${busy} problem=${problem} yes=${orders[asking]} close=${close} />`}
  ${asking === 'add' && html`<${AddDialog} run=${run.id} close=${close} />`}
  ${asking === 'cancel' && html`<${CancelDialog} what="run" live=${run.tasks.running ?? 0} isCancelling=${status === 'cancelling'} close=${close}
    urlOf=${(/** @type {boolean} */ force) => path`/runs/${run.id}/cancel` + query({ force: force || undefined })} />`}
  ${asking === 'rerun' && html`<${RerunDialog} run=${run} close=${close} />`}
  ${asking === 'signal' && html`<${SignalDialog} run=${run.id} close=${close} />`}`;
}

/** @param {{ what: string, live: number, isCancelling?: boolean, close: () => void, urlOf: (force: boolean) => string, done?: () => void }} props */
function CancelDialog({ what, live, isCancelling, close, urlOf, done }) {
  const { problem, busy, act } = useDoing();
  const [force, setForce] = useState(false);
  const after = () => {
    close();
    done?.();
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void act({ url: urlOf(force), done: force ? `The ${what} was given up.` : `The ${what} is being cancelled.`, after });
  };
  return html`<${Dialog} title=${`Cancel the ${what}?`} close=${close}><form onSubmit=${submit}>
    <p>${isCancelling ? 'It is being cancelled already: what still runs is being stopped.' : `${live > 0 ? `${counted(live, 'task')} at work ${live === 1 ? 'is' : 'are'} stopped; nothing` : 'Nothing'} new starts. A retry can take it up again later.`}</p>
    <label class="check"><input type="checkbox" checked=${force} onChange=${(/** @type {any} */ event) => setForce(event.target.checked)} /> Do not wait until the work is gone: record it as abandoned</label>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div class="dialog-tools"><button type="button" autofocus onClick=${close}>Leave it</button><button type="submit" class="danger" disabled=${busy}>Cancel the ${what}</button></div></form><//>`;
}

/** @param {{ run: Run, from?: string, close: () => void }} props from: the task to begin at, as long as nobody says another */
function RerunDialog({ run, from = '', close }) {
  const { problem, busy, act } = useDoing();
  const [start, setStart] = useState(from);
  const [version, setVersion] = useState('same');
  const after = (/** @type {Run} */ made) => {
    close();
    go(to.run(made.id));
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void act({ url: path`/runs/${run.id}/rerun`, body: { ...(start ? { from: start } : {}), version }, done: 'A new run with the same input has been started.', after });
  };
  return html`<${Dialog} title=${from ? `Run again from ${shown(from)}` : 'Run again'} close=${close}><form onSubmit=${submit}>
    <p>A new run with the same input; this one stays as it is. With a task to begin at, that and everything below it runs again, and what else had succeeded is taken over.</p>
    <label for="from">Begin at this task (empty: from the start)</label><input id="from" list="from-names" autofocus autocomplete="off" value=${start} onInput=${(/** @type {any} */ event) => setStart(event.target.value.trim())} />
    <datalist id="from-names">${tasksInSight().slice(0, 500).map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
    <label for="version">Version</label><select id="version" value=${version} onChange=${(/** @type {any} */ event) => setVersion(event.target.value)}><option value="same">the same, ${run.version}</option><option value="latest">the latest</option></select>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div class="dialog-tools"><button type="button" onClick=${close}>Not now</button><button type="submit" class="primary" disabled=${busy}>Run again</button></div></form><//>`;
}

/** @param {{ run: string, signal?: string, close: () => void }} props */
export function SignalDialog({ run, signal = '', close }) {
  const { problem, busy, act } = useDoing();
  const [key, setKey] = useState(signal);
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState('');
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    let value = null;
    try {
      value = text.trim() ? JSON.parse(text) : null;
      setWrong('');
    } catch (error) {
      setWrong(`This is no JSON: ${/** @type {Error} */ (error).message}. A text stands in double quotes.`);
      return;
    }
    void act({ url: path`/runs/${run}/signal`, body: { key, value }, done: `The signal ${key} was sent.`, after: close });
  };
  return html`<${Dialog} title="Send a signal" close=${close}><form onSubmit=${submit}>
    <p>A key and a value for a task that waits for it now or will wait for it later.</p>
    <label for="key">Key</label><input id="key" required autofocus=${!signal} value=${key} onInput=${(/** @type {any} */ event) => setKey(event.target.value)} />
    <label for="value">Value, as JSON (empty: null)</label><textarea id="value" rows="4" autofocus=${Boolean(signal)} spellcheck=${false} aria-describedby="value-wrong" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea>
    <p id="value-wrong" class="field-wrong" role="alert">${wrong}</p>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div class="dialog-tools"><button type="button" onClick=${close}>Not now</button><button type="submit" class="primary" disabled=${busy}>Send</button></div></form><//>`;
}

/** What a key asks before it changes a task. @param {'pause' | 'resume' | 'retry'} verb @param {string} name */
function askedOfTask(verb, name) {
  return {
    pause: { title: `Hold ${name}?`, text: 'No new attempt of it starts until it is resumed.', verb: 'Hold' },
    resume: { title: `Resume ${name}?`, text: 'It goes on as soon as it can.', verb: 'Resume' },
    retry: { title: `Retry ${name}?`, text: 'It runs again, and what comes after it.', verb: 'Retry' },
  }[verb];
}

/** @param {{ run: Run | undefined, task: Task, index?: number, done: () => void }} props */
export function TaskActions({ run, task, index, done }) {
  const { problem, busy, act, again } = useDoing(`${task.status} ${task.held?.at}`);
  const [asking, setAsking] = useState(/** @type {'' | 'cancel' | 'pause' | 'rerun' | 'resume' | 'retry' | 'signal'} */ (''));
  const close = () => setAsking('');
  useEffect(() => { if (asking in ASKED) close(); }, [task.status, task.held?.at]);
  const id = run?.id ?? '';
  const name = `${task.name}${index === undefined ? '' : `[${index}]`}`;
  const where = (/** @type {string} */ verb, /** @type {any} */ more = {}) => path`/runs/${id}/tasks/${task.name}/${verb}` + query({ index, ...more });
  const after = () => {
    close();
    done();
  };
  const order = (/** @type {string} */ verb, /** @type {string} */ said) => act({ url: where(verb), done: said, after });
  const settled = isSettled(task.status);
  const parked = parkedFor(task);
  const may = mayOperate() && run !== undefined;
  const can = {
    retry: may && (task.status === 'failed' || task.status === 'cancelled'),
    resume: may && Boolean(task.held),
    pause: may && !settled && !task.held,
    cancel: may && !settled,
    rerun: may && index === undefined && isFinal(run?.status ?? ''),
    approve: may && parked?.kind === 'approval' && !parked.decided,
    signal: may && parked?.kind === 'signal',
  };
  // Without an index it is for all instances that wait.
  const askedAll = index === undefined && task.kind === 'approval' ? task.instances?.waiting ?? 0 : 0;
  const orders = {
    pause: () => order('pause', `${name} is held.`),
    resume: () => order('resume', `${name} goes on.`),
    retry: () => order('retry', `${name} runs again.`),
  };
  useKeys([
    { keys: 'p', does: 'Hold the task, or let it go on', act: () => setAsking(can.pause ? 'pause' : 'resume'), when: () => can.pause || can.resume },
    { keys: 'c', does: 'Cancel the task', act: () => setAsking('cancel'), when: () => can.cancel },
    { keys: 'r', does: 'Retry the task', act: () => setAsking('retry'), when: () => can.retry },
  ]);
  return html`<div class="actions" role="group" aria-label="Actions on the task">
    ${can.approve && html`<${Decide} approval=${{ run: id, task: task.name, index, message: parked?.message ?? '', by: parked?.by }} done=${done} />`}
    ${may && askedAll > 0 && html`<${Decide} approval=${{ run: id, task: task.name, message: `All ${askedAll} instances that wait` }} all done=${done} />`}
    ${can.retry && html`<button type="button" class="primary" disabled=${busy} onClick=${orders.retry}>Retry</button>`}
    ${can.resume && html`<button type="button" class="primary" disabled=${busy} onClick=${orders.resume}>Resume</button>`}
    ${can.signal && html`<button type="button" class="primary" disabled=${busy} onClick=${() => setAsking('signal')}>Send the signal…</button>`}
    ${can.pause && html`<button type="button" disabled=${busy} onClick=${orders.pause}>Hold</button>`}
    ${can.rerun && html`<button type="button" disabled=${busy} onClick=${() => setAsking('rerun')}>Run again from here…</button>`}
    ${can.cancel && html`<button type="button" class="danger" disabled=${busy} onClick=${() => setAsking('cancel')}>Cancel…</button>`}
  </div>
  ${problem && !asking && html`<${Trouble} problem=${problem} again=${again} />`}
  ${(asking === 'pause' || asking === 'resume' || asking === 'retry') && html`<${Ask} question=${askedOfTask(asking, shown(name))} busy=${busy} problem=${problem} yes=${orders[asking]} close=${close} />`}
  ${asking === 'cancel' && html`<${CancelDialog} what=${`task ${shown(name)}`} live=${0} isCancelling=${task.stopping === 'cancel'} close=${close}
    urlOf=${(/** @type {boolean} */ force) => where('cancel', { force: force || undefined })} done=${done} />`}
  ${asking === 'rerun' && run && html`<${RerunDialog} run=${run} from=${task.name} close=${close} />`}
  ${asking === 'signal' && html`<${SignalDialog} run=${id} signal=${parked?.signal ?? ''} close=${close} />`}`;
}
