// Names, outputs and logs that try to harm whoever looks at them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { HOSTILE, HOSTILE_FLOW } from './fixtures.js';
import { fits, isClean } from './look.js';

let server;
let browser;
let page;
let run;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(HOSTILE_FLOW);
  // A key without `=`, which is refused.
  const key = HOSTILE.markup.slice(0, 60).replaceAll('=', '');
  run = await server.trigger('hostile', { labels: { [key]: HOSTILE.turned, markup: HOSTILE.markup.slice(0, 200) } });
  await server.reached(run.id, 'failed');
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** Nothing of it was taken for more than text. */
async function isUnharmed() {
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  assert.equal(await page.locator('#page script, #page img[src="x"], #page iframe').count(), 0);
  assert.ok(!(await page.locator('body').innerText()).includes('\u202e'), 'a mark that turns text is not let through');
  await fits(page, page.url());
  isClean(page);
}

test('lists and descriptions', async () => {
  await page.open('/workflows');
  await page.getByText('<script>window.harmed = 1</script>').first().waitFor();
  await isUnharmed();
  await page.open('/workflows/hostile');
  await page.getByText('‹U+202E›').first().waitFor();
  await isUnharmed();
  await page.getByRole('tab', { name: 'Source' }).click();
  await page.getByText('name: hostile').waitFor();
  await isUnharmed();
});

test('a run and its last lines', async () => {
  await page.open(`/runs/${run.id}`);
  await page.getByText('<img src=x onerror=window.harmed=1>').waitFor();
  await isUnharmed();
});

test('a log with markup, orders to terminals and a line of a megabyte', async () => {
  await page.open(`/runs/${run.id}/tasks/evil`);
  await page.locator('.line', { hasText: 'the end' }).waitFor();
  const lines = await page.locator('.line-text').allInnerTexts();
  assert.equal(lines[0], '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 1">');
  assert.equal(lines[1], 'abc‹U+202E›def');
  assert.equal(lines[2], 'redlink');
  assert.equal(await page.locator('.line-text a').count(), 0, 'a link in a log is not one');
  await page.locator('.line-text .ansi-red', { hasText: 'red' }).waitFor();
  assert.ok(lines[3].length < 2000, `${lines[3].length} characters of a megabyte`);
  await page.getByRole('button', { name: /all 1,048,576 characters/ }).click();
  await page.getByRole('dialog').getByText(/^x+$/).waitFor();
  await isUnharmed();
});

test('inputs and outputs', async () => {
  await page.open(`/runs/${run.id}/tasks/evil?tab=data`);
  await page.getByText('"<script>window.harmed = 1</script>"', { exact: true }).waitFor();
  await page.getByText('Show all 2,000 characters').click();
  await page.getByText(`"${'y'.repeat(2000)}"`).waitFor();
  await isUnharmed();
});

test('addresses that are none', async () => {
  for (const path of ['/workflows/%3Cscript%3Ewindow.harmed=1%3C%2Fscript%3E', '/runs/%ff', '/runs/..%2f..%2fx', `/runs/${run.id}/tasks/%3Cimg%20src=x%3E?index=-1`, '/runs?status=%3Cb%3E&label=x']) {
    await page.open(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('alert').or(page.getByText('There is nothing here')).first().waitFor();
    assert.equal(await page.evaluate(() => window.harmed), undefined);
  }
  isClean(page);
});
