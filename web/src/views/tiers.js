// Limits that tasks name: how full each is, who holds it, who waits.

import { html, useEffect, useMemo, useState } from '../html.js';
import { get, mayOperate, send } from '../api.js';
import { throttled } from '../live.js';
import { Ago, Dialog, Empty, Loading, say, Trouble } from '../parts/basics.js';
import { useLoaded } from '../parts/load.js';
import { shortId } from '../reasons.js';
import { number, shown } from '../text.js';
import { to } from '../router.js';

/** @typedef {import('../shapes.js').Tier} Tier */

const SHOWN = 20;

export function Tiers() {
  const refresh = useMemo(() => throttled(() => void loaded.again(), 1000), []);
  const loaded = useLoaded((signal) => get('/tiers', signal), { keys: [], hear: { run: () => refresh() } });
  const [changing, setChanging] = useState(/** @type {Tier | 'new' | undefined} */ (undefined));
  useEffect(() => { document.title = 'Tiers · Mainspring'; }, []);
  const tiers = /** @type {Tier[] | undefined} */ (loaded.data?.items);
  // What is full, or has somebody waiting, is looked for first.
  const isBusy = (/** @type {Tier} */ tier) => tier.in_use > 0 || tier.waiting > 0;
  const busy = (tiers ?? []).filter(isBusy).sort((a, b) => b.waiting - a.waiting || b.in_use - a.in_use);
  const idle = (tiers ?? []).filter((tier) => !isBusy(tier));
  return html`<main id="main" tabindex="-1"><div class="head"><h1>Tiers</h1><span class="spread"></span>${mayOperate() && html`<button type="button" onClick=${() => setChanging('new')}>Add a tier…</button>`}</div><p class="muted">A tier bounds how many tasks that name it run at once, over all runs. <code>total</code> and <code>executor:process</code> bound everything. <code>max_active_runs</code> and <code>concurrency_group</code> bound runs, and are in the text of a workflow.</p>
    ${loaded.problem && html`<${Trouble} problem=${loaded.problem} again=${loaded.again} />`}
    ${!tiers && !loaded.problem && html`<${Loading} />`}
    ${tiers?.length === 0 && html`<${Empty} title="There are no tiers."><p>A workflow has its own under <code>tiers:</code>; the server's are in its configuration, or added here.</p><//>`}
    ${[['At work', busy], ['Idle', idle]].map(([title, some]) => some.length > 0 && html`<section key=${title} aria-label=${title}><h2>${title}</h2><ul class=${`cards ${title === 'Idle' ? 'tiles' : ''}`}>${/** @type {Tier[]} */ (some).map((tier) => html`<${TierCard} key=${`${tier.workflow ?? ''} ${tier.name}`} tier=${tier} change=${() => setChanging(tier)} />`)}</ul></section>`)}
    ${changing && html`<${Change} tier=${changing} close=${() => setChanging(undefined)} done=${loaded.again} />`}
  </main>`;
}

/** @param {{ tier: Tier, change: () => void }} props */
function TierCard({ tier, change }) {
  const full = tier.limit > 0 ? Math.min(1, tier.in_use / tier.limit) : 1;
  const canChange = mayOperate() && tier.source !== 'workflow';
  return html`<li class="card tier">
    <div class="card-head"><h2><bdi>${shown(tier.name)}</bdi></h2>${tier.workflow && html`<span class="muted">of <a href=${to.workflow(tier.workflow)}>${shown(tier.workflow)}</a></span>`}<span class="label">from ${shown(tier.source)}</span><span class="spread"></span>
      ${canChange && html`<button type="button" onClick=${change} aria-label=${`Change limit of ${tier.name}`}>Change limit</button>`}</div>
    <div class="meter" role="meter" aria-label=${`${tier.name} in use`} aria-valuemin="0" aria-valuemax=${tier.limit} aria-valuenow=${tier.in_use}><span class=${full >= 1 ? 'tone-waiting' : 'tone-running'} style=${{ width: `${full * 100}%` }}></span></div>
    <p><strong>${number(tier.in_use)}</strong> of ${number(tier.limit)} ${tier.counts === 'runs' ? 'active' : 'in use'}, <strong>${number(tier.waiting)}</strong> waiting${tier.rate ? `, at most ${tier.rate}` : ''}</p>
    ${tier.holders.length + tier.waiters.length > 0 && html`<div class="columns"><${Who} title="Held by" all=${tier.holders} more=${tier.in_use} /><${Who} title="Waiting" all=${tier.waiters} more=${tier.waiting} /></div>`}
  </li>`;
}

/** @param {{ title: string, all: any[] | undefined, more: number }} props */
function Who({ title, all, more }) {
  if (!all?.length) return null;
  return html`<div><h3>${title}</h3><ul class="plain">${all.slice(0, SHOWN).map((it) => html`<${One} key=${`${it.run} ${it.task} ${it.index}`} it=${it} />`)}</ul>
    ${more > Math.min(all.length, SHOWN) && html`<p class="muted">and ${number(more - Math.min(all.length, SHOWN))} more</p>`}</div>`;
}

/** @param {{ it: import('../shapes.js').Holder }} props */
function One({ it }) {
  const since = html`<${Ago} at=${it.since} />`;
  if (it.task === undefined) return html`<li><a class="mono" href=${to.run(it.run)}>${shortId(it.run)}</a> <span class="muted">of <bdi>${shown(it.workflow)}</bdi> ${since}</span></li>`;
  return html`<li><a href=${to.task(it.run, it.task, it.index)}><bdi>${shown(it.task)}</bdi>${it.index === undefined ? '' : `[${it.index}]`}</a> <span class="muted">of <bdi>${shown(it.workflow)}</bdi> <a class="mono" href=${to.run(it.run)}>${shortId(it.run)}</a> ${since}</span></li>`;
}

/** @param {{ tier: Tier | 'new', close: () => void, done: () => void }} props */
function Change({ tier, close, done }) {
  const before = tier === 'new' ? { name: '', limit: 1, rate: '' } : { name: tier.name, limit: tier.limit, rate: tier.rate ?? '' };
  const [name, setName] = useState(before.name);
  const [limit, setLimit] = useState(String(before.limit));
  const [rate, setRate] = useState(before.rate);
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const change = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const isRated = rate.trim() !== before.rate;
    try {
      await send('/tiers', { name, limit: Number(limit), ...(isRated ? { rate: rate.trim() || null } : {}) }, { method: 'PUT' });
      say(`${name} now has a limit of ${limit}${rate.trim() ? `, and ${rate.trim()} starts` : ''}.`);
      close();
      done();
    } catch (error) {
      setProblem(error);
    }
  };
  const given = (/** @type {(text: string) => void} */ set) => (/** @type {any} */ event) => set(event.target.value);
  return html`<${Dialog} title=${tier === 'new' ? 'A new tier' : `Limit of ${shown(before.name)}`} close=${close}><form onSubmit=${change}>
    <p>${tier === 'new' ? html`Tasks of all workflows may name it: <code>tier: NAME</code>.` : 'What runs goes on; the new limit holds for what starts from now on.'}</p>
    ${tier === 'new' && html`<label for="tier-name">Name</label><input id="tier-name" required autofocus maxlength="128" value=${name} onInput=${given(setName)} />`}
    <label for="limit">At most so many at once</label><input id="limit" type="number" min="0" step="1" required autofocus=${tier !== 'new'} aria-describedby="limit-about" value=${limit} onInput=${given(setLimit)} /><p id="limit-about" class="muted field-about">0 lets nothing start.</p>
    <label for="rate">Starts in any time of a length, like 100/1m (empty: no such bound)</label><input id="rate" value=${rate} onInput=${given(setRate)} />
    ${problem && html`<${Trouble} problem=${problem} />`}
    <div class="dialog-tools"><button type="button" onClick=${close}>Leave it</button><button type="submit" class="primary">${tier === 'new' ? 'Add' : 'Change'}</button></div></form><//>`;
}
