// Child runs that wait for somebody themselves are told on Home; those that wait for their parents are not. What has
// waited for long is told, however much is newer.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { isClean } from './look.js';

let server;
let browser;

const CHILD = 'name: inner\ntasks:\n  look: { noop: {}, checkpoint: true }\n  ship: { depends_on: [look], run: "true" }\n';
const LONG = 'name: long\ntasks:\n  rest: { sleep: 1h }\n';

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(CHILD);
  await server.deploy(LONG);
  await server.deploy('name: outer\ntasks:\n  sub: { workflow: inner }\n');
  await server.deploy('name: holder\ntasks:\n  sub: { workflow: long }\n');
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const childOf = async (run) => (await server.taskReached(run, 'sub', 'waiting')).child;

test('a checkpoint inside a child run needs attention, a child that its parent holds does not', async () => {
  const outer = (await server.trigger('outer')).id;
  const inner = await server.until(() => childOf(outer));
  await server.reached(inner, 'paused');
  const holder = (await server.trigger('holder')).id;
  const held = await server.until(() => childOf(holder));
  await server.post(`/runs/${holder}/pause`);
  await server.reached(held, 'paused');
  const page = await browser.page(server);
  await page.open('/');
  const attention = page.locator('section[aria-labelledby=attention]');
  const card = attention.getByRole('listitem').filter({ hasText: 'At the checkpoint look' });
  await card.waitFor();
  await attention.getByRole('link', { name: 'holder' }).waitFor();
  assert.deepEqual(await attention.locator('h3').allInnerTexts(), ['Paused 2'], 'the parent that is held, and the child at its checkpoint');
  await card.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('inner goes on.').waitFor();
  await server.reached(outer, 'success');
  await attention.getByRole('heading', { name: 'Paused 1' }).waitFor();
  isClean(page);
  await page.context().close();
});

test('a run at a checkpoint is told behind more runs than a list has', async () => {
  const old = (await server.trigger('inner')).id;
  await server.reached(old, 'paused');
  const newer = await Promise.all(Array.from({ length: 201 }, () => server.trigger('long')));
  const page = await browser.page(server);
  await page.open('/');
  const attention = page.locator('section[aria-labelledby=attention]');
  const card = attention.getByRole('listitem').filter({ hasText: 'At the checkpoint look' });
  await card.locator(`a[href$="/runs/${old}"]`).first().waitFor();
  // Another is heard of while it is on the screen, and goes again.
  const kind = (count) => attention.getByRole('heading', { name: `Paused ${count}`, exact: true }).waitFor();
  await kind(2);
  await server.post(`/runs/${newer[0].id}/pause`);
  await kind(3);
  await card.getByRole('button', { name: 'Resume' }).click();
  await server.reached(old, 'success');
  await kind(2);
  isClean(page);
  await page.context().close();
});
