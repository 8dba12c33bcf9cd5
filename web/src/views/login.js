// The door of a server that asks for tokens.

import { html, useEffect, useRef, useState } from '../html.js';
import { send } from '../api.js';
import { Trouble } from '../parts/basics.js';

/** @param {{ entered: () => void }} props */
export function Login({ entered }) {
  useEffect(() => { document.title = 'Log in · Mainspring'; }, []);
  return html`<main id="main" class="login" tabindex="-1">
    <img src=${new URL('../../icon.svg', import.meta.url).pathname} alt="" width="48" height="48" />
    <h1>Mainspring</h1>
    <p>This server asks for a token.</p>
    <${Door} entered=${entered} />
  </main>`;
}

/** Over the page, which stays as it is with whatever was typed into it. @param {{ entered: () => void }} props */
export function LoginAgain({ entered }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  // There is nothing behind it that would work: Escape leads nowhere. Pressed twice, a browser closes it all the same.
  const stay = (/** @type {Event} */ event) => event.preventDefault();
  return html`<dialog ref=${box} aria-labelledby="again" onCancel=${stay} onClose=${() => box.current?.showModal()}>
    <div class="dialog-head"><h2 id="again">Your session has ended.</h2></div>
    <div class="dialog-body login-again"><p>Log in again: the page is as you left it.</p><${Door} entered=${entered} /></div>
  </dialog>`;
}

/** @param {{ entered: () => void }} props */
function Door({ entered }) {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [busy, setBusy] = useState(false);
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => box.current?.focus(), []);
  const enter = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await send('/session', { token: token.trim() });
      entered();
    } catch (error) {
      setProblem(error);
      box.current?.select();
    }
    setBusy(false);
  };
  return html`<form onSubmit=${enter}>
      <label for="token">Token</label>
      <input id="token" ref=${box} type="password" autocomplete="current-password" required value=${token} onInput=${(/** @type {any} */ event) => setToken(event.target.value)} />
      <button class="primary" type="submit" disabled=${busy || !token.trim()}>Log in</button>
    </form>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <details><summary>Where do I get one?</summary><p>Whoever runs the server makes one on its machine:</p><div class="command"><code tabindex="0">mainspring tokens create NAME --role operator</code></div></details>`;
}
