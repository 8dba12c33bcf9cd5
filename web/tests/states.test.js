// Every state at once, long names, a fan-out that is half broken: nothing is cut off that matters,
// nothing sticks out, and each task says why it does not run.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { everything, GATED, LONG_NAME, NIGHTLY } from './fixtures.js';
import { isClean, lookAt, SIZES } from './look.js';

let server;
let browser;
let run;
let paused;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(GATED);
  await server.deploy(NIGHTLY);
  for (const day of ['2026-11-14', '2026-11-15']) {
    const { id } = await server.trigger('nightly-report', { input: { day } });
    await server.reached(id, 'failed');
    // The first is mended, the second is not.
    if (day === '2026-11-15') continue;
    await server.release('mended');
    await server.post(`/runs/${id}/retry`);
    await server.reached(id, 'success');
    await rm(join(server.folder, 'mended'));
  }
  paused = (await server.trigger('gated')).id;
  await server.post(`/runs/${paused}/pause`);
  run = await everything(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const VIEWS = [
  ['every-state', () => `/runs/${run}`, ['breaks failed:', 'no space left on device', 'asks waits for an approval:', LONG_NAME]],
  ['every-state-tasks', () => `/runs/${run}?tab=tasks`, ['waits for the signal payment-received', 'held by anonymous', 'next try in', 'breaks failed before it', 'its condition was false', 'everything-at-once/one is full, 1 of 1 in use: at-work']],
  ['every-state-why', () => `/runs/${run}?tab=why`, ['waits for an approval: Is this what you wanted?', 'everything-at-once/one is full, 1 of 1 in use: at-work', 'held by anonymous', 'waits for at-work (running), no-place (ready), asks (waiting)', '400 instances:', '4 of at most 4 instances are at work at once']],
  ['every-state-timeline', () => `/runs/${run}?tab=timeline`, ['waits for a person, a signal, a time or a child run', LONG_NAME]],
  ['every-state-home', () => '/', ['Paused by anonymous', 'Is this what you wanted?', "task 'load' failed: exited with code 3", '1 run succeeded, 1 failed, 0 cancelled']],
  ['every-state-workflows', () => '/workflows', ['everything-at-once', 'A description that goes on']],
  ['every-state-runs', () => '/runs', ['OPS-12345']],
  ['long-name', () => `/runs/${run}/tasks/${LONG_NAME}`, [LONG_NAME]],
  ['half-broken', () => `/runs/${run}/tasks/each`, ['400 instances', 'exited with code 1', 'Go to']],
];

for (const size of SIZES) {
  test(`every state at once, at ${size.name}`, async () => {
    const page = await browser.page(server, size);
    for (const [name, path, texts] of VIEWS) await lookAt(page, size, [name, path(), texts]);
    isClean(page);
    await page.context().close();
  });
}

test('no two parts of the bar of states look alike', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}`);
  await page.getByRole('img', { name: /1 failed, 1 blocked, 2 running, 3 waiting, 1 paused, 1 ready/ }).waitFor();
  const looks = await page.locator('main > .counts .part').evaluateAll((parts) => parts.map((it) => {
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(it);
    return [backgroundColor, backgroundImage, opacity].join();
  }));
  assert.equal(new Set(looks).size, looks.length);
  await page.context().close();
});

test('a paused run is taken up again from where it asks for attention', async () => {
  const page = await browser.page(server);
  await page.open('/');
  await page.getByRole('listitem').filter({ hasText: 'Paused by anonymous' }).getByRole('button', { name: 'Resume' }).click();
  await page.getByText('gated goes on.').waitFor();
  await page.getByText('Paused by anonymous').waitFor({ state: 'detached' });
  assert.equal((await server.api(`/runs/${paused}`)).status, 'running');
  isClean(page);
  await page.context().close();
});

test('instances are chosen by state, one is retried by itself', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}/tasks/each`);
  await page.getByRole('button', { name: /failed/ }).click();
  await page.getByRole('row', { name: /failed 4 / }).waitFor();
  assert.equal(await page.getByRole('row', { name: /success/ }).count(), 0);
  await page.getByRole('link', { name: '4', exact: true }).click();
  await page.getByRole('heading', { name: 'each[4]' }).waitFor();
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.getByText('each[4] runs again.').waitFor();
  await server.release('go-all');
  await page.getByRole('button', { name: /Attempt 2/ }).waitFor();
  isClean(page);
  await page.context().close();
});
