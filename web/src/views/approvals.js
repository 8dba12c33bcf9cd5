// What waits for a person's word.

import { html, useEffect } from '../html.js';
import { mayDecide, mayOperate } from '../api.js';
import { approvals, approvalsProblem, refreshApprovals } from '../approvals.js';
import { useLive } from '../live.js';
import { Ago, Command, Empty, Fact, Loading, Trouble } from '../parts/basics.js';
import { askToDecide } from '../parts/deciding.js';
import { Shape } from '../parts/state.js';
import { BY_ITSELF, shortId } from '../reasons.js';
import { counted, shown } from '../text.js';
import { ahead, moment, now } from '../time.js';
import { to } from '../router.js';

/** @typedef {import('../shapes.js').Approval} Approval */

/** @param {{ approval: Pick<Approval, 'run' | 'task' | 'index' | 'message' | 'by'>, all?: boolean, done?: () => void }} props all: every instance that waits */
export function Decide({ approval, all, done }) {
  if (!mayDecide(approval.by)) return mayOperate() ? html`<span class="muted">Only ${named(approval.by)} may decide.</span>` : null;
  const ask = (/** @type {'approve' | 'reject'} */ what) => () => askToDecide({ what, approval, done });
  return html`<button type="button" class="primary" onClick=${ask('approve')}>${all ? 'Approve all…' : 'Approve…'}</button><button type="button" onClick=${ask('reject')}>${all ? 'Reject all…' : 'Reject…'}</button>`;
}

/** Who may decide, in words. @param {string | string[] | undefined} by */
const named = (by) => shown([by ?? 'somebody else'].flat().join(' or '));

/** @param {{ approval: Approval }} props */
export function ApprovalCard({ approval }) {
  const { run, workflow, task, index, message, by, since, until, on_timeout, decided } = approval;
  return html`<li class="card">
    <div class="card-head"><${Shape} status="waiting" /><a href=${to.task(run, task, index)}><bdi>${shown(task)}</bdi>${index === undefined ? '' : `[${index}]`}</a><span class="muted">in <a href=${to.run(run)}><bdi>${shown(workflow)}</bdi> <span class="mono">${shortId(run)}</span></a></span><span class="spread"></span><span class="muted">asked <${Ago} at=${since} /></span></div>
    <p class="quote"><bdi>${shown(message)}</bdi></p>
    ${(by || until) && html`<dl class="facts">${by && html`<${Fact} name="Asked of"><bdi>${shown([by].flat().join(', '))}</bdi><//>`}${until && html`<${Fact} name="If nobody decides">it ${BY_ITSELF[on_timeout ?? ''] ?? 'ends'} ${ahead(moment(until), now.value)}<//>`}</dl>`}
    ${decided ? html`<p>It is ${shown(decided)}, and takes effect when the task is resumed.</p>` : html`<div class="card-tools"><${Decide} approval=${approval} /></div>`}
  </li>`;
}

export function Approvals() {
  useLive(undefined, { fresh: refreshApprovals, run: refreshApprovals });
  useEffect(() => { document.title = 'Approvals · Mainspring'; }, []);
  const all = approvals.value;
  return html`<main id="main" tabindex="-1"><div class="head"><h1>Approvals</h1><span class="muted">${all?.length ? `${counted(all.length, 'task')} ${all.length === 1 ? 'waits' : 'wait'} for somebody` : ''}</span></div>
    ${approvalsProblem.value && html`<${Trouble} problem=${approvalsProblem.value} again=${refreshApprovals} />`}
    ${!all && !approvalsProblem.value && html`<${Loading} />`}
    ${all?.length === 0 && html`<${Empty} title="Nothing waits for you."><p>A task with <code>approval: { message: Ship it? }</code> waits until somebody says yes or no: here, or on the command line:</p><${Command} name="approve" args="RUN TASK" /><//>`}
    <ul class="cards one">${all?.map((it) => html`<${ApprovalCard} key=${`${it.run} ${it.task} ${it.index}`} approval=${it} />`)}</ul>
  </main>`;
}
