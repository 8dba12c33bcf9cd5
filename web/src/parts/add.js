// Tasks for a run that lives, written as in a workflow. What is wrong with them is told with its
// place, and a click leads there.

import { html, useRef, useState } from '../html.js';
import { onceKeys, path, send } from '../api.js';
import { tasksInSight } from '../book.js';
import { counted, shown } from '../text.js';
import { Dialog, say, Trouble } from './basics.js';

/** @typedef {import('../api.js').Fault} Fault */

/** Something to begin with. */
function example() {
  const last = tasksInSight().at(-1);
  return `tasks:\n  more:\n${last ? `    depends_on: [${JSON.stringify(last)}]\n` : ''}    run: echo one more\n`;
}

/** @param {{ run: string, close: () => void }} props */
export function AddDialog({ run, close }) {
  const [text, setText] = useState(example);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [busy, setBusy] = useState(false);
  const [once] = useState(onceKeys);
  const box = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const { warnings = [] } = await send(path`/runs/${run}/tasks`, text, { type: 'application/yaml', key: once(text) });
      say(warnings.length ? `The tasks are added, with ${counted(warnings.length, 'warning')}: ${warnings.map((/** @type {Fault} */ it) => it.message).join('; ')}` : 'The tasks are added.');
      close();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const lead = (/** @type {Fault} */ fault) => {
    const before = text.split('\n').slice(0, (fault.line ?? 1) - 1).join('\n').length;
    const at = before + (fault.line === 1 ? 0 : 1) + (fault.column ?? 1) - 1;
    box.current?.focus();
    box.current?.setSelectionRange(at, at + 1);
  };
  const placed = /** @type {Fault[]} */ (problem?.errors ?? []).filter((it) => it.line);
  return html`<${Dialog} title="Add tasks to the run" close=${close} wide><form onSubmit=${submit}>
    <p>Written as in a workflow. They may wait for tasks of the run, also for settled ones, and for each other; nothing that is there changes.</p>
    <label for="added">Tasks, as YAML</label><textarea id="added" ref=${box} rows="12" class="mono" spellcheck=${false} autofocus wrap="off" aria-describedby="added-wrong" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)}></textarea>
    <div id="added-wrong">${placed.length > 0 ? html`<div class="trouble tone-failed" role="alert"><strong>${shown(problem.title)}</strong>
        <ul class="faults">${placed.map((fault, i) => html`<li key=${i}><button type="button" class="link" onClick=${() => lead(fault)}>line ${fault.line}, column ${fault.column ?? 1}</button> <span>${shown(fault.message)}${fault.hint ? html` <span class="muted">${shown(fault.hint)}</span>` : ''}</span><pre class="fault-line" tabindex="0"><div>${shown(text.split('\n')[(fault.line ?? 1) - 1] ?? '')}</div><div aria-hidden="true">${`${' '.repeat(Math.max(0, (fault.column ?? 1) - 1))}^`}</div></pre></li>`)}</ul></div>`
      : problem && html`<${Trouble} problem=${problem} />`}</div>
    <div class="dialog-tools"><button type="button" onClick=${close}>Not now</button><button type="submit" class="primary" disabled=${busy}>Add</button></div></form><//>`;
}
