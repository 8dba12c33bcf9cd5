// Child runs and checkpoints: from a parent to its children and back, and what asks for attention.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { CHILD, PARENT } from './fixtures.js';
import { isClean, lookAt, SIZES } from './look.js';

let server;
let browser;
let page;
let run;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(CHILD);
  await server.deploy(PARENT);
  run = (await server.trigger('convert-all')).id;
  await server.reached(run, 'paused');
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const state = (text) => page.locator('.head .state', { hasText: text }).waitFor();

for (const size of SIZES) {
  test(`a checkpoint, at ${size.name}`, async () => {
    const other = await browser.page(server, size);
    await lookAt(other, size, ['checkpoint-home', '/', ['At the checkpoint plan', 'Resume']]);
    await lookAt(other, size, ['checkpoint-run', `/runs/${run}`, ['the run is paused at the checkpoint plan', 'Resume']]);
    isClean(other);
    await other.context().close();
  });
}

test('a run that stopped at a checkpoint is looked at and resumed from Home', async () => {
  await page.open('/');
  const card = page.getByRole('listitem').filter({ hasText: 'At the checkpoint plan' });
  await card.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('convert-all goes on.').waitFor();
  await server.reached(run, 'failed');
  // The parent asks for attention, its child that failed does not beside it.
  await page.getByRole('listitem').filter({ hasText: "task 'broken' failed" }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Retry what failed' }).count(), 1);
});

test('from a parent to its children and back', async () => {
  await page.open(`/runs/${run}`);
  await state('failed');
  await page.getByRole('link', { name: 'all of them' }).click();
  await page.getByText(`Only child runs of ${run.slice(-8)}.`).waitFor();
  await page.getByRole('table', { name: 'Runs' }).waitFor();
  assert.equal(await page.locator('.rows.runs .row:not(.head)').count(), 5);
  assert.equal(await page.getByRole('cell', { name: 'its parent' }).count(), 5);
  await page.open(`/runs/${run}/tasks/broken`);
  const { child } = await server.api(`/runs/${run}/tasks/broken`);
  await page.getByRole('link', { name: child.slice(-8) }).click();
  await page.waitForURL(new RegExp(child));
  await state('failed');
  await page.getByText('Child of').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Retry/ }).count(), 0, 'it is tried again by its parent');
  await page.getByRole('link', { name: 'broken', exact: true }).click();
  await page.waitForURL(new RegExp(`${run}/tasks/broken`));
  // An instance of a fan-out has a child of its own.
  await page.open(`/runs/${run}/tasks/many?index=2`);
  const { child: third } = await server.api(`/runs/${run}/tasks/many?index=2`);
  await page.getByRole('link', { name: third.slice(-8) }).click();
  await page.getByRole('link', { name: 'many[2]' }).waitFor();
  isClean(page);
});

for (const size of SIZES) {
  test(`children and parents, at ${size.name}`, async () => {
    const other = await browser.page(server, size);
    const { child } = await server.api(`/runs/${run}/tasks/broken`);
    await lookAt(other, size, ['child-task', `/runs/${run}/tasks/broken`, ['Child run']]);
    await lookAt(other, size, ['child-run', `/runs/${child}`, ['Child of', 'no such file']]);
    await lookAt(other, size, ['child-list', `/runs?parent=${run}`, ['Only child runs of']]);
    isClean(other);
    await other.context().close();
  });
}
