// What waits for a person. Kept for the whole page, since the bar at the top tells how many.

import { signal, computed } from './html.js';
import { get, query } from './api.js';
import { throttled } from './live.js';
import { isFinal } from './words.js';

const MAX = 1000;

export const approvals = signal(/** @type {import('./shapes.js').Approval[] | undefined} */ (undefined));
export const approvalsProblem = signal(/** @type {any} */ (undefined));
const more = signal(false);
/** How many, as it is told: empty if none. */
export const waitingApprovals = computed(() => (approvals.value?.length ? `${approvals.value.length}${more.value ? '+' : ''}` : ''));
/** Of more than are asked for, what is missing may still wait. */
export const areAllApprovalsKnown = () => approvals.value !== undefined && !more.value;

export const refreshApprovals = throttled(async () => {
  try {
    const page = await get(`/approvals${query({ limit: MAX })}`);
    approvals.value = page.items;
    more.value = Boolean(page.next_cursor);
    approvalsProblem.value = undefined;
  } catch (problem) {
    approvalsProblem.value = problem;
  }
}, 1000);

/**
 * A run has changed: asked again only if something in it may wait, or has waited.
 * @param {import('./shapes.js').Run} run
 */
export function heardOfApprovals(run) {
  if (!isFinal(run.status) || approvals.value?.some((it) => it.run === run.id)) refreshApprovals();
}
