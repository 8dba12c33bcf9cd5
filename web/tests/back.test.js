// Back leads to where one was.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { isClean } from './look.js';

let server;
let browser;
const COUNT = 180;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy('name: short\ntasks:\n  one: { noop: {} }\n');
  await server.deploy('name: asks\ntasks:\n  ask: { parallel: 12, approval: { message: "Open region ${{ index }}?" } }\n');
  let last;
  for (let i = 0; i < COUNT; i += 1) last = await server.trigger('short');
  await server.reached(last.id, 'success');
  await server.trigger('asks');
  await until(async () => (await server.api('/approvals')).items.length === 12);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('a list of runs is as long and as far down as it was left', async () => {
  const page = await browser.page(server);
  await page.open('/runs');
  const table = page.getByRole('table', { name: 'Runs' });
  await page.getByText('100 runs so far').waitFor();
  const bottom = () => table.evaluate((it) => { it.scrollTop = it.scrollHeight; });
  await bottom();
  await page.getByText(`${COUNT + 1} runs`).waitFor();
  await table.evaluate((it) => { it.scrollTop = 6000; });
  const row = table.locator('.row:not(.head) a').filter({ hasText: 'short' }).nth(15);
  await row.waitFor();
  const top = await table.evaluate((it) => it.scrollTop);
  await row.evaluate((it) => it.click());
  await page.waitForURL(/\/ui\/runs\/[0-9a-f-]{36}/);
  await page.getByRole('tab', { name: 'Graph' }).waitFor();
  await page.goBack();
  await page.getByText(`${COUNT + 1} runs`).waitFor();
  await until(async () => (await table.evaluate((it) => it.scrollTop)) === top);
  // Whoever comes to it anew begins at the top.
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByText('Needs attention').waitFor();
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByText('100 runs so far').waitFor();
  assert.equal(await table.evaluate((it) => it.scrollTop), 0);
  isClean(page);
  await page.context().close();
});

test('a page is as far down as it was left', async () => {
  const page = await browser.page(server);
  await page.open('/approvals');
  await page.getByText('Open region 11?').waitFor();
  await page.evaluate(() => scrollTo(0, 500));
  await page.getByRole('link', { name: 'ask[5]' }).evaluate((it) => it.click());
  await page.getByRole('heading', { name: 'ask[5]' }).waitFor();
  assert.equal(await page.evaluate(() => scrollY), 0);
  await page.goBack();
  await page.getByText('Open region 11?').waitFor();
  await until(async () => page.evaluate(() => scrollY === 500));
  isClean(page);
  await page.context().close();
});
