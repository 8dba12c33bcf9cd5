// Back leads to where one was.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { isClean } from './look.js';

let server;
let browser;
const COUNT = 180;
/** Of a row of the list, in px. */
const HEIGHT = 44;
/** How far down the tests go: beyond what is loaded at first. */
const TOP = 6000;
/** In sight there. */
const IN_SIGHT = Math.ceil(TOP / HEIGHT) + 5;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy('name: short\ntasks:\n  one: { noop: {} }\n');
  await server.deploy('name: asks\ntasks:\n  ask: { parallel: 12, approval: { message: "Open region ${{ index }}?" } }\n');
  const runs = await Promise.all(Array.from({ length: COUNT }, () => server.trigger('short')));
  await Promise.all(runs.map((run) => server.reached(run.id, 'success')));
  await server.trigger('asks');
  await until(async () => (await server.api('/approvals')).items.length === 12);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const runsOf = (page) => page.getByRole('table', { name: 'Runs' });
const topOf = (page) => runsOf(page).evaluate((it) => it.scrollTop);
const scroll = (page, top) => runsOf(page).evaluate((it, top) => { it.scrollTop = top; }, top);
const toEnd = (page) => runsOf(page).evaluate((it) => { it.scrollTop = it.scrollHeight; });

/** All runs, and far down. */
async function farDown(page) {
  await page.open('/runs');
  await page.getByText('100 runs so far').waitFor();
  await toEnd(page);
  await page.getByText(`${COUNT + 1} runs`).waitFor();
  await scroll(page, TOP);
}

/** To one that is in sight. Clicked as a person does: a row that has just been scrolled away can still be found, but not clicked. */
async function toRun(page) {
  await runsOf(page).locator(`[aria-rowindex="${IN_SIGHT}"] a`).click();
  await page.waitForURL(/\/ui\/runs\/[0-9a-f-]{36}/);
  await page.getByRole('tab', { name: 'Graph' }).waitFor();
}

async function isFarDown(page) {
  await page.getByText(`${COUNT + 1} runs`).waitFor();
  await until(async () => (await topOf(page)) === TOP);
}

const home = async (page) => {
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByText('Needs attention').waitFor();
};

/** The next answer to that comes when it is free. @param {any} page @param {RegExp} url */
async function holdBack(page, url) {
  let [found, free] = [() => {}, () => {}];
  const asked = new Promise((done) => { found = done; });
  const isFree = new Promise((done) => { free = done; });
  await page.route(url, async (route) => {
    found();
    await isFree;
    // Nobody may want it any more.
    await route.fallback().catch(() => {});
  }, { times: 1 });
  const letGo = async () => {
    const answered = page.waitForResponse(url);
    free();
    await answered;
    await shown(page);
  };
  return { asked, free, letGo };
}

/** The stream is taken up again from a place that the server does not know: something may have been missed. */
async function missSomething(page) {
  await page.route(/\/events$/, (route) => route.continue({ headers: { ...route.request().headers(), 'last-event-id': 'nowhere' } }), { times: 1 });
  const again = page.waitForResponse((response) => response.url().includes('/runs?') && !response.url().includes('cursor='));
  await page.evaluate(() => dispatchEvent(new Event('online')));
  return (await again).json();
}

/** Once what has been answered is on the screen. */
async function shown(page) {
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
}

test('a list of runs is as long and as far down as it was left', async () => {
  const page = await browser.page(server);
  await farDown(page);
  await page.evaluate(() => { window.loadedOnce = true; });
  await toRun(page);
  await page.goBack();
  await isFarDown(page);
  assert.equal(await page.evaluate(() => window.loadedOnce), true, 'the page was not loaded anew');
  // Whoever comes to it anew begins at the top.
  await home(page);
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByText('100 runs so far').waitFor();
  assert.equal(await topOf(page), 0);
  isClean(page);
  await page.context().close();
});

test('whoever leaves a list while it is still loading finds it as it was before', async () => {
  const page = await browser.page(server);
  await farDown(page);
  await toRun(page);
  const list = await holdBack(page, /\/runs\?limit=/);
  await page.goBack();
  await list.asked;
  await home(page);
  list.free();
  await page.goBack();
  await isFarDown(page);
  isClean(page);
  await page.context().close();
});

test('whoever leaves a page while it is still loading finds it as it was before', async () => {
  const page = await browser.page(server);
  await page.open('/approvals');
  await page.getByText('Open region 11?').waitFor();
  await page.evaluate(() => scrollTo(0, 500));
  await page.goto(`${server.url}/ui/tiers`);
  const list = await holdBack(page, /\/approvals\?/);
  await page.goBack();
  await list.asked;
  await home(page);
  await list.letGo();
  await page.goBack();
  await until(async () => page.evaluate(() => scrollY === 500));
  isClean(page);
  await page.context().close();
});

test('a list that is left for another page at once is found as it was', async () => {
  const page = await browser.page(server);
  await farDown(page);
  // Within the pause after which a place is noted.
  await runsOf(page).evaluate((it, top) => {
    it.scrollTop = top - 1;
    it.scrollTop = top;
    location.assign('/ui/tiers');
  }, TOP);
  await page.getByRole('heading', { name: 'Tiers' }).waitFor();
  await page.goBack();
  await isFarDown(page);
  isClean(page);
  await page.context().close();
});

test('a list that is loaded again stays as long and as far down as it is', async () => {
  const page = await browser.page(server);
  await farDown(page);
  assert.equal((await missSomething(page)).items.length, COUNT + 1);
  await shown(page);
  await isFarDown(page);
  isClean(page);
  await page.context().close();
});

/** As many runs as one does not want to start; more may come. @param {any} page @param {number} count */
async function withRuns(page, count) {
  const { items: [one] } = await server.api('/runs?workflow=short&limit=1');
  let newest = 0;
  const next = () => ({ ...one, id: one.id.replace(/.{12}$/, String(newest += 1).padStart(12, '0')) });
  const all = Array.from({ length: count }, next).reverse();
  await page.route(/\/runs\?/, (route) => {
    const asked = new URL(route.request().url()).searchParams;
    const from = asked.has('cursor') ? all.findIndex((it) => it.id === asked.get('cursor')) + 1 : 0;
    const to = from + Number(asked.get('limit'));
    return route.fulfill({ json: { items: all.slice(from, to), next_cursor: to < all.length ? all[to - 1].id : undefined } });
  });
  return { start: (more) => all.unshift(...Array.from({ length: more }, next).reverse()) };
}

/** To a list that was left there: as if one came back to it. */
async function comeBack(page, rows) {
  await page.open('/runs');
  await runsOf(page).waitFor();
  // Whatever is noted when one leaves is not this.
  await page.open('/tiers');
  await page.addInitScript((rows) => { if (location.pathname === '/ui/runs') history.replaceState({ spot: { top: 0, rows: { Runs: rows } } }, ''); }, rows);
  await page.goBack();
  await runsOf(page).waitFor();
}

test('a list that is too long to be loaded again at once can be scrolled on', async () => {
  const page = await browser.page(server);
  await withRuns(page, 1150);
  await comeBack(page, { top: 40_000, count: 1100 });
  await page.getByText('1,000 runs so far').waitFor();
  await toEnd(page);
  await page.getByText('1,100 runs so far').waitFor();
  assert.equal((await missSomething(page)).items.length, 1000);
  await shown(page);
  // It ends where it has ended before, and goes on from there all the same.
  await until(async () => {
    await toEnd(page);
    return (await page.getByText('1,150 runs').count()) > 0;
  });
  isClean(page);
  await page.context().close();
});

test('a list that is loaded again while more of it is on its way has no gap', async () => {
  const page = await browser.page(server);
  const runs = await withRuns(page, 150);
  await page.open('/runs');
  await page.getByText('100 runs so far').waitFor();
  const more = await holdBack(page, /\/runs\?.*cursor=/);
  await toEnd(page);
  await more.asked;
  runs.start(30);
  const rest = await holdBack(page, /\/runs\?.*cursor=/);
  await missSomething(page);
  await rest.asked;
  // This goes on from where the list no longer ends.
  await more.letGo();
  assert.equal(await page.getByText('100 runs so far').count(), 1);
  await rest.letGo();
  await page.getByText('180 runs').waitFor();
  isClean(page);
  await page.context().close();
});

test('whoever moves a list that is shorter than it was is not moved by it', async () => {
  const page = await browser.page(server);
  await withRuns(page, 1150);
  await comeBack(page, { top: 1090 * HEIGHT, count: 1150 });
  await page.getByText('1,000 runs so far').waitFor();
  await toEnd(page);
  const top = await topOf(page);
  await page.getByText('1,100 runs so far').waitFor();
  await shown(page);
  assert.equal(await topOf(page), top);
  isClean(page);
  await page.context().close();
});

test('what was asked for one list does not come into another, even if both end alike', async () => {
  const page = await browser.page(server);
  const { items, next_cursor } = await server.api('/runs?limit=100');
  await page.route(/\/runs\?status=running/, (route) => route.fulfill({ json: route.request().url().includes('cursor=') ? { items: [] } : { items: items.slice(0, 1), next_cursor } }));
  await page.open('/runs');
  await page.getByText('100 runs so far').waitFor();
  const more = await holdBack(page, /\/runs\?limit=.*cursor=/);
  await toEnd(page);
  await more.asked;
  const rest = await holdBack(page, /\/runs\?status=running.*cursor=/);
  await page.getByRole('button', { name: 'running' }).click();
  await rest.asked;
  await more.letGo();
  assert.equal(await page.getByText('1 run so far').count(), 1);
  await rest.letGo();
  await page.getByText('1 run', { exact: true }).waitFor();
  isClean(page);
  await page.context().close();
});

test('a page is as far down as it was left', async () => {
  const page = await browser.page(server);
  await page.open('/approvals');
  await page.getByText('Open region 11?').waitFor();
  await page.evaluate(() => scrollTo(0, 500));
  await page.getByRole('link', { name: 'ask[5]' }).click();
  await page.getByRole('heading', { name: 'ask[5]' }).waitFor();
  assert.equal(await page.evaluate(() => scrollY), 0);
  await page.goBack();
  await page.getByText('Open region 11?').waitFor();
  await until(async () => page.evaluate(() => scrollY === 500));
  isClean(page);
  await page.context().close();
});
