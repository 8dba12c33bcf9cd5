// A question before something is done that a key has asked for: a key is pressed by mistake, a
// button is not.

import { html } from '../html.js';
import { Dialog, Trouble } from './basics.js';

/**
 * @typedef {{ title: string, text: string, verb: string }} Question
 * @param {{ question: Question, busy: boolean, problem?: any, yes: () => unknown, close: () => void }} props
 */
export function Ask({ question, busy, problem, yes, close }) {
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void yes();
  };
  return html`<${Dialog} title=${question.title} close=${close}><form onSubmit=${submit}>
    <p>${question.text}</p>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div class="dialog-tools"><button type="button" onClick=${close}>Leave it</button><button type="submit" class="primary" autofocus disabled=${busy}>${question.verb}</button></div></form><//>`;
}
