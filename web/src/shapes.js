// What the API sends, as far as the page reads it. Types only.

/**
 * @typedef {{ items: any[], next_cursor?: string }} Page
 * @typedef {{ by?: string, since?: string, at?: string }} Hold
 * @typedef {{ class: string, message: string, exit_code?: number, signal?: string | number }} TaskError
 * @typedef {{ bytes: number, sha256: string }} Blob
 *
 * @typedef {{
 *   id: string, workflow: string, version: number, status: string, paused_reason?: string, held?: Hold,
 *   input: any, labels: Record<string, string>, priority: number, triggered_by: string, kind: string,
 *   parent?: {run: string, task: string, index?: number, attempt: number}, retry_of?: string, scheduled_for?: string, created_at: string, started_at?: string,
 *   finished_at?: string, error?: { class?: string, message?: string, task?: string }, output?: any,
 *   output_blob?: Blob, tasks: Record<string, number>,
 * }} Run
 *
 * @typedef {{ since?: string, until?: string, signal?: string, message?: string, by?: string | string[],
 *   on_timeout?: string, decided?: string }} Awaits
 *
 * @typedef {{
 *   name: string, index?: number, count?: number, instances?: Record<string, number>, kind: string,
 *   status: string, reason?: string, attempt: number, tries: number, tries_max: number, losses?: number,
 *   tier?: string, held?: Hold, stopping?: string, retry_at?: string, started_at?: string,
 *   finished_at?: string, input?: any, output?: any, output_blob?: Blob, error?: TaskError,
 *   awaits?: Awaits,
 * }} Task
 *
 * @typedef {{ run: string, workflow: string, task: string, index?: number, since?: string }} Holder
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
 *   on_failure?: string, allow_failure?: boolean, depends_on: { task: string, when: string }[],
 * }} GraphTask
 *
 * @typedef {{
 *   run: string, workflow: string, task: string, index?: number, message: string, by?: string | string[],
 *   since: string, until?: string, on_timeout?: string, decided?: string,
 * }} Approval
 *
 * @typedef {{
 *   name: string, limit: number, rate?: string, in_use: number, waiting: number, source: string,
 *   workflow?: string, holders: { run: string, workflow: string, task: string, index?: number, since?: string }[],
 *   waiters: { run: string, workflow: string, task: string, index?: number }[],
 * }} Tier
 */

export {};
