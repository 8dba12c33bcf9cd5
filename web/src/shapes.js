// What the API sends, as far as the page reads it. Types only.

/**
 * @typedef {{ items: any[], next_cursor?: string }} Page
 * @typedef {{ by: string, at: string }} Hold
 * @typedef {{ class: string, message: string, exit_code?: number, signal?: string | number }} TaskError
 * @typedef {{ bytes: number, sha256: string }} Blob
 *
 * @typedef {{
 *   id: string, workflow: string, version: number, status: string, paused_reason?: string, held?: Hold, attention?: { why: string, since: string },
 *   input?: any, labels: Record<string, string>, priority: number, triggered_by: string, kind: string,
 *   parent?: {run: string, task: string, index?: number, attempt: number}, retry_of?: string, scheduled_for?: string, created_at: string, started_at?: string,
 *   finished_at?: string, error?: { class?: string, message?: string, task?: string }, output?: any,
 *   output_blob?: Blob, tasks: Record<string, number>,
 * }} Run
 *
 * @typedef {{ since?: string, until?: string, signal?: string, run?: string, message?: string, by?: string | string[],
 *   on_timeout?: string, decided?: string }} Awaits
 *
 * @typedef {{ state: string, queue?: string, since: string, attempt?: number, started_at?: string, tries: number,
 *   tries_max: number, losses?: number, retry_at?: string, error?: TaskError }} Finalizer
 *
 * @typedef {{
 *   name: string, index?: number, count?: number, instances?: Record<string, number>, kind: string,
 *   status: string, reason?: string, attempt: number, tries: number, tries_max: number, losses?: number,
 *   tier?: string, held?: Hold, stopping?: string, retry_at?: string, started_at?: string,
 *   finished_at?: string, input?: any, output?: any, output_blob?: Blob, error?: TaskError,
 *   awaits?: Awaits, child?: string, finalizer?: Finalizer,
 * }} Task
 *
 * An attempt, or without a task a run as a whole.
 * @typedef {{ run: string, workflow: string, task?: string, index?: number, since?: string }} Holder
 *
 * A reason has a kind, fields of its own, and a sentence.
 * @typedef {{
 *   kind: string, text: string, task?: string, when?: string, state?: string, by?: any, since?: string, at?: string,
 *   until?: string, name?: string, limit?: number, in_use?: number, rate?: string, frees_at?: string, holders?: Holder[],
 *   message?: string, missing?: string, key?: string, on_timeout?: string, decided?: string, what?: string,
 *   counts?: Record<string, number>, at_work?: number, delayed?: number, attempt?: number, why?: string, reason?: string,
 *   run?: string, queue?: string, retry_at?: string, active?: number, runs?: string[], checkpoint?: string,
 * }} Reason
 *
 * @typedef {{ name: string, index?: number, status: string, reasons: Reason[], instances?: Explained[] }} Explained
 *
 * @typedef {{ run: string, status: string, at: string, reasons: Reason[], unsettled: number, tasks: Explained[], next?: string }} Explanation
 *
 * @typedef {{
 *   id: string, action: string, matched: number, done: number, refused: number, failed: number,
 *   reasons: Record<string, number>, problems: { run: string, code: string, detail: string }[], started_at: string,
 *   finished_at?: string,
 * }} Bulk
 *
 * @typedef {{
 *   task?: string, attempt: number, id: string, status: string, dispatched_at: string, started_at?: string,
 *   finished_at?: string, output?: any, output_blob?: Blob, error?: TaskError, role?: string,
 * }} Attempt
 *
 * @typedef {{
 *   name: string, description?: string, version: number, kind: string, labels: Record<string, string>,
 *   tasks: number, input?: any, created_at: string, updated_at: string,
 * }} Workflow
 *
 * @typedef {{
 *   name: string, kind: string, description?: string, fan_out?: string, condition?: string, tier?: string,
 *   on_failure?: string, always?: boolean, checkpoint?: boolean, allow_failure?: boolean, added?: boolean, depends_on: { task: string, when: string }[],
 * }} GraphTask
 *
 * @typedef {{
 *   run: string, workflow: string, task: string, index?: number, message: string, by?: string | string[],
 *   since: string, until?: string, on_timeout?: string, decided?: string,
 * }} Approval
 *
 * @typedef {{
 *   name: string, counts: string, limit: number, rate?: string, in_use: number, waiting: number, source: string,
 *   workflow?: string, frees_at?: string, holders: Holder[], waiters: Holder[],
 * }} Tier
 */

export {};
