// Everything by keyboard alone: no mouse is touched in this file.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { GATED, JOURNEY, NIGHTLY } from './fixtures.js';
import { isClean } from './look.js';

let server;
let browser;
let page;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(NIGHTLY);
  await server.deploy(GATED);
  await server.deploy(JOURNEY);
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const press = async (...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
const state = (text) => page.locator('.head .state', { hasText: text }).waitFor();
/** Presses a key that asks, and says yes. */
async function answer(key, question) {
  await press(key);
  await page.getByRole('dialog', { name: question }).waitFor();
  await press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}
/** Goes on with Tab until what has the focus is called so. */
async function tabTo(name) {
  for (let i = 0; i < 60; i += 1) {
    const called = await page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '');
    if (name.test(called)) return;
    await press('Tab');
  }
  assert.fail(`no Tab leads to ${name}`);
}

test('a run is found, started, approved, seen to fail, mended and retried', async () => {
  await page.open('/');
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await press('/');
  await page.getByRole('combobox', { name: 'Search' }).waitFor();
  await page.keyboard.type('journey');
  await page.getByRole('option', { name: /journey/ }).waitFor();
  await press('Enter');
  await page.getByRole('button', { name: 'Start a run' }).waitFor();
  await press('t');
  await page.getByRole('dialog', { name: 'Start journey' }).waitFor();
  await page.keyboard.type('monday');
  await press('Enter');
  await page.waitForURL(/\/ui\/runs\//);
  await page.getByText('ask waits for an approval: Load monday?').waitFor();
  await tabTo(/^Approve…$/);
  await press('Enter');
  await page.getByRole('dialog', { name: 'Approve ask?' }).waitFor();
  await page.keyboard.type('go ahead');
  await press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await state('failed');
  await page.getByText('load failed:').waitFor();
  await page.getByText('no such table').waitFor();
  const run = page.url().match(/runs\/([0-9a-f-]{36})/)[1];
  assert.equal((await server.api(`/runs/${run}/tasks/ask`)).output.comment, 'go ahead');
  await server.release('mended');
  await answer('r', 'Retry what failed?');
  await state('success');
  assert.equal((await server.api(`/runs/${run}`)).status, 'success');
  await rm(join(server.folder, 'mended'));
});

test('a run that fails on its third attempt is mended and retried', async () => {
  await press('/');
  await page.getByRole('combobox', { name: 'Search' }).waitFor();
  await page.keyboard.type('nightly');
  await page.getByRole('option', { name: /nightly-report/ }).waitFor();
  await press('Enter');
  await page.getByRole('button', { name: 'Start a run' }).waitFor();
  await press('t');
  await page.getByRole('dialog', { name: 'Start nightly-report' }).waitFor();
  await page.keyboard.type('monday');
  await press('Enter');
  await page.waitForURL(/\/ui\/runs\//);
  await state('failed');
  await page.getByText('load failed on attempt 3:').waitFor();
  await server.release('mended');
  await answer('r', 'Retry what failed?');
  await state('success');
});

test('the graph is walked and a task opened with Tab and Enter', async () => {
  await tabTo(/^load/);
  await press('Enter');
  await page.getByRole('heading', { name: 'load' }).waitFor();
  await page.locator('.line', { hasText: 'connecting to the database' }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main', 'the focus goes along');
});

test('tabs are walked with arrows, rows with j and k', async () => {
  await page.goBack();
  await page.getByRole('tab', { name: 'Graph' }).waitFor();
  await tabTo(/^Graph$/);
  await press('ArrowRight', 'ArrowRight');
  await page.getByRole('table', { name: 'Tasks' }).waitFor();
  await tabTo(/^Tasks$/);
  await press('Tab');
  await page.getByRole('table', { name: 'Tasks' }).focus();
  await press('j', 'j', 'k', 'j');
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'convert');
  await press('Enter');
  await page.getByRole('heading', { name: 'convert' }).waitFor();
});

test('a live run is paused, resumed and cancelled', async () => {
  const run = await server.trigger('gated');
  await press('g', 'r');
  await page.getByRole('table', { name: 'Runs' }).waitFor();
  await page.getByRole('link', { name: 'gated' }).first().waitFor();
  await page.getByRole('table', { name: 'Runs' }).focus();
  await press('j', 'Enter');
  await state('running');
  await answer('p', 'Pause the run?');
  await state('paused');
  await answer('p', 'Resume the run?');
  await state('running');
  await press('c');
  await page.getByRole('dialog', { name: 'Cancel the run?' }).waitFor();
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await server.api(`/runs/${run.id}`)).status, 'running');
  await press('c');
  await page.getByRole('dialog', { name: 'Cancel the run?' }).waitFor();
  // Whoever goes on too fast has cancelled nothing.
  await press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await server.api(`/runs/${run.id}`)).status, 'running');
  await press('c');
  await page.getByRole('dialog', { name: 'Cancel the run?' }).waitFor();
  await tabTo(/^Cancel the run$/);
  await press('Enter');
  await state('cancelled');
});

test('a key changes nothing before somebody has said yes', async () => {
  const run = await server.trigger('gated');
  await page.open(`/runs/${run.id}`);
  await state('running');
  const orders = [];
  page.on('request', (request) => { if (request.method() === 'POST') orders.push(request.url()); });
  await press('p');
  await page.getByRole('dialog', { name: 'Pause the run?' }).waitFor();
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.open(`/runs/${run.id}/tasks/second`);
  await page.getByText('waits for first').first().waitFor();
  await press('p');
  await page.getByRole('dialog', { name: 'Hold second?' }).waitFor();
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.deepEqual(orders, []);
  await answer('p', 'Hold second?');
  await state('paused');
  assert.equal(orders.length, 1);
});

test('after the first of two keys the next one belongs to it, whatever it is', async () => {
  const run = await server.trigger('gated');
  await page.open(`/runs/${run.id}`);
  await state('running');
  const hint = page.locator('.begun', { hasText: 'Go to Runs' });
  for (const second of ['p', 'c', 'Enter', 'g']) {
    await press('g');
    await hint.waitFor();
    await press(second);
    await hint.waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('dialog').count(), 0, second);
  }
  assert.equal((await server.api(`/runs/${run.id}`)).status, 'running');
  // In a table j and k are not heard either.
  await press('g', 'r');
  await page.getByRole('table', { name: 'Runs' }).focus();
  await press('g', 'j');
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'table');
  await press('j');
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'A');
  // The mouse is another thought.
  await press('g');
  await hint.waitFor();
  await page.evaluate(() => document.body.dispatchEvent(new PointerEvent('pointerdown', { bubbles: true })));
  await hint.waitFor({ state: 'detached' });
});

test('keys do nothing while somebody types, and can be switched off', async () => {
  await press('g', 'w');
  await page.getByLabel('Filter workflows by name').focus();
  await page.keyboard.type('g r?');
  assert.match(page.url(), /workflows\?q=g/);
  await page.getByLabel('Filter workflows by name').fill('');
  await page.evaluate(() => /** @type {any} */ (document.activeElement).blur());
  await press('?');
  await page.getByRole('dialog', { name: 'Help' }).waitFor();
  await tabTo(/^$|Keys of one letter/);
  await page.getByLabel('Keys of one letter are on').focus();
  await press('Space');
  await press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await press('g', 'r');
  assert.match(page.url(), /workflows/);
  isClean(page);
});
