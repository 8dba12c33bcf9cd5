// Where the page is. Addresses are real paths below /ui/, so that they can be sent to somebody.

import { batch, computed, signal } from './html.js';
import { arrive, keepSpot } from './spot.js';

export const BASE = '/ui';

export const address = signal(location.pathname + location.search);

/** @typedef {{ view: string, params: Record<string, string>, query: URLSearchParams }} Place */

/** @type {[RegExp, string, string[]][]} */
const ROUTES = [
  [/^\/?$/, 'home', []],
  [/^\/workflows\/?$/, 'workflows', []],
  [/^\/workflows\/([^/]+)$/, 'workflow', ['name']],
  [/^\/runs\/?$/, 'runs', []],
  [/^\/runs\/([^/]+)$/, 'run', ['id']],
  [/^\/runs\/([^/]+)\/tasks\/([^/]+)$/, 'task', ['id', 'name']],
  [/^\/approvals\/?$/, 'approvals', []],
  [/^\/tiers\/?$/, 'tiers', []],
];

/** @param {string} at @returns {Place} */
export function placeOf(at) {
  const url = new URL(at, 'http://page');
  const rest = url.pathname.startsWith(BASE) ? url.pathname.slice(BASE.length) : url.pathname;
  for (const [pattern, view, names] of ROUTES) {
    const found = pattern.exec(rest);
    if (!found) continue;
    try {
      const params = Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i + 1])]));
      return { view, params, query: url.searchParams };
    } catch {
      break; // a lone % is no address
    }
  }
  return { view: 'nowhere', params: {}, query: url.searchParams };
}

export const place = computed(() => placeOf(address.value));

/** @param {string} to @param {'push' | 'replace'} [how] */
export function go(to, how = 'push') {
  if (to === address.value) return;
  if (how === 'push') {
    keepSpot();
    history.pushState(null, '', to);
  } else history.replaceState(null, '', to);
  arrive();
  batch(() => { address.value = to; });
}

/**
 * Changes what stands behind the question mark.
 * @param {Record<string, string | number | undefined>} values
 * @param {'push' | 'replace'} [how]
 */
export function setQuery(values, how = 'replace') {
  const url = new URL(address.value, 'http://page');
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined || value === '') url.searchParams.delete(key);
    else url.searchParams.set(key, String(value));
  }
  go(url.pathname + url.search, how);
}

export const to = {
  home: () => `${BASE}/`,
  workflows: () => `${BASE}/workflows`,
  /** @param {string} name @param {string} [tab] */
  workflow: (name, tab) => `${BASE}/workflows/${encodeURIComponent(name)}${tab ? `?tab=${tab}` : ''}`,
  /** @param {Record<string, string>} [filter] */
  runs: (filter) => `${BASE}/runs${filter ? `?${new URLSearchParams(filter)}` : ''}`,
  /** @param {string} id @param {string} [tab] @param {string} [state] only tasks in this one */
  run: (id, tab, state) => `${BASE}/runs/${id}${tab ? `?tab=${tab}` : ''}${state ? `&state=${state}` : ''}`,
  /** @param {string} id @param {string} name @param {number} [index] */
  task: (id, name, index) => `${BASE}/runs/${id}/tasks/${encodeURIComponent(name)}${index === undefined ? '' : `?index=${index}`}`,
  /** Those of a fan-out that are in a state. @param {string} id @param {string} name @param {string} state */
  instances: (id, name, state) => `${BASE}/runs/${id}/tasks/${encodeURIComponent(name)}?state=${state}`,
  approvals: () => `${BASE}/approvals`,
  tiers: () => `${BASE}/tiers`,
};

addEventListener('popstate', (event) => {
  arrive(event.state?.spot);
  address.value = location.pathname + location.search;
});

// Links within the page do not load it again; whoever wants another tab gets one.
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = /** @type {Element} */ (event.target).closest?.('a[href]');
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute('download')) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !(url.pathname + '/').startsWith(`${BASE}/`)) return;
  event.preventDefault();
  go(url.pathname + url.search);
});
