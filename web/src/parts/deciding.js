// The question whether something is approved or rejected. It belongs to the page as a whole: what
// asked for it may go, because somebody else has decided, while one still writes a comment.

import { html, signal, useRef, useState } from '../html.js';
import { path, query } from '../api.js';
import { approvals, areAllApprovalsKnown, refreshApprovals } from '../approvals.js';
import { shown } from '../text.js';
import { Dialog, Trouble } from './basics.js';
import { useDoing } from './doing.js';

/** @typedef {Pick<import('../shapes.js').Approval, 'run' | 'task' | 'index' | 'message' | 'by'>} Asked */
/** @typedef {{ what: 'approve' | 'reject', approval: Asked, done?: () => void }} Question */

const open = signal(/** @type {Question | undefined} */ (undefined));

/** @param {Question} question */
export function askToDecide(question) {
  open.value = question;
}

/** Whether it is among those that wait; without an index any instance is. @param {Asked} approval */
function isWaiting({ run, task, index }) {
  return (approvals.value ?? []).some((it) => it.run === run && it.task === task && (index === undefined || it.index === index) && !it.decided);
}

export function Deciding() {
  return open.value ? html`<${Question} question=${open.value} close=${() => { open.value = undefined; }} />` : null;
}

/** @param {{ question: Question, close: () => void }} props */
function Question({ question, close }) {
  const { what, approval, done } = question;
  const { problem, busy, act } = useDoing();
  const [comment, setComment] = useState('');
  const { run, task, index } = approval;
  const called = `${task}${index === undefined ? '' : `[${index}]`}`;
  // The list may be older than the question: it tells only of what it once had.
  const wasWaiting = useRef(false);
  const isThere = isWaiting(approval);
  wasWaiting.current ||= isThere;
  const isOver = wasWaiting.current && !isThere && areAllApprovalsKnown() && !busy;
  const after = () => {
    close();
    refreshApprovals();
    done?.();
  };
  const decide = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isOver) return;
    void act({ url: path`/runs/${run}/tasks/${task}/${what}` + query({ index }), body: comment ? { comment } : {}, done: `${called} is ${what === 'approve' ? 'approved' : 'rejected'}.`, after });
  };
  return html`<${Dialog} title=${what === 'approve' ? `Approve ${shown(called)}?` : `Reject ${shown(called)}?`} close=${close}>
    <form onSubmit=${decide}>
      ${approval.message && html`<p class="quote"><bdi>${shown(approval.message)}</bdi></p>`}
      <p>${what === 'approve' ? 'What comes after it goes on.' : 'The task fails and what depends on it does not run, unless the workflow says otherwise.'}</p>
      <label for="comment">Comment, kept with the decision</label>
      <input id="comment" autofocus maxlength="4000" value=${comment} onInput=${(/** @type {any} */ event) => setComment(event.target.value)} />
      <div role="status">${isOver && html`<div class="callout tone-waiting"><strong>${shown(called)} does not wait any more.</strong> Somebody has decided meanwhile, or its time was over: nothing is left to decide here.</div>`}</div>
      ${problem && html`<${Trouble} problem=${problem} />`}
      <div class="dialog-tools"><button type="button" onClick=${close}>${isOver ? 'Close' : 'Not now'}</button>${!isOver && html`<button type="submit" class=${what === 'approve' ? 'primary' : 'danger'} disabled=${busy}>${what === 'approve' ? 'Approve' : 'Reject'}</button>`}</div>
    </form>
  <//>`;
}
