// Small things that many views use.

import { html, signal, useEffect, useId, useRef, useState } from '../html.js';
import { connection } from '../live.js';
import { ago, clock, duration, exact, minute, moment, now } from '../time.js';
import { shown } from '../text.js';

/** How long ago, with the exact moment for whoever wants it. @param {{ at?: string }} props */
export function Ago({ at }) {
  if (!at) return null;
  const from = moment(at);
  // By the second as long as seconds are told, so that it agrees with what counts beside it.
  if (now.peek() - from < 60_000) now.value;
  else minute.value;
  return html`<time datetime=${at} title=${exact(at)}>${ago(from, now.peek())}</time>`;
}

/** @param {{ at?: string }} props */
export function Clock({ at }) {
  return at ? html`<time datetime=${at} title=${exact(at)}>${clock(at)}</time>` : null;
}

/** From one moment to another, or to now. @param {{ from?: string, to?: string }} props */
export function Took({ from, to }) {
  if (!from) return html`<span class="muted">–</span>`;
  const end = to ? moment(to) : now.value;
  return html`<span class="took">${duration(end - moment(from))}</span>`;
}

/** Short notes at the edge of the page that go by themselves. */
const notes = signal(/** @type {{ id: number, text: string, tone: string }[]} */ ([]));
let lastNote = 0;
const NOTE_MS = 6000;

/** @param {string} text @param {'success' | 'failed' | 'running'} [tone] */
export function say(text, tone = 'success') {
  const id = ++lastNote;
  notes.value = [...notes.value.slice(-3), { id, text, tone }];
  setTimeout(() => { notes.value = notes.value.filter((note) => note.id !== id); }, NOTE_MS);
}

export function Notes() {
  return html`<div class="notes" role="status" aria-live="polite">
    ${notes.value.map((note) => html`<div key=${note.id} class=${`note tone-${note.tone}`}>${shown(note.text)}</div>`)}
  </div>`;
}

/** @param {{ text: string, label?: string, what?: string }} props */
export function Copy({ text, label = 'Copy', what }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      byHand(text);
    }
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" class="copy small" onClick=${copy} aria-label=${what && !done ? `${label}: ${what}` : undefined}>${done ? 'Copied' : label}</button>`;
}

/** The clipboard is only there over TLS or on this machine. @param {string} text */
function byHand(text) {
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/**
 * A command to copy, for the server that the page came from.
 * @param {{ name: string, args?: string, stdin?: string }} props stdin: what it reads, as a here-document
 */
export function Command({ name, args = '', stdin }) {
  const line = ['mainspring', name, '--server', location.origin, args].filter(Boolean).join(' ');
  const text = stdin === undefined ? line : `${line} <<'END'\n${stdin.trimEnd()}\nEND`;
  return html`<div class="command"><code tabindex="0">${text}</code><${Copy} text=${text} what="the command" /></div>`;
}

/** What there is to do where there is nothing yet. @param {{ title: string, children?: any }} props */
export function Empty({ title, children }) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${children}</div>`;
}

/** @param {{ label?: string }} props */
export function Loading({ label = 'Loading' }) {
  const { is, since } = connection.value;
  const isAway = is === 'lost' || (is === 'connecting' && since !== undefined);
  if (isAway) return html`<p class="loading" role="status">The server does not answer: this is loaded as soon as it is back.</p>`;
  return html`<p class="loading" role="status"><span class="spinner" aria-hidden="true"></span>${label}…</p>`;
}

/** What was wrong with the question stays wrong, however often it is asked. @param {{ status?: number }} problem */
const mayPass = ({ status = 0 }) => status === 0 || status >= 500 || [408, 425, 429].includes(status);

/** @param {{ problem: import('../api.js').Problem, again?: () => void }} props again: offered where it can help */
export function Trouble({ problem, again }) {
  const errors = problem.errors ?? [];
  // Often the first of the errors once more.
  const isSaid = errors.some((fault) => problem.detail === fault.message || problem.detail === `${fault.path}: ${fault.message}`);
  return html`<div class="trouble tone-failed" role="alert">
    <strong>${shown(problem.title ?? 'Something went wrong')}</strong>
    ${problem.detail && !isSaid && html`<p>${shown(problem.detail)}</p>`}
    ${errors.length > 0 && html`<ul>${errors.map((fault) => html`<li>${fault.line ? html`<strong>line ${fault.line}, column ${fault.column ?? 1}</strong> ` : ''}${fault.path ? html`<code>${shown(fault.path)}</code>: ` : ''}${shown(fault.message)}${fault.hint ? ` (${shown(fault.hint)})` : ''}</li>`)}</ul>`}
    ${again && mayPass(problem) && html`<button type="button" onClick=${again}>Try again</button>`}
  </div>`;
}

/**
 * A dialog of the browser's own: it keeps the focus inside, and Escape closes it.
 * @param {{ title: string, close: () => void, wide?: boolean, children?: any }} props
 */
export function Dialog({ title, close, wide, children }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const outside = (/** @type {MouseEvent} */ event) => {
    if (event.target === box.current) close();
  };
  return html`<dialog ref=${box} class=${wide ? 'broad' : ''} aria-labelledby=${id} onClose=${close} onCancel=${close} onMouseDown=${outside}>
    <div class="dialog-head"><h2 id=${id}>${title}</h2><button type="button" class="quiet" onClick=${close} aria-label="Close">✕</button></div>
    <div class="dialog-body">${children}</div>
  </dialog>`;
}

/**
 * Tabs, with arrow keys as one expects of them.
 * @param {{ tabs: { id: string, label: any }[], chosen: string, choose: (id: string) => void, label: string }} props
 */
export function Tabs({ tabs, chosen, choose, label }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  // Where there is little room, the one that is chosen is in sight all the same.
  useEffect(() => {
    const it = /** @type {HTMLElement | null | undefined} */ (list.current?.querySelector('[aria-selected="true"]'));
    if (it && list.current) list.current.scrollLeft = it.offsetLeft - (list.current.clientWidth - it.offsetWidth) / 2;
  }, [chosen]);
  const move = (/** @type {KeyboardEvent} */ event) => {
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(at + step + tabs.length) % tabs.length];
    choose(next.id);
    /** @type {HTMLElement | null | undefined} */ (list.current?.querySelector(`[data-tab="${next.id}"]`))?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label=${label} ref=${list} onKeyDown=${move}>
    ${tabs.map((tab) => html`<button key=${tab.id} type="button" role="tab" data-tab=${tab.id} id=${`tab-${tab.id}`} aria-controls=${`panel-${tab.id}`}
      aria-selected=${tab.id === chosen} tabindex=${tab.id === chosen ? 0 : -1} onClick=${() => choose(tab.id)}>${tab.label}</button>`)}
  </div>`;
}

/** @param {{ id: string, children?: any }} props */
export function Panel({ id, children }) {
  return html`<div role="tabpanel" id=${`panel-${id}`} aria-labelledby=${`tab-${id}`} class="panel">${children}</div>`;
}

/** A value with its name. @param {{ name: string, children?: any, className?: string }} props */
export function Fact({ name, children, className = '' }) {
  return html`<div class=${`fact ${className}`}><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** @param {{ labels: Record<string, string>, hrefOf?: (label: string) => string }} props hrefOf: where others with the same label are listed */
export function Labels({ labels, hrefOf }) {
  return Object.entries(labels ?? {}).map(([key, value]) => {
    const inside = html`<bdi>${shown(key)}</bdi>=<bdi>${shown(value)}</bdi>`;
    return hrefOf ? html`<a class="label" key=${key} href=${hrefOf(`${key}=${value}`)}>${inside}</a> ` : html`<span class="label" key=${key}>${inside}</span>`;
  });
}
