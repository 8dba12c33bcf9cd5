// A log on the screen: live, searched, one stream or both, downloaded.

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { path, query } from '../api.js';
import { followLog, LINES_MAX, readLog } from '../log.js';
import { counted, number, shown, terminalPieces } from '../text.js';
import { clock } from '../time.js';
import { Copy, Dialog, Empty, Loading, Trouble } from './basics.js';
import { Rows } from './rows.js';

/** @typedef {import('../log.js').Line} Line */

const HEIGHT = 20;
/** Longer lines are cut: a browser is slow with a line of a megabyte. */
const SHOWN_MAX = 1000;
const HITS_MAX = 10_000;
/** @type {Record<string, string>} */
const STREAMS = { '': 'Both streams', out: 'stdout', err: 'stderr' };

/**
 * @param {{ run: string, task: string, index?: number, attempt: number, isCurrent: boolean, isSettled: boolean }} props
 *   isCurrent: the attempt is the task's last one; isSettled: no more comes of it
 */
export function LogView({ run, task, index, attempt, isCurrent, isSettled }) {
  const round = useRound(isCurrent, isSettled);
  const isLive = round > 0;
  const { lines, count, state, problem } = useLines({ run, task, index, attempt, round });
  const [text, setText] = useState('');
  const [only, setOnly] = useState('');
  const [hasTimes, setTimes] = useState(false);
  const [isFollowing, setFollowing] = useState(true);
  const [at, setAt] = useState(0);
  const [opened, setOpened] = useState(/** @type {Line | undefined} */ (undefined));
  // What is followed goes through later attempts; each has a log of its own.
  const seen = useMemo(() => lines.filter((line) => (line.attempt ?? attempt) === attempt && (!only || line.stream === only)), [count, lines, only, attempt]);
  const isCut = (lines.find((line) => (line.attempt ?? attempt) === attempt)?.number ?? 1) > 1;
  const wanted = text.toLowerCase();
  const hits = useMemo(() => search(seen, wanted), [seen, count, wanted]);
  const go = (/** @type {number} */ by) => {
    if (!hits.length) return;
    setFollowing(false);
    setAt((before) => (before + by + hits.length) % hits.length);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  };
  const current = hits[Math.min(at, hits.length - 1)];
  const reveal = useMemo(() => (wanted && current !== undefined ? { index: current, at } : undefined), [wanted, current, at]);
  const row = (/** @type {number} */ i) => html`<${OneLine} line=${seen[i]} hasTimes=${hasTimes} wanted=${wanted} isCurrent=${i === current && wanted !== ''} open=${() => setOpened(seen[i])} />`;
  const href = path`/runs/${run}/tasks/${task}/logs` + query({ index, attempt: attempt || undefined });
  const found = wanted ? (hits.length ? `${number(Math.min(at, hits.length - 1) + 1)} of ${counted(hits.length, 'line')}${hits.length === HITS_MAX ? '+' : ''}` : 'not found') : '';
  return html`<section class="logview" aria-label="Log">
    <div class="log-tools">
      <input type="search" class="filter" placeholder="Search the log" aria-label="Search the log; Enter for the next" value=${text} onInput=${(/** @type {any} */ event) => { setText(event.target.value); setAt(0); setFollowing(event.target.value === '' && isFollowing); }} onKeyDown=${key} />
      <span class="muted hits-said" role="status">${found}</span>
      ${wanted && html`<button type="button" aria-label="Previous" onClick=${() => go(-1)}>↑</button><button type="button" aria-label="Next" onClick=${() => go(1)}>↓</button>`}
      <span class="spread"></span>
      <select aria-label="Stream" value=${only} onChange=${(/** @type {any} */ event) => setOnly(event.target.value)}>${Object.entries(STREAMS).map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}</select>
      <label class="check"><input type="checkbox" checked=${hasTimes} onChange=${(/** @type {any} */ event) => setTimes(event.target.checked)} /> Times</label>
      ${isLive && !isSettled && html`<label class="check"><input type="checkbox" checked=${isFollowing} onChange=${(/** @type {any} */ event) => setFollowing(event.target.checked)} /> Follow</label>`}
      <a class="button" href=${href} download=${`${task}${index === undefined ? '' : `-${index}`}-${attempt || 'last'}.log`}>Download</a>
    </div>
    ${problem && html`<${Trouble} problem=${problem} />`}
    ${state === 'lost' && html`<p class="muted" role="status">The log stopped with the server; it goes on when that is back.</p>`}
    ${(count === 0 || (seen.length === 0 && !only)) && !problem && (state === 'loading' ? html`<${Loading} />` : html`<${Empty} title=${isLive && state !== 'ended' ? 'Nothing written yet. Lines show up here as they come.' : 'Nothing was written.'} />`)}
    ${isCut && html`<p class="muted">The last ${number(LINES_MAX)} lines; download it for all.</p>`}
    ${count > 0 && (seen.length > 0 || only) && html`<${Rows} label="Log" className=${`log ${hasTimes ? 'with-times' : ''}`} count=${seen.length} height=${HEIGHT} row=${row} stick=${isLive && isFollowing} leave=${() => setFollowing(false)} reveal=${reveal} />`}
    ${opened && html`<${Dialog} wide title="One line" close=${() => setOpened(undefined)}><${Copy} text=${opened.text} what="the line" /><pre class="whole-line" tabindex="0">${shown(opened.text)}</pre><//>`}
  </section>`;
}

/**
 * Which time the log is followed, from 1; 0 if it is only read. One that is followed stays so when
 * its task is settled: what is on the screen stays where it is. A retry is another time.
 * @param {boolean} isCurrent @param {boolean} isSettled
 */
function useRound(isCurrent, isSettled) {
  const known = useRef({ round: 0, isFollowed: false, wasLive: false });
  const it = known.current;
  const isLive = isCurrent && !isSettled;
  if (isLive && !it.wasLive) it.round += 1;
  it.wasLive = isLive;
  it.isFollowed = isCurrent && (isLive || it.isFollowed);
  return it.isFollowed ? it.round : 0;
}

/** @param {{ run: string, task: string, index?: number, attempt: number, round: number }} whose */
function useLines({ run, task, index, attempt, round }) {
  const lines = useRef(/** @type {Line[]} */ ([]));
  const [shownAs, setShown] = useState({ count: 0, state: 'loading', problem: /** @type {any} */ (undefined) });
  useEffect(() => {
    lines.current = [];
    setShown({ count: 0, state: 'loading', problem: undefined });
    const take = (/** @type {Line[]} */ more) => {
      lines.current.push(...more);
      if (lines.current.length > LINES_MAX) lines.current = lines.current.slice(-LINES_MAX);
      setShown((before) => ({ ...before, count: before.count + more.length }));
    };
    if (round) return followLog({ run, task, index }, take, (state) => setShown((before) => ({ ...before, state })));
    const abort = new AbortController();
    readLog({ run, task, index, attempt }, take, abort.signal).then(
      () => setShown((before) => ({ ...before, state: 'ended' })),
      (problem) => { if (!abort.signal.aborted) setShown((before) => ({ ...before, state: 'ended', problem })); },
    );
    return () => abort.abort();
  }, [run, task, index, round ? `followed ${round}` : attempt]);
  return { lines: lines.current, ...shownAs };
}

/** What a terminal would show in the end of a line that is written over again and again. @param {string} text */
function seenOf(text) {
  const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
  return whole.slice(whole.lastIndexOf('\r') + 1);
}

/** @param {Line[]} lines @param {string} wanted */
function search(lines, wanted) {
  /** @type {number[]} */
  const hits = [];
  if (!wanted) return hits;
  for (let i = 0; i < lines.length && hits.length < HITS_MAX; i += 1) if (seenOf(lines[i].text).toLowerCase().includes(wanted)) hits.push(i);
  return hits;
}

/** @param {{ line: Line | undefined, hasTimes: boolean, wanted: string, isCurrent: boolean, open: () => void }} props */
function OneLine({ line, hasTimes, wanted, isCurrent, open }) {
  if (!line) return null;
  const seen = seenOf(line.text);
  const isCut = seen.length > SHOWN_MAX;
  const text = isCut ? seen.slice(0, SHOWN_MAX) : seen;
  const label = { err: 'stderr', out: 'stdout' }[line.stream] ?? line.stream;
  return html`<div role="cell" class=${`line is-${line.stream} ${isCurrent ? 'current' : ''}`}><span class="line-number" aria-hidden="true">${line.number}</span>${hasTimes && html`<span class="line-time">${clock(line.at)}</span>`}${line.stream === 'err' && html`<span class="line-stream" title=${label}><span aria-hidden="true">!</span><span class="visually-hidden">stderr </span></span>`}<bdi dir="ltr" class="line-text">${terminalPieces(text).map((piece) => html`<span class=${piece.style}>${marked(piece.text, wanted)}</span>`)}</bdi>${isCut && html` <button type="button" class="small" onClick=${open}>… all ${number(line.text.length)} characters</button>`}</div>`;
}

/** @param {string} text @param {string} wanted */
function marked(text, wanted) {
  if (!wanted) return text;
  const lower = text.toLowerCase();
  const parts = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), html`<mark>${text.slice(at, at + wanted.length)}</mark>`);
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}
