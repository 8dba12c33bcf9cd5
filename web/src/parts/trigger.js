// A form made from the schema of a workflow's input. What no field can hold is written as JSON.

import { html, useState } from '../html.js';
import { onceKeys, path, send } from '../api.js';
import { go, to } from '../router.js';
import { shown } from '../text.js';
import { say, Trouble } from './basics.js';

/** @typedef {{ type?: string | string[], title?: string, description?: string, default?: any, enum?: any[], properties?: Record<string, Schema>, required?: string[], format?: string, minimum?: number, maximum?: number, pattern?: string, minLength?: number, maxLength?: number }} Schema */
/** @typedef {'text' | 'integer' | 'number' | 'switch' | 'choice' | 'json'} FieldKind */

/** @param {Schema} schema @returns {FieldKind} */
function kindOf(schema) {
  if (Array.isArray(schema.enum)) return 'choice';
  const types = /** @type {Record<string, FieldKind>} */ ({ string: 'text', integer: 'integer', number: 'number', boolean: 'switch' });
  return (typeof schema.type === 'string' && types[schema.type]) || 'json';
}

/** What a field begins with. @param {Schema} schema @param {FieldKind} kind */
function initial(schema, kind) {
  if (schema.default === undefined) return '';
  if (kind === 'text') return String(schema.default);
  return JSON.stringify(schema.default, null, kind === 'json' ? 2 : undefined);
}

/**
 * The value of a field, or what is wrong with it. Nothing given: the default holds.
 * @param {string} text @param {FieldKind} kind
 */
export function valueOf(text, kind) {
  if (kind === 'text') return { value: text };
  if (text.trim() === '') return {};
  if (kind === 'integer' || kind === 'number') {
    const number = Number(text);
    if (!Number.isFinite(number) || (kind === 'integer' && !Number.isInteger(number))) return { wrong: kind === 'integer' ? 'A whole number, please.' : 'A number, please.' };
    return { value: number };
  }
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { wrong: `This is no JSON: ${/** @type {Error} */ (error).message}` };
  }
}

/** @param {Schema} schema @param {string} name */
const isRequired = (schema, name) => schema.required?.includes(name) ?? false;

/**
 * The input that the form holds, and what is wrong with which field.
 * @param {Schema} schema
 * @param {{ names: string[], asJson: boolean, fields: Record<string, string>, raw: string, labels: string, priority: string }} form
 */
function gathered(schema, { names, asJson, fields, raw, labels, priority }) {
  /** @type {Record<string, string>} */
  const faults = {};
  /** @type {any} */
  let input = {};
  if (asJson) {
    const { value, wrong: fault } = valueOf(raw || '{}', 'json');
    if (fault) faults[''] = fault;
    input = value;
  } else {
    for (const name of names) {
      const about = /** @type {any} */ (schema.properties)[name];
      const { value, wrong: fault } = valueOf(fields[name], kindOf(about));
      if (fault) faults[name] = fault;
      else if (value === '' && about.default === undefined) {
        if (isRequired(schema, name)) faults[name] = 'This is required.';
      }
      else if (value !== undefined) input[name] = value;
      else if (isRequired(schema, name) && about.default === undefined) faults[name] = 'This is required.';
    }
  }
  if (pairsOf(labels).some(([key, value]) => !key || value === undefined)) faults.labels = 'Each label is key=value, like team=data.';
  if (!/^-?\d+$/.test(priority.trim())) faults.priority = 'A whole number, please.';
  return { input, faults };
}

/** @param {{ workflow: import('../shapes.js').Workflow, close: () => void }} props */
export function Trigger({ workflow, close }) {
  const schema = /** @type {Schema} */ (workflow.input ?? {});
  // What is needed comes first; the rest is in the order in which the server has it: by name.
  const isNeeded = (/** @type {string} */ name) => isRequired(schema, name);
  const names = Object.keys(schema.properties ?? {}).sort((a, b) => Number(isNeeded(b)) - Number(isNeeded(a)));
  const [asJson, setAsJson] = useState(names.length === 0 && workflow.input !== undefined);
  const [fields, setFields] = useState(() => Object.fromEntries(names.map((name) => [name, initial(/** @type {any} */ (schema.properties)[name], kindOf(/** @type {any} */ (schema.properties)[name]))])));
  const [raw, setRaw] = useState('');
  const [labels, setLabels] = useState('');
  const [priority, setPriority] = useState('0');
  const [more, setMore] = useState(false);
  const [wrong, setWrong] = useState(/** @type {Record<string, string>} */ ({}));
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [busy, setBusy] = useState(false);
  // Pressed twice, or again after an answer that was lost: one run.
  const [once] = useState(onceKeys);

  const gather = () => gathered(schema, { names, asJson, fields, raw, labels, priority });
  const fill = (/** @type {string} */ name, /** @type {string} */ value) => {
    setFields({ ...fields, [name]: value });
    setWrong(Object.fromEntries(Object.entries(wrong).filter(([it]) => it !== name)));
  };
  /** Leads to the first field in which something is wrong. @param {Record<string, string>} faults */
  const point = (faults) => {
    setWrong(faults);
    const [first] = [...names, ...Object.keys(faults)].filter((name) => name in faults);
    const isBelow = first === 'labels' || first === 'priority';
    if (isBelow) setMore(true);
    // It may be drawn, or allowed to have the focus, only then.
    requestAnimationFrame(() => document.getElementById(isBelow ? first : `in-${first}`)?.focus());
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const { input, faults } = gather();
    setWrong(faults);
    setProblem(undefined);
    if (Object.keys(faults).length > 0) return point(faults);
    setBusy(true);
    try {
      const body = { input, labels: Object.fromEntries(pairsOf(labels)), priority: Number(priority) };
      const run = await send(path`/workflows/${workflow.name}/runs`, body, { key: once(body) });
      say(`${workflow.name} has been started.`);
      close();
      go(to.run(run.id));
    } catch (error) {
      const { faults: told, rest } = placed(/** @type {any} */ (error), asJson ? [] : names);
      if (Object.keys(told).length > 0) point(told);
      setProblem(rest);
    }
    setBusy(false);
    return undefined;
  };
  const toJson = (/** @type {boolean} */ on) => {
    if (on) setRaw(JSON.stringify(gather().input, null, 2));
    setAsJson(on);
  };
  return html`<form class="trigger" onSubmit=${submit} novalidate>
    ${names.length === 0 && !asJson && html`<p>It takes no input.</p>`}
    ${!asJson && names.map((name, i) => html`<${Field} key=${name} name=${name} schema=${/** @type {any} */ (schema.properties)[name]} isNeeded=${isNeeded(name)} isFirst=${i === 0} value=${fields[name]} wrong=${wrong[name]} set=${(/** @type {string} */ value) => fill(name, value)} />`)}
    ${asJson && html`<label for="in-">Input, as JSON</label><textarea id="in-" rows="8" class="mono" spellcheck=${false} autofocus aria-describedby="wrong-" value=${raw} onInput=${(/** @type {any} */ event) => setRaw(event.target.value)}></textarea><p id="wrong-" class="field-wrong" role="alert">${wrong[''] ?? ''}</p>`}
    ${names.length > 0 && html`<label class="check"><input type="checkbox" checked=${asJson} onChange=${(/** @type {any} */ event) => toJson(event.target.checked)} /> Write the input as JSON</label>`}
    <details open=${more} onToggle=${(/** @type {any} */ event) => setMore(event.target.open)}><summary>Labels and priority</summary>
      <label for="labels">Labels: key=value, separated by commas</label><input id="labels" aria-describedby="wrong-labels" aria-invalid=${wrong.labels ? 'true' : undefined} value=${labels} onInput=${(/** @type {any} */ event) => setLabels(event.target.value)} /><p id="wrong-labels" class="field-wrong" role="alert">${wrong.labels ?? ''}</p>
      <label for="priority">Priority: higher goes first</label><input id="priority" type="number" step="1" aria-describedby="wrong-priority" aria-invalid=${wrong.priority ? 'true' : undefined} value=${priority} onInput=${(/** @type {any} */ event) => setPriority(event.target.value)} /><p id="wrong-priority" class="field-wrong" role="alert">${wrong.priority ?? ''}</p></details>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div class="dialog-tools"><button type="button" onClick=${close}>Not now</button><button type="submit" class="primary" disabled=${busy} autofocus=${names.length === 0 && !asJson}>Start</button></div>
  </form>`;
}

/**
 * What the server finds wrong with the input, by the field it is about; and what is about none.
 * @param {import('../api.js').Problem} problem @param {string[]} names
 */
export function placed(problem, names) {
  /** @type {Record<string, string>} */
  const faults = {};
  const left = (problem.errors ?? []).filter((fault) => {
    const [, root, name = '', ...inside] = (fault.path ?? '').split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (root !== 'input' || !names.includes(name)) return true;
    faults[name] ??= inside.length ? `${inside.join('/')}: ${fault.message}` : fault.message;
    return false;
  });
  if (Object.keys(faults).length === 0) return { faults, rest: problem };
  return { faults, rest: left.length ? { ...problem, title: problem.title, detail: '', errors: left } : undefined };
}

/** Which numbers may be given, in words. @param {Schema} schema */
function range({ minimum, maximum }) {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${minimum} or more`;
  return maximum === undefined ? '' : `${maximum} or less`;
}

/** `a=1, b=2` as pairs; the value of what has none is missing. @param {string} text */
function pairsOf(text) {
  return text.split(/[,\n]/).map((pair) => pair.trim()).filter(Boolean).map((pair) => {
    const at = pair.indexOf('=');
    return at < 0 ? [pair, undefined] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
}

/** @param {{ name: string, schema: Schema, isNeeded: boolean, isFirst: boolean, value: string, wrong?: string, set: (value: string) => void }} props */
function Field({ name, schema, isNeeded, isFirst, value, wrong, set }) {
  const kind = kindOf(schema);
  const id = `in-${name}`;
  const input = (/** @type {any} */ event) => set(event.target.value);
  const about = [schema.description, range(schema), kind === 'json' ? `as JSON${typeof schema.type === 'string' ? `, ${schema.type === 'array' ? 'a list: ["a", "b"]' : schema.type === 'object' ? 'an object: {"a": 1}' : schema.type}` : ''}` : '', schema.default !== undefined ? `default: ${JSON.stringify(schema.default)}` : ''].filter(Boolean).join(' · ');
  if (kind === 'switch' && schema.default !== undefined) return html`<div class="field"><label class="check" for=${id}><input id=${id} type="checkbox" autofocus=${isFirst} checked=${value === 'true'} aria-describedby=${`about-${name}`} onChange=${(/** @type {any} */ event) => set(String(event.target.checked))} /> <bdi>${shown(schema.title ?? name)}</bdi></label><p id=${`about-${name}`} class="muted field-about"><bdi>${shown(schema.description ?? '')}</bdi></p></div>`;
  const shared = { id, 'aria-describedby': `about-${name} wrong-${name}`, 'aria-invalid': wrong ? 'true' : undefined, autofocus: isFirst, onInput: input, value };
  return html`<div class="field"><label for=${id}><bdi>${shown(schema.title ?? name)}</bdi>${isNeeded ? html` <span class="needed">required</span>` : ''}</label>
    ${kind === 'choice' ? html`<select ...${shared} onChange=${input}>${(!isNeeded || value === '') && html`<option value="">–</option>`}${schema.enum?.map((it) => html`<option key=${JSON.stringify(it)} value=${JSON.stringify(it)}>${shown(typeof it === 'string' ? it : JSON.stringify(it))}</option>`)}</select>`
      : kind === 'switch' ? html`<select ...${shared} onChange=${input}><option value="">–</option><option value="true">true</option><option value="false">false</option></select>`
        : kind === 'json' ? html`<textarea ...${shared} rows="4" class="mono" spellcheck=${false}></textarea>`
          : html`<input ...${shared} type=${kind === 'text' ? 'text' : 'number'} step=${kind === 'integer' ? '1' : 'any'} min=${schema.minimum} max=${schema.maximum} />`}
    <p id=${`about-${name}`} class="muted field-about"><bdi>${shown(about)}</bdi></p><p id=${`wrong-${name}`} class="field-wrong" role="alert">${wrong ?? ''}</p></div>`;
}
