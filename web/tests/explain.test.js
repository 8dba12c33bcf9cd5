// Why tasks are not running: as the server explains it, live, with links to what is in the way.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { GATED, HOSTILE, RELEASE, wide } from './fixtures.js';
import { isAccessible, isClean, picture } from './look.js';

let server;
let browser;

const TIERED = `name: tiered
tiers: { gpu: 1 }
tasks:
  first: { tier: gpu, run: "while [ ! -e go-gpu ]; do sleep 0.02; done" }
  second: { depends_on: [{ task: first, when: started }], tier: gpu, run: "true" }
  third: { depends_on: [second], run: "true" }
  fourth: { depends_on: [second], run: "true" }
`;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(TIERED);
  await server.deploy(GATED);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** How often the page has asked why. */
function asked(page) {
  const urls = [];
  page.on('request', (request) => { if (request.url().includes('/explain')) urls.push(request.url()); });
  return urls;
}

test('a limit that is full leads to who holds it, and goes when that is over; nothing is polled', async () => {
  const { id } = await server.trigger('tiered');
  await server.taskReached(id, 'second', 'ready');
  const page = await browser.page(server);
  const requests = asked(page);
  await page.open(`/runs/${id}?tab=why`);
  const full = page.getByRole('listitem').filter({ hasText: 'tiered/gpu is full, 1 of 1 in use: first' });
  await full.first().waitFor();
  // What waits for the same is told once.
  await page.getByRole('listitem').filter({ hasText: 'third, fourth' }).getByText('waits for second (ready)').waitFor();
  await page.atRest();
  const before = requests.length;
  // Others are at work; of this run there is nothing new.
  const other = await server.trigger('gated');
  await server.reached(other.id, 'running');
  await server.post(`/runs/${other.id}/cancel?force=true`);
  await server.reached(other.id, 'cancelled');
  await page.atRest();
  assert.equal(requests.length, before, 'asked only when the run has moved');
  // Something of this run is new, and is seen without anybody doing anything.
  await server.post(`/runs/${id}/tasks/third/pause`);
  await page.getByRole('listitem').filter({ hasText: /^third/ }).getByText('held by anonymous').waitFor();
  await server.post(`/runs/${id}/tasks/third/resume`);
  await page.getByText('held by anonymous').waitFor({ state: 'detached' });
  await full.first().getByRole('link', { name: 'first' }).click();
  await page.getByRole('heading', { name: 'first' }).waitFor();
  await page.goBack();
  await full.first().waitFor();
  await server.release('go-gpu');
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  await page.getByRole('tab', { name: 'Graph', selected: true }).waitFor();
  assert.equal(await page.getByRole('tab', { name: 'Why not running' }).count(), 0, 'of a run that is over nothing has to be explained');
  isClean(page);
  await page.context().close();
});

test('a kill that is not confirmed for five minutes says how to give the work up', async () => {
  const { id } = await server.trigger('gated');
  await server.taskReached(id, 'first', 'running');
  const page = await browser.page(server);
  let minutes = 4;
  // Nothing that could be started here outlives a kill: the server's answer is made up.
  await page.route(/\/explain(\?|$)/, async (route) => {
    const response = await route.fetch();
    const told = await response.json();
    told.tasks[0].reasons = [{ kind: 'stopping', why: 'timeout', since: new Date(Date.now() - minutes * 60_000).toISOString(), text: 'is being stopped' }];
    return route.fulfill({ response, json: told });
  });
  await page.open(`/runs/${id}?tab=why`);
  await page.getByText('is being stopped: its timeout is over', { exact: true }).first().waitFor();
  minutes = 6;
  await page.open(`/runs/${id}?tab=why`);
  await page.getByText('is not known to be gone: mainspring cancel --force gives it up').first().waitFor();
  await server.post(`/runs/${id}/cancel?force=true`);
  await page.context().close();
});

test('a run that waits for others says for which, and one that is held by whom', async () => {
  await server.deploy('name: single\nmax_active_runs: 1\ntasks:\n  a: { wait: { signal: go } }\n');
  const first = await server.trigger('single');
  await server.reached(first.id, 'running');
  const second = await server.trigger('single');
  const page = await browser.page(server);
  await page.open(`/runs/${second.id}`);
  const callout = page.locator('.callout', { hasText: 'Why the run does not go on:' });
  await callout.getByText('waits until fewer than 1 runs of single are active:').waitFor();
  await callout.getByRole('link', { name: first.id.slice(-8) }).waitFor();
  await isAccessible(page, 'a pending run');
  await server.post(`/runs/${first.id}/signal`, { key: 'go', value: null });
  await page.locator('.head .state', { hasText: 'running' }).waitFor();
  await callout.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Pause' }).click();
  await callout.getByText('the run is paused by anonymous').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await callout.waitFor({ state: 'detached' });
  await server.post(`/runs/${second.id}/signal`, { key: 'go', value: null });
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  isClean(page);
  await page.context().close();
});

test('a run of which nothing is at work says why beside its graph, and stops when something is', async () => {
  await server.deploy('name: listening\ntasks:\n  listens: { wait: { signal: go } }\n  naps: { sleep: 1h }\n  works: { depends_on: [listens], run: "while [ ! -e go-works ]; do sleep 0.02; done" }\n');
  const { id } = await server.trigger('listening');
  await server.taskReached(id, 'naps', 'waiting');
  const page = await browser.page(server);
  await page.open(`/runs/${id}`);
  const still = page.getByRole('region', { name: 'Why nothing of the run is at work' });
  await still.getByText('waits for the signal go').waitFor();
  await still.getByText(/^sleeps, goes on in/).waitFor();
  assert.equal(await still.getByText('works').count(), 0, 'what merely follows is not told');
  await page.locator('.node', { hasText: 'listens' }).waitFor();
  await isAccessible(page, 'a run that stands still');
  await picture(page, 'still-1440-light');
  await still.getByRole('link', { name: 'listens' }).click();
  await page.getByRole('heading', { name: 'listens' }).waitFor();
  await page.goBack();
  await still.waitFor();
  await server.post(`/runs/${id}/signal`, { key: 'go', value: null });
  await server.taskReached(id, 'works', 'running');
  await still.waitFor({ state: 'detached' });
  await server.release('go-works');
  await server.taskReached(id, 'works', 'success');
  await still.getByText(/^sleeps, goes on in/).waitFor();
  await server.post(`/runs/${id}/cancel?force=true`);
  await still.waitFor({ state: 'detached' });
  isClean(page);
  await page.context().close();
});

test('what instances of a fan-out wait for is told in short', async () => {
  await server.deploy(RELEASE);
  const { id } = await server.trigger('release');
  await server.until(async () => (await server.api(`/runs/${id}/tasks/regions`)).instances?.waiting === 3);
  const page = await browser.page(server);
  await page.open(`/runs/${id}?tab=tasks`);
  await page.getByRole('row', { name: /running regions .*3 instances wait for an approval/ }).waitFor();
  await server.post(`/runs/${id}/cancel?force=true`);
  isClean(page);
  await page.context().close();
});

test('of 10,000 tasks the rows in sight say why, wherever one scrolls to', async () => {
  await server.deploy(wide(10_000));
  const { id } = await server.trigger('wide');
  await server.taskReached(id, 'first', 'running');
  const page = await browser.page(server);
  await page.open(`/runs/${id}?tab=tasks`);
  const table = page.getByRole('table', { name: 'Tasks' });
  await page.getByRole('row', { name: /pending t3 waits for first \(running\)/ }).waitFor();
  await until(async () => Number(await table.getAttribute('aria-rowcount')) === 10_001);
  await table.evaluate((it) => { it.scrollTop = it.scrollHeight / 2; });
  await page.getByRole('row', { name: /pending t5\d\d\d waits for first \(running\)/ }).first().waitFor();
  await page.getByRole('tab', { name: 'Why not running' }).click();
  await page.getByText('10,000 tasks without an outcome, 100 of them here').waitFor();
  await page.getByRole('listitem').filter({ hasText: 't0, t1, t2' }).getByText('waits for first (running)').waitFor();
  await page.getByRole('button', { name: 'The next ones' }).click();
  await page.getByRole('listitem').filter({ hasText: 't99, t100, t101' }).getByText('and 88 more').waitFor();
  await page.getByRole('button', { name: 'From the start' }).click();
  await page.getByRole('link', { name: 'first' }).first().waitFor();
  await server.post(`/runs/${id}/cancel?force=true`);
  isClean(page);
  await page.context().close();
});

test('what others wrote is shown harmlessly among the reasons', async () => {
  const key = HOSTILE.markup.slice(0, 60) + HOSTILE.turned;
  await server.deploy(`name: asking\ntasks:\n  listens: { wait: { signal: ${JSON.stringify(key)} } }\n  asks: { approval: { message: ${JSON.stringify(HOSTILE.markup + HOSTILE.turned)} } }\n`);
  const { id } = await server.trigger('asking');
  await server.taskReached(id, 'listens', 'waiting');
  await server.taskReached(id, 'asks', 'waiting');
  const page = await browser.page(server);
  for (const path of [`/runs/${id}?tab=why`, `/runs/${id}?tab=tasks`, `/runs/${id}/tasks/listens`, `/runs/${id}/tasks/asks`]) {
    await page.open(path);
    await page.getByText(/waits for .*<script>window\.harmed = 1<\/script>/).first().waitFor();
    assert.equal(await page.evaluate(() => window.harmed), undefined);
    assert.equal(await page.locator('#page script, #page img[src="x"]').count(), 0);
    assert.ok(!(await page.locator('body').innerText()).includes('\u202e'), 'a mark that turns text is not let through');
  }
  isClean(page);
  await page.context().close();
});
