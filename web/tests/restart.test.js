// The server is killed and started again while the page is open: the page says so, takes up the
// stream, catches up, without being loaded anew, and no final state is missed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { isAccessible, isClean, picture } from './look.js';

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(`name: phases
tasks:
  one: { noop: {} }
  two: { depends_on: [one], retries: { max: 3, delay: 1ms }, run: "while [ ! -e go ]; do sleep 0.02; done" }
  three: { depends_on: [two], run: "echo finished" }
`);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('a run goes on over a restart, and so does the page', async () => {
  const run = await server.trigger('phases');
  const page = await browser.page(server);
  await page.open(`/runs/${run.id}?tab=tasks`);
  await page.getByRole('row', { name: /running two/ }).waitFor();
  const list = await browser.page(server);
  await list.open('/runs');
  await list.getByRole('row', { name: /running/ }).waitFor();
  const log = await browser.page(server);
  await log.open(`/runs/${run.id}/tasks/three`);
  await log.getByText('waits for two').waitFor();
  for (const it of [page, list, log]) await it.evaluate(() => { window.loadedOnce = true; });

  await server.kill();
  for (const it of [page, list, log]) {
    await it.getByText('The server does not answer.').waitFor();
    await it.getByText(/What you see is from \d\d:\d\d:\d\d/).waitFor();
  }
  await isAccessible(page, 'a server that is away');
  await picture(page, 'away-1440-light');
  await server.release('go');
  await server.up();
  await server.reached(run.id, 'success');

  // The tab in the background of a browser has its timers slowed: whoever looks at it may hurry it.
  await page.getByRole('row', { name: /success three/ }).waitFor();
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  await list.getByRole('row', { name: /success/ }).waitFor();
  await log.locator('.head .state', { hasText: 'success' }).waitFor();
  await log.locator('.line', { hasText: 'finished' }).waitFor();
  for (const it of [page, list, log]) {
    assert.equal(await it.getByText('The server does not answer.').count(), 0);
    assert.equal(await it.evaluate(() => window.loadedOnce), true, 'the page was not loaded anew');
    isClean(it);
  }
});

test('what happened while nobody could tell is there afterwards, final states too', async () => {
  const page = await browser.page(server);
  await page.open('/runs?status=success');
  await page.getByRole('table', { name: 'Runs' }).waitFor();
  await page.context().setOffline(true);
  await page.evaluate(() => { window.loadedOnce = true; });
  await server.kill();
  await server.up();
  const runs = [];
  for (let i = 0; i < 5; i += 1) runs.push((await server.trigger('phases')).id);
  for (const id of runs) await server.reached(id, 'success');
  await page.context().setOffline(false);
  for (const id of runs) await page.getByText(id.slice(-8)).waitFor();
  await page.getByText('Connected again. Everything is up to date.').waitFor();
  assert.equal(await page.evaluate(() => window.loadedOnce), true);
});

test('a page that is opened while the server is away comes up by itself', async () => {
  const page = await browser.page(server);
  await page.open('/');
  await page.getByText('The last hour').waitFor();
  await server.kill();
  await page.getByText('The server does not answer.').waitFor();
  await page.getByRole('link', { name: 'Workflows' }).click();
  await server.up();
  await page.getByRole('link', { name: 'phases' }).waitFor();
  isClean(page);
});

test('a view that is opened while the server is away says that it is loaded later, and is', async () => {
  const page = await browser.page(server);
  await page.open('/runs');
  const link = page.getByRole('row', { name: /success/ }).first().getByRole('link').first();
  await link.waitFor();
  await server.kill();
  await page.getByText('The server does not answer.').first().waitFor();
  await link.click();
  await page.getByText('this is loaded as soon as it is back').waitFor();
  await server.up();
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  isClean(page);
  await page.context().close();
});
