// Requests to the server. A failure is always a Problem: what happened, and what to do.

import { signal } from './html.js';

/** Who asks: not known yet, somebody, or nobody, and then the page asks for a token. */
export const session = signal(/** @type {{ is: 'unknown' | 'closed' | 'open', name?: string, role?: string, expired?: boolean }} */ ({ is: 'unknown' }));

/** @typedef {{ path?: string, message: string, hint?: string, line?: number, column?: number }} Fault */

export class Problem extends Error {
  /**
   * @param {string} title
   * @param {string} detail
   * @param {{ status?: number, code?: string, errors?: Fault[] }} [more]
   */
  constructor(title, detail, { status = 0, code = '', errors = [] } = {}) {
    super(detail || title);
    this.title = title;
    this.detail = detail;
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

/**
 * A path with its parts escaped.
 * @param {TemplateStringsArray} strings
 * @param {...(string | number)} parts
 */
export function path(strings, ...parts) {
  return strings.reduce((text, piece, i) => text + encodeURIComponent(String(parts[i - 1])) + piece);
}

/** @param {Record<string, string | number | boolean | undefined | null>} values */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return given.length ? `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}` : '';
}

/**
 * @param {string} url
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
export async function request(url, options = {}) {
  const asked = entries;
  let response;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...options });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem('The server does not answer', 'It may be restarting. The page goes on by itself as soon as it is back.', { code: 'unreachable' });
  }
  if (response.ok) return response;
  const isReading = (options.method ?? 'GET') === 'GET' && url !== '/session';
  // Asked before somebody logged in again, and answered after it.
  if (response.status === 401 && isReading && asked !== entries) return request(url, options);
  const told = await problem(response);
  if (response.status !== 401 || !isReading || !session.value.expired) throw told;
  // Whoever only reads knows nothing of it: it goes on when somebody has logged in again.
  await new Promise((done) => { waiting.add(done); });
  return request(url, options);
}

/** What was asked for while the session was over. @type {Set<(nothing?: unknown) => void>} */
const waiting = new Set();
/** How often somebody has come in. */
let entries = 0;

/** @param {Response} response */
async function problem(response) {
  const text = await response.text().catch(() => '');
  /** @type {any} */
  let told = {};
  try {
    told = JSON.parse(text);
  } catch { /* a proxy in between answers in its own way: its status says enough */ }
  if (response.status === 401 && session.value.is !== 'closed') {
    // Who it was stays known: the page is left as it is, and asks who is there now.
    session.value = { ...session.value, is: 'closed', expired: session.value.is === 'open' };
  }
  if (response.status === 401 && session.value.expired) return new Problem('Your session had ended', 'Nothing was changed by this. Once you have logged in, try again.', { status: 401, code: told.code });
  return new Problem(told.title ?? `The server answered ${response.status}`, told.detail ?? '', {
    status: response.status, code: told.code, errors: told.errors,
  });
}

/** @param {string} url @param {AbortSignal} [signal] */
export async function get(url, signal) {
  return (await request(url, { signal })).json();
}

/**
 * @param {string} url
 * @param {unknown} [body]
 * @param {{ method?: string, key?: string, type?: string }} [how] key: whatever is sent twice under it is done once; type: the body is a text of this type
 */
export async function send(url, body, { method = 'POST', key, type } = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers['content-type'] = type ?? 'application/json';
  if (key !== undefined) headers['idempotency-key'] = key;
  const text = body === undefined ? undefined : type ? String(body) : JSON.stringify(body);
  const response = await request(url, { method, headers, body: text }).catch((error) => {
    throw error instanceof Problem && error.code === 'unreachable' ? unanswered(key !== undefined) : error;
  });
  return response.status === 204 ? undefined : response.json();
}

/** What was sent may have arrived all the same. @param {boolean} isOnce */
function unanswered(isOnce) {
  const next = isOnce ? 'Try again: what was done already is not done twice.' : 'Look whether it has, and try again.';
  return new Problem('The server does not answer', `It is not known whether anything has changed. ${next}`, { code: 'unanswered' });
}

/** A name for what must be done once, however often it is sent. */
export function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Names for what must be done once, however often it is sent: the same for the same body, another
 * for another.
 * @returns {(body: unknown) => string}
 */
export function onceKeys() {
  let [last, key] = ['', ''];
  return (body) => {
    const text = JSON.stringify(body);
    if (text !== last) {
      last = text;
      key = newKey();
    }
    return key;
  };
}

/** Learns who asks. */
export async function introduce() {
  const who = await get('/session');
  session.value = { is: 'open', name: who.name, role: who.role };
  entries += 1;
  for (const go of waiting) go();
  waiting.clear();
}

/** Roles, each with what those before it may do. */
const ROLES = ['viewer', 'operator', 'admin'];

export const mayOperate = () => ROLES.indexOf(session.value.role ?? '') >= 1;
export const mayAdminister = () => session.value.role === 'admin';

/**
 * Whether an approval is for whoever asks: its deciders are names, or roles with those above them.
 * @param {string | string[] | undefined} by
 */
export function mayDecide(by) {
  if (!mayOperate()) return false;
  const deciders = by === undefined ? [] : [by].flat();
  if (deciders.length === 0) return true;
  const { name, role } = session.value;
  return deciders.some((it) => it === name || (ROLES.includes(it) && ROLES.indexOf(role ?? '') >= ROLES.indexOf(it)));
}
