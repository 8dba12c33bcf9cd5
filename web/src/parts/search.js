// One box for everything that has a name: workflows, runs by their id or the end of it, tasks of the
// run in sight.

import { html, useEffect, useRef, useState } from '../html.js';
import { get, query } from '../api.js';
import { go, place, to } from '../router.js';
import { shown } from '../text.js';
import { word } from '../words.js';
import { Dialog } from './basics.js';
import { tasksInSight } from '../book.js';

const SHOWN_MAX = 30;
const RUN_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/i;
/** The page shows the last eight digits. */
const RUN_END = /^[0-9a-f]{4,12}$/i;
/** Of so many runs, the newest, the end of the id is enough. */
const RUNS_MAX = 1000;

/** @param {{ close: () => void }} props */
export function Search({ close }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [workflows, setWorkflows] = useState(/** @type {{ name: string, description?: string }[]} */ ([]));
  const [runs, setRuns] = useState(/** @type {import('../shapes.js').Run[] | undefined} */ (undefined));
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    box.current?.focus();
    get(`/workflows${query({ limit: 1000 })}`).then((page) => setWorkflows(page.items), () => {});
  }, []);
  const isEnd = RUN_END.test(text.trim());
  useEffect(() => {
    if (isEnd && !runs) get(`/runs${query({ limit: RUNS_MAX })}`).then((page) => setRuns(page.items), () => {});
  }, [isEnd]);
  const found = hits(text.trim(), workflows, isEnd ? runs ?? [] : []);
  const chosen = Math.min(at, found.length - 1);
  const open = (/** @type {string} */ href) => {
    close();
    go(href);
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else if (event.key === 'Enter' && found[chosen]) open(found[chosen].href);
    // A browser empties the box first, and closes it only then.
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  };
  return html`<${Dialog} title="Search" close=${close}>
    <input ref=${box} type="search" class="search-box" placeholder="Workflow, task, or the id of a run" aria-label="Search" role="combobox" aria-expanded="true" aria-controls="hits"
      aria-activedescendant=${found[chosen] ? `hit-${chosen}` : undefined} autocomplete="off" spellcheck=${false} value=${text} onInput=${(/** @type {any} */ event) => { setText(event.target.value); setAt(0); }} onKeyDown=${key} />
    <ul id="hits" class="hits" role="listbox" aria-label="Found">
      ${found.map((hit, i) => html`<li key=${hit.href} id=${`hit-${i}`} role="option" aria-selected=${i === chosen} onClick=${() => open(hit.href)}><span class="hit-kind">${hit.kind}</span> <bdi>${shown(hit.name)}</bdi> <span class="muted">${shown(hit.more ?? '')}</span></li>`)}
    </ul>
    ${found.length === 0 && html`<p class="muted">Nothing has that in its name. Runs are found by their id or the end of it, older ones in the <a href=${to.runs()} onClick=${close}>list of runs</a>.</p>`}
  <//>`;
}

/** @param {string} text @param {{ name: string, description?: string }[]} workflows @param {import('../shapes.js').Run[]} runs */
function hits(text, workflows, runs) {
  const wanted = text.toLowerCase();
  const matches = (/** @type {string | undefined} */ it) => it?.toLowerCase().includes(wanted);
  const found = [];
  if (RUN_ID.test(text)) found.push({ kind: 'run', name: text, href: to.run(text), more: '' });
  for (const run of runs) if (run.id.endsWith(wanted)) found.push({ kind: 'run', name: run.workflow, href: to.run(run.id), more: `${run.id.slice(-8)}, ${word(run.status)}` });
  const { view, params } = place.value;
  if ((view === 'run' || view === 'task') && wanted) {
    for (const name of tasksInSight()) if (matches(name)) found.push({ kind: 'task', name, href: to.task(params.id, name), more: 'of this run' });
  }
  for (const it of workflows) if (matches(it.name) || matches(it.description)) found.push({ kind: 'workflow', name: it.name, href: to.workflow(it.name), more: it.description });
  if (!wanted) found.push({ kind: 'view', name: 'Runs that failed', href: to.runs({ status: 'failed' }), more: '' });
  return found.slice(0, SHOWN_MAX);
}
