// What becomes of an order: sent once, told of when it is refused or lost, and not told of for
// longer than it matters.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { isAccessible, isClean, picture } from './look.js';

let server;
let browser;

const FLOWS = [
  'name: gated\ntasks:\n  first: { run: "while [ ! -e go ]; do sleep 0.02; done" }\n',
  'name: broken\ntasks:\n  only: { run: "echo no table >&2; exit 3" }\n',
  'name: asked\ntasks:\n  ask: { approval: { message: "Ship it?" } }\n',
];

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  for (const flow of FLOWS) await server.deploy(flow);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** Orders wait until they are let go; tells how many there were. */
async function held(page, pattern) {
  let open;
  const gate = new Promise((done) => { open = done; });
  const seen = [];
  await page.route(pattern, async (route) => {
    seen.push(route.request().headers()['idempotency-key']);
    await gate;
    await route.continue();
  });
  return { seen, open };
}

const trouble = (page) => page.locator('.trouble');

test('a button that is pressed twice gives one order', async () => {
  const { id } = await server.trigger('broken');
  await server.reached(id, 'failed');
  const page = await browser.page(server);
  await page.open('/');
  const button = page.getByRole('button', { name: 'Retry what failed' });
  await button.waitFor();
  const orders = await held(page, /\/retry$/);
  await button.dblclick();
  await page.locator('button[disabled]', { hasText: 'Retry what failed' }).waitFor();
  orders.open();
  await page.getByText('broken goes on with what failed.').waitFor();
  assert.equal(orders.seen.length, 1);
  isClean(page);
  await page.context().close();
});

test('a decision that is sent twice is one', async () => {
  const { id } = await server.trigger('asked');
  await server.taskReached(id, 'ask', 'waiting');
  const page = await browser.page(server);
  await page.open('/approvals');
  await page.getByRole('button', { name: 'Approve…' }).first().click();
  const orders = await held(page, /\/approve$/);
  await page.getByRole('button', { name: 'Approve', exact: true }).dblclick();
  await page.locator('dialog button[disabled]', { hasText: 'Approve' }).waitFor();
  orders.open();
  await page.getByText('ask is approved.').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(orders.seen.length, 1);
  isClean(page);
  await page.context().close();
});

test('an order without an answer says what is not known, and is the same when it is sent again', async () => {
  const { id } = await server.trigger('gated');
  const page = await browser.page(server);
  await page.open(`/runs/${id}`);
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  const keys = [];
  await page.route(/\/pause$/, (route) => {
    keys.push(route.request().headers()['idempotency-key']);
    return keys.length === 1 ? route.abort() : route.continue();
  });
  const before = await page.locator('.head h1').boundingBox();
  await page.getByRole('button', { name: 'Pause' }).click();
  await trouble(page).getByText('It is not known whether anything has changed.').waitFor();
  // Below the header, which stays as it was.
  const [title, actions, box] = await Promise.all(['.head h1', '.head .actions', '.trouble'].map((it) => page.locator(it).boundingBox()));
  assert.deepEqual(title, before);
  assert.ok(box.y >= actions.y + actions.height, 'it stands below');
  assert.ok(box.width > 1000, 'all the way across');
  await isAccessible(page, 'an order without an answer');
  await picture(page, 'unanswered-1440-light');
  await trouble(page).getByRole('button', { name: 'Try again' }).click();
  await page.locator('.head .state', { hasText: 'paused' }).waitFor();
  assert.equal(await trouble(page).count(), 0);
  assert.ok(keys[0]);
  assert.equal(keys[1], keys[0]);
  isClean(page);
  await page.context().close();
});

test('a refusal goes when the state that it was about goes', async () => {
  const { id } = await server.trigger('gated');
  const page = await browser.page(server);
  await page.open(`/runs/${id}`);
  const body = JSON.stringify({ title: 'The run is not like that', detail: 'It cannot be paused.', status: 409, code: 'refused' });
  await page.route(/\/pause$/, (route) => route.fulfill({ status: 409, contentType: 'application/json', body }));
  await page.getByRole('button', { name: 'Pause' }).click();
  await trouble(page).getByText('It cannot be paused.').waitFor();
  assert.equal(await trouble(page).getByRole('button', { name: 'Try again' }).count(), 0, 'it would not help');
  await server.post(`/runs/${id}/pause`);
  await page.locator('.head .state', { hasText: 'paused' }).waitFor();
  await trouble(page).waitFor({ state: 'detached' });
  isClean(page);
  await page.context().close();
});

test('an order that was lost with the server is forgotten when the page is up to date again', async () => {
  const { id } = await server.trigger('asked');
  await server.taskReached(id, 'ask', 'waiting');
  const page = await browser.page(server);
  await page.open(`/runs/${id}`);
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.atRest();
  await server.kill();
  await page.getByRole('button', { name: 'Pause' }).click();
  await trouble(page).getByText('It is not known whether anything has changed.').waitFor();
  await server.up();
  await page.getByText('Connected again. Everything is up to date.').waitFor();
  await trouble(page).waitFor({ state: 'detached' });
  isClean(page);
  await page.context().close();
});

test('who writes a comment while somebody else decides keeps it, and is told', async () => {
  const { id } = await server.trigger('asked');
  await server.taskReached(id, 'ask', 'waiting');
  const pages = [];
  for (const path of [`/runs/${id}`, `/runs/${id}/tasks/ask`]) {
    const page = await browser.page(server);
    await page.open(path);
    await page.getByRole('button', { name: 'Reject…' }).click();
    await page.getByLabel('Comment, kept with the decision').fill('not with these numbers');
    pages.push(page);
  }
  await server.post(`/runs/${id}/tasks/ask/approve`);
  for (const page of pages) {
    await page.getByRole('dialog').getByText('ask does not wait any more.').waitFor();
    assert.equal(await page.getByLabel('Comment, kept with the decision').inputValue(), 'not with these numbers');
    assert.equal(await page.getByRole('button', { name: 'Reject', exact: true }).count(), 0);
    await isAccessible(page, 'decided by somebody else');
    await picture(page, 'decided-1440-light');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    isClean(page);
    await page.context().close();
  }
});
