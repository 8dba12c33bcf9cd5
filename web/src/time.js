// Moments and spans, as people read them.

import { computed, effect, signal } from './html.js';

/** The time, moved on once a second while anything on the page shows it and the page is seen. */
export const now = signal(Date.now());
const shown = signal(document.visibilityState === 'visible');
document.addEventListener('visibilitychange', () => {
  shown.value = document.visibilityState === 'visible';
});
effect(() => {
  if (!shown.value) return undefined;
  now.value = Date.now();
  const timer = setInterval(() => { now.value = Date.now(); }, 1000);
  return () => clearInterval(timer);
});

/** Changes once a minute: for what says how many minutes ago. */
export const minute = computed(() => Math.floor(now.value / 15_000));

/** @param {string | undefined} at */
export function moment(at) {
  return at ? Date.parse(at) : NaN;
}

/** @param {number} ms */
export function duration(ms) {
  if (!Number.isFinite(ms)) return '';
  if (ms < 0) return '0 s';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

/** @param {number} from @param {number} at */
export function ago(from, at) {
  const s = Math.round((at - from) / 1000);
  if (s < 5) return 'just now';
  if (s < 60) return `${s} s ago`;
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ago`;
  if (s < 30 * 86_400) return `${Math.floor(s / 86_400)} d ago`;
  return new Date(from).toISOString().slice(0, 10);
}

/** @param {number} until @param {number} at */
export function ahead(until, at) {
  const left = until - at;
  return left <= 0 ? 'now' : `in ${duration(left < 1000 ? 1000 : Math.round(left / 1000) * 1000)}`;
}

/** @param {string | undefined} at */
export function clock(at) {
  const time = new Date(moment(at));
  return Number.isNaN(time.getTime()) ? '' : time.toLocaleTimeString('en-GB', { hour12: false });
}

/** @param {string | undefined} at */
export function exact(at) {
  const time = new Date(moment(at));
  if (Number.isNaN(time.getTime())) return '';
  return `${time.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })} (${at})`;
}
