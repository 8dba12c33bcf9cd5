// The page as a whole: who asks, where it is, whether it is connected.

import { html, render, signal, useEffect, useErrorBoundary, useLayoutEffect, useRef } from './html.js';
import { introduce, mayOperate, send, session } from './api.js';
import { connection, hangUp, reconnect, useEars } from './live.js';
import { place, go, to } from './router.js';
import { useKeys } from './keys.js';
import { toSpot } from './spot.js';
import { now } from './time.js';
import { shown } from './text.js';
import { Notes, say, Trouble, Empty } from './parts/basics.js';
import { Deciding } from './parts/deciding.js';
import { Begun, Help } from './parts/help.js';
import { Search } from './parts/search.js';
import { heardOfApprovals, refreshApprovals, waitingApprovals } from './approvals.js';
import { Login, LoginAgain } from './views/login.js';
import { Home } from './views/home.js';
import { Workflows } from './views/workflows.js';
import { WorkflowView } from './views/workflow.js';
import { Runs } from './views/runs.js';
import { RunView } from './views/run.js';
import { TaskView } from './views/task.js';
import { Approvals } from './views/approvals.js';
import { Tiers } from './views/tiers.js';

const open = signal(/** @type {'' | 'help' | 'search'} */ (''));

/** What can be gone to. */
const DOORS = [
  { key: 'h', view: 'home', label: 'Home', href: to.home() },
  { key: 'w', view: 'workflows', label: 'Workflows', href: to.workflows() },
  { key: 'r', view: 'runs', label: 'Runs', href: to.runs() },
  { key: 'a', view: 'approvals', label: 'Approvals', href: to.approvals() },
  { key: 't', view: 'tiers', label: 'Tiers', href: to.tiers() },
];

/** @type {Record<string, string>} */
const WITHIN = { workflow: 'workflows', run: 'runs', task: 'runs' };

function Bar() {
  const here = WITHIN[place.value.view] ?? place.value.view;
  const { name, role } = session.value;
  const waiting = waitingApprovals.value;
  return html`<header class="bar-top">
    <a class="brand" href=${to.home()} aria-label="Mainspring, home"><img src=${new URL('../icon.svg', import.meta.url).pathname} alt="" width="24" height="24" /><span class="wide">Mainspring</span></a>
    <nav aria-label="Main">${DOORS.map((door) => html`<a key=${door.view} href=${door.href} aria-current=${here === door.view ? 'page' : undefined}>${door.label}${door.view === 'approvals' && waiting ? html` <span class="badge">${waiting}<span class="visually-hidden"> waiting</span></span>` : ''}</a>`)}</nav>
    <div class="bar-tools">
      <button type="button" class="search-button" onClick=${() => { open.value = 'search'; }}><svg class="glass" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><circle cx="7" cy="7" r="4.5" /><path d="m10.5 10.5 4 4" /></svg><span class="wide">Search</span> <kbd class="wide">/</kbd><span class="visually-hidden narrow-only">Search</span></button>
      <button type="button" class="quiet" onClick=${() => { open.value = 'help'; }} aria-label="Help and keys">?</button>
      ${name !== 'anonymous' && html`<span class="who wide" title=${`role ${role}`}>${shown(name)}</span><button type="button" class="quiet" onClick=${logout}>Log out</button>`}
    </div>
  </header>`;
}

async function logout() {
  await send('/session', undefined, { method: 'DELETE' }).catch(() => {});
  hangUp();
  session.value = { is: 'closed' };
}

/** Says when what is shown may be old, and when it is not any more. */
function Connection() {
  const { is, since, retryAt, wasLost, problem } = connection.value;
  useEffect(() => {
    if (is === 'live' && wasLost) say('Connected again. Everything is up to date.');
  }, [is, wasLost]);
  if (is === 'refused' && problem && problem.status !== 401 && problem.status !== 404) {
    return html`<div class="banner tone-failed" role="alert"><strong>${shown(problem.title)}</strong> ${shown(problem.detail)}</div>`;
  }
  const isAway = is === 'lost' || (is === 'connecting' && since !== undefined);
  if (!isAway) return html`<div role="status" class="visually-hidden"></div>`;
  const left = Math.max(0, Math.ceil(((retryAt ?? 0) - now.value) / 1000));
  const when = since ? new Date(since).toLocaleTimeString('en-GB') : '';
  return html`<div class="banner tone-waiting" role="status">
    <span><strong>The server does not answer.</strong> What you see is from ${when}. ${is === 'connecting' ? 'Trying now…' : `Trying again ${left > 0 ? `in ${left} s` : 'now'}.`}</span>
    <button type="button" onClick=${reconnect}>Try now</button>
  </div>`;
}

const VIEWS = {
  home: Home, workflows: Workflows, workflow: WorkflowView, runs: Runs, run: RunView, task: TaskView,
  approvals: Approvals, tiers: Tiers,
};

function Nowhere() {
  return html`<main id="main" tabindex="-1"><h1>There is nothing here</h1><${Empty} title="This address leads nowhere."><p>Go <a href=${to.home()}>home</a>, or press <kbd>/</kbd> to search.</p><//></main>`;
}

/** One view; a mistake in it leaves the rest of the page alone. */
function View() {
  const { view, params } = place.value;
  const [broken, mend] = useErrorBoundary((/** @type {unknown} */ error) => console.error(error));
  const shownAt = `${view} ${Object.values(params).join(' ')}`;
  const before = useRef(shownAt);
  useLayoutEffect(toSpot, []);
  useLayoutEffect(() => {
    if (before.current === shownAt) return;
    before.current = shownAt;
    mend();
    toSpot();
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [shownAt]);
  if (broken) return html`<main id="main" tabindex="-1"><h1>This view broke</h1><${Trouble} problem=${{ title: 'A mistake in the page itself', detail: `${broken.message ?? broken}. Loading the page anew may help; nothing on the server is touched by it.` }} again=${mend} /></main>`;
  const Chosen = /** @type {any} */ (VIEWS)[view] ?? Nowhere;
  return html`<${Chosen} key=${shownAt} ...${params} />`;
}

function Page() {
  useEars({ fresh: refreshApprovals, run: heardOfApprovals });
  useKeys([
    { keys: '/', does: 'Search', act: () => { open.value = 'search'; } },
    { keys: '?', does: 'Help', act: () => { open.value = 'help'; } },
    ...DOORS.map((door) => ({ keys: `g ${door.key}`, does: `Go to ${door.label}`, act: () => go(door.href) })),
  ]);
  const close = () => { open.value = ''; };
  return html`<a class="skip" href="#main">Skip to the content</a>
    <${Bar} /><${Connection} />
    ${!mayOperate() && html`<aside class="banner tone-quiet" aria-label="Your role"><span>You may look at everything and change nothing: your role is <strong>viewer</strong>.</span></aside>`}
    <${View} /><${Notes} /><${Begun} /><${Deciding} />
    ${open.value === 'help' && html`<${Help} close=${close} />`}
    ${open.value === 'search' && html`<${Search} close=${close} />`}`;
}

/** How long until a server that does not answer yet is asked again. */
const ASK_AGAIN_MS = 1500;
const trouble = signal(/** @type {any} */ (undefined));

async function begin() {
  try {
    const before = session.value.name;
    await introduce();
    trouble.value = undefined;
    // What somebody else may hear is another stream.
    if (session.value.name !== before) hangUp();
  } catch (error) {
    if (session.value.is === 'closed') return;
    trouble.value = error;
    setTimeout(begin, ASK_AGAIN_MS);
  }
}

function Root() {
  const { is, expired, name } = session.value;
  if (is === 'closed' && !expired) return html`<${Login} entered=${begin} /><${Notes} />`;
  if (is === 'unknown') return trouble.value ? html`<main id="main"><h1>Mainspring</h1><${Trouble} problem=${trouble.value} /></main>` : html`<main id="main"><h1 class="visually-hidden">Mainspring</h1></main>`;
  // For somebody else it is another page: what one has typed is not for another.
  return html`<${Page} key=${name} />${is === 'closed' && html`<${LoginAgain} entered=${begin} />`}`;
}

begin();
const page = /** @type {HTMLElement} */ (document.getElementById('page'));
page.replaceChildren();
render(html`<${Root} />`, page);
