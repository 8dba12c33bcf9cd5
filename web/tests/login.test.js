// A server that asks for tokens.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { Browser, PROGRAM, Server } from './harness.js';
import { GATED, RELEASE } from './fixtures.js';
import { isAccessible, isClean, picture } from './look.js';

let server;
let browser;
const tokens = {};

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(GATED);
  await server.deploy(RELEASE.replace('timeout: 24h', 'by: [ann, admin], timeout: 24h'));
  for (const role of ['admin', 'operator', 'viewer']) {
    const { stdout } = await promisify(execFile)(PROGRAM, ['tokens', 'create', `${role}-person`, '--role', role, '--data', join(server.folder, 'data')]);
    tokens[role] = stdout.trim();
  }
  server.token = tokens.admin;
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const enter = async (page, token) => {
  await page.getByLabel('Token').fill(token);
  await page.keyboard.press('Enter');
};

test('nobody gets in without a token, and a wrong one is refused', async () => {
  const page = await browser.page(server);
  await page.open('/workflows');
  await page.getByText('This server asks for a token.').waitFor();
  await isAccessible(page, 'login');
  await picture(page, 'login-1440-light');
  await enter(page, 'wrong');
  await page.getByRole('alert').getByText(/not known/).waitFor();
  assert.equal(await page.getByText('gated').count(), 0);
  isClean(page);
});

test('with one, one is where one wanted to be; a token is nowhere in the page', async () => {
  const page = await browser.page(server);
  await page.open('/workflows/gated');
  await enter(page, tokens.admin);
  await page.getByRole('button', { name: 'Start a run' }).waitFor();
  assert.equal(await page.evaluate(() => document.cookie), '', 'the cookie is not for scripts');
  assert.equal(await page.evaluate(() => JSON.stringify(localStorage)), '{}');
  await page.getByText('admin-person').waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Start a run' }).waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('This server asks for a token.').waitFor();
  await page.reload();
  await page.getByText('This server asks for a token.').waitFor();
  isClean(page);
});

test('a viewer is told so and offered nothing that would be refused', async () => {
  const page = await browser.page(server);
  const run = await server.trigger('gated');
  await page.open(`/runs/${run.id}`);
  await enter(page, tokens.viewer);
  await page.getByText('your role is viewer').waitFor();
  await page.getByRole('tab', { name: 'Graph' }).waitFor();
  const steers = /Pause|Cancel|Retry|Resume|Signal|Hold|Approve|Reject|Start|Change|Add|Run again|Act on all/;
  assert.equal(await page.getByRole('button', { name: steers }).count(), 0);
  await isAccessible(page, 'run of a viewer');
  await picture(page, 'viewer-1440-light');
  const asked = await server.trigger('release');
  await server.taskReached(asked.id, 'review', 'waiting');
  for (const [path, text] of [['/', 'Needs attention'], ['/runs', '2 runs'], ['/approvals', 'Open region 0?'], ['/tiers', 'executor:process'], ['/workflows/gated', '3 tasks'], [`/runs/${asked.id}`, 'review waits for an approval'], [`/runs/${asked.id}/tasks/review`, 'It is parked:'], [`/runs/${run.id}/tasks/first`, 'Attempt 1']]) {
    await page.open(path);
    await page.getByText(text).first().waitFor();
    assert.equal(await page.getByRole('button', { name: steers }).count(), 0, path);
  }
  // Keys neither.
  for (const key of ['p', 'c', 'r', 't']) await page.keyboard.press(key);
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal((await server.api(`/runs/${asked.id}`)).status, 'running');
  isClean(page);
});

test('tasks are added by an admin only: an operator is not offered it', async () => {
  const { id } = await server.trigger('gated');
  for (const [role, count] of [['operator', 0], ['admin', 1]]) {
    const page = await browser.page(server);
    await page.open(`/runs/${id}`);
    await enter(page, tokens[role]);
    await page.getByRole('button', { name: 'Signal…' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Add tasks…' }).count(), count, role);
    isClean(page);
    await page.context().close();
  }
});

test('who may not decide an approval is told who may', async () => {
  const page = await browser.page(server);
  await page.open('/approvals');
  await enter(page, tokens.operator);
  const card = page.getByRole('listitem').filter({ hasText: 'Ship 1.4.2?' });
  await card.getByText('Only ann or admin may decide.').waitFor();
  assert.equal(await card.getByRole('button').count(), 0);
  assert.equal(await page.getByRole('listitem').filter({ hasText: 'Open region 0?' }).getByRole('button', { name: 'Approve…' }).count(), 1);
  isClean(page);
  await page.context().close();
  const other = await browser.page(server);
  await other.open('/approvals');
  await enter(other, tokens.admin);
  await other.getByRole('listitem').filter({ hasText: 'Ship 1.4.2?' }).getByRole('button', { name: 'Approve…' }).waitFor();
  isClean(other);
  await other.context().close();
});

test('a session that ends asks again, and goes on where it was', async () => {
  const page = await browser.page(server);
  await page.open('/workflows/gated');
  await enter(page, tokens.viewer);
  // Whatever is still being loaded would find out before the click does.
  await page.getByRole('button', { name: 'Fit' }).waitFor();
  await page.atRest();
  await page.context().clearCookies();
  await page.getByRole('tab', { name: 'Source' }).click();
  await page.getByText('Your session has ended.').waitFor();
  await enter(page, tokens.viewer);
  await page.getByText('name: gated').waitFor();
  // The stream is taken up again, too.
  const run = await server.trigger('gated');
  await page.getByRole('group', { name: /^Last .* running/ }).waitFor();
  await server.post(`/runs/${run.id}/cancel`);
  await page.getByRole('group', { name: /^Last .* cancelled/ }).waitFor();
});

/** The session ends when this is on its way: whatever else a page asks for may find out before. @param {any} page @param {RegExp} url */
const endWith = (page, url) => page.route(url, async (route) => {
  await page.context().clearCookies();
  await route.continue();
}, { times: 1 });

test('what was typed is still there after a session has ended, and what is behind is not touched', async () => {
  const page = await browser.page(server);
  await page.open('/workflows/gated');
  await enter(page, tokens.operator);
  await page.getByRole('button', { name: 'Start a run' }).click();
  await page.getByText('Labels and priority').click();
  await page.getByLabel(/^Labels/).fill('why=a long story');
  await endWith(page, /\/workflows\/gated\/runs$/);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('dialog', { name: 'Your session has ended.' }).waitFor();
  await isAccessible(page, 'login over the page');
  await picture(page, 'login-again-1440-light');
  // Nobody gets past it.
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'Your session has ended.' }).waitFor();
  await enter(page, tokens.operator);
  await page.getByRole('dialog', { name: 'Your session has ended.' }).waitFor({ state: 'detached' });
  assert.equal(await page.getByLabel(/^Labels/).inputValue(), 'why=a long story');
  await page.getByRole('alert').getByText('Nothing was changed by this.').waitFor();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/\/ui\/runs\//);
  // Somebody else begins with a page of their own.
  await page.getByRole('button', { name: 'Signal…' }).click();
  await page.getByLabel('Key', { exact: true }).fill('mine');
  await endWith(page, /\/signal$/);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByRole('dialog', { name: 'Your session has ended.' }).waitFor();
  await enter(page, tokens.admin);
  await page.getByText('admin-person').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  isClean(page);
});
