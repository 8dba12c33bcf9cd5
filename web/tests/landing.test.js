// Work that is done and lands: its queue, its place there, the finalizer's attempts and log beside
// those of the work.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { LANDING } from './fixtures.js';
import { isClean, lookAt, SIZES } from './look.js';

let server;
let browser;
let run;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(LANDING);
  run = (await server.trigger('landing')).id;
  await server.until(async () => (await server.api(`/runs/${run}/tasks/alpha`)).finalizer?.state === 'running');
  for (const name of ['beta', 'gamma']) await server.taskReached(run, name, 'worker_done');
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

for (const size of SIZES) {
  test(`work that waits to land, at ${size.name}`, async () => {
    const page = await browser.page(server, size);
    for (const view of [
      ['landing-run', `/runs/${run}`, ['lands', 'waits to land']],
      ['landing-why', `/runs/${run}?tab=why`, ['its work is done and lands, attempt 2', 'its work is done and waits to land in the queue trunk', 'queue:trunk is full, 1 of 1 in use: alpha']],
      ['landing-timeline', `/runs/${run}?tab=timeline`, ['lands (its finalizer)']],
      ['landing-task', `/runs/${run}/tasks/gamma`, ['Why it is not over:', 'queued, queue trunk, number 2 of 2 that wait', 'gamma worked']],
      ['landing-live', `/runs/${run}/tasks/alpha`, ['Attempt 1', 'Attempt 2', 'alpha lands']],
    ]) await lookAt(page, size, view);
    isClean(page);
    await page.context().close();
  });
}

test('both logs are there, and the page goes along while it lands', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}/tasks/alpha`);
  await page.getByRole('button', { name: /Attempt 2 running finalizer/ }).waitFor();
  await page.locator('.line', { hasText: 'alpha lands' }).waitFor();
  assert.equal(await page.locator('.line', { hasText: 'alpha worked' }).count(), 0);
  await page.getByRole('button', { name: /Attempt 1/ }).click();
  await page.locator('.line', { hasText: 'alpha worked' }).waitFor();
  assert.equal(await page.locator('.line', { hasText: 'alpha lands' }).count(), 0);
  await page.getByRole('button', { name: /Attempt 2/ }).click();
  await server.release('go-alpha');
  await page.locator('.line', { hasText: 'alpha landed' }).waitFor();
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  // The next one in the queue fails to land, and is tried again in an hour.
  await page.open(`/runs/${run}/tasks/beta`);
  await page.getByText(/delayed, next try in .*, 1 of 2 failures used, queue trunk/).waitFor();
  await page.locator('.callout').getByText(/its work is done and waits to land in the queue trunk, next try in .* after: exited with code 1/).waitFor();
  await page.locator('.line', { hasText: 'beta conflicts' }).waitFor();
  isClean(page);
  await page.context().close();
});

test('whoever follows the work sees it land, each in a log of its own', async () => {
  const wait = (file) => `while [ ! -e ${file} ]; do sleep 0.02; done`;
  await server.deploy(`name: watched\ntasks:\n  a: { run: "echo at work; ${wait('go-work')}", finalize: { run: "echo landing; ${wait('go-land')}" } }\n`);
  const { id } = await server.trigger('watched');
  const page = await browser.page(server);
  await page.open(`/runs/${id}/tasks/a`);
  await page.locator('.line', { hasText: 'at work' }).waitFor();
  await server.release('go-work');
  await page.locator('.line', { hasText: 'landing' }).waitFor();
  await page.getByRole('button', { name: /Attempt 2 running finalizer/ }).waitFor();
  assert.deepEqual(await page.locator('.line-text').allInnerTexts(), ['landing']);
  await page.getByRole('button', { name: /Attempt 1/ }).click();
  // What was followed is shown at once, and then read anew as what is over.
  await until(async () => (await page.locator('.line-text').allInnerTexts()).join() === 'at work');
  await server.release('go-land');
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  isClean(page);
  await page.context().close();
});

test('a task that waits to land is held, let go and cancelled', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}/tasks/beta`);
  await page.getByRole('button', { name: 'Hold' }).click();
  await page.getByText('held by anonymous').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('held by anonymous').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByRole('button', { name: 'Cancel the task beta' }).click();
  await page.locator('.head .state', { hasText: 'cancelled' }).waitFor();
  await server.reached(run, 'cancelled');
  isClean(page);
  await page.context().close();
});
