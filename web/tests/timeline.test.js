// The timeline of a run: what waits has a row too, and a fan-out unfolds into its instances.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { everything } from './fixtures.js';
import { isClean, looksRight, SIZES } from './look.js';

let server;
let browser;
let run;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy('name: held\ntasks:\n  first: { run: "while [ ! -e go-held ]; do sleep 0.02; done" }\n  on-hold: { depends_on: [first], run: "true" }\n  later: { depends_on: [on-hold], run: "true" }\n');
  run = await everything(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const rowOf = (page, name) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });

test('a task that waits for a limit has a row, from when it could have started', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}?tab=timeline`);
  await rowOf(page, 'no-place').getByText(/^waits to start for \d/).waitFor({ state: 'attached' });
  assert.equal(await rowOf(page, 'no-place').locator('.piece.wait').count(), 1);
  assert.equal(await rowOf(page, 'on-hold').count(), 0, 'one that could not start anyway has none');
  await page.getByText('waits to start', { exact: true }).waitFor();
  isClean(page);
  await page.context().close();
});

test('a task that is held although it could start waits too', async () => {
  const { id } = await server.trigger('held');
  await server.post(`/runs/${id}/tasks/on-hold/pause`);
  await server.release('go-held');
  await server.taskReached(id, 'first', 'success');
  const page = await browser.page(server);
  await page.open(`/runs/${id}?tab=timeline`);
  await rowOf(page, 'on-hold').getByText(/^held, waits to start for \d/).waitFor({ state: 'attached' });
  assert.equal(await rowOf(page, 'later').count(), 0);
  isClean(page);
  await page.context().close();
});

test('a fan-out unfolds into its first instances, those that failed and those at work', async () => {
  for (const size of SIZES) {
    const page = await browser.page(server, size);
    await page.open(`/runs/${run}?tab=timeline`);
    await rowOf(page, 'each').getByText(/400 instances, \d+ done, 7 failed, running/).waitFor({ state: 'attached' });
    const fold = page.getByRole('button', { name: 'Instances of each' });
    assert.equal(await fold.getAttribute('aria-expanded'), 'false');
    await fold.focus();
    await page.keyboard.press('Enter');
    await rowOf(page, 'each[4]').getByText(/attempt 1 failed/).waitFor({ state: 'attached' });
    assert.equal(await fold.getAttribute('aria-expanded'), 'true');
    await rowOf(page, 'each[0]').getByText(/attempt 1 success/).waitFor({ state: 'attached' });
    await looksRight(page, `unfolded-${size.name}`);
    const table = page.getByRole('table', { name: 'Timeline of the tasks' });
    await table.evaluate((it) => { it.scrollTop = it.scrollHeight; });
    await page.getByRole('link', { name: /^\d+ more$/ }).waitFor();
    await table.evaluate((it) => { it.scrollTop = 0; });
    await fold.click();
    await rowOf(page, 'each[4]').waitFor({ state: 'detached' });
    isClean(page);
    await page.context().close();
  }
});
