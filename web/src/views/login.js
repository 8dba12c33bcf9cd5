// The door of a server that asks for tokens.

import { html, useEffect, useRef, useState } from '../html.js';
import { send, session } from '../api.js';
import { Trouble } from '../parts/basics.js';

/** @param {{ entered: () => void }} props */
export function Login({ entered }) {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [busy, setBusy] = useState(false);
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    document.title = 'Log in · Mainspring';
    box.current?.focus();
  }, []);
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
  return html`<main id="main" class="login" tabindex="-1">
    <img src=${new URL('../../icon.svg', import.meta.url).pathname} alt="" width="48" height="48" />
    <h1>Mainspring</h1>
    <p>${session.value.expired ? 'Your session has ended. Log in again; you will be back where you were.' : 'This server asks for a token.'}</p>
    <form onSubmit=${enter}>
      <label for="token">Token</label>
      <input id="token" ref=${box} type="password" autocomplete="current-password" required value=${token} onInput=${(/** @type {any} */ event) => setToken(event.target.value)} />
      <button class="primary" type="submit" disabled=${busy || !token.trim()}>Log in</button>
    </form>
    ${problem && html`<${Trouble} problem=${problem} />`}
    <details><summary>Where do I get one?</summary><p>Whoever runs the server makes one on its machine:</p><div class="command"><code tabindex="0">mainspring tokens create NAME --role operator</code></div></details>
  </main>`;
}
