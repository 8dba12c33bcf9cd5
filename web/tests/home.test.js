// Home says what needs somebody: each thing once, whatever else makes noise.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { isClean, lookAt, SIZES } from './look.js';

let server;
let browser;

const NOISY = 'name: noisy\ninput: { type: object, properties: { code: { type: integer, default: 3 } } }\ntasks:\n  load: { run: "exit ${{ input.code }}" }\n';

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(NOISY);
  await server.deploy('name: quiet\ntasks:\n  check: { run: "[ -e mended ]" }\n');
  await server.deploy('name: asks\ntasks:\n  ask: { approval: { message: "Ship it?" } }\n');
  const quiet = await server.trigger('quiet');
  await server.reached(quiet.id, 'failed');
  for (let i = 0; i < 7; i += 1) await server.reached((await server.trigger('noisy')).id, 'failed');
  await server.reached((await server.trigger('noisy', { input: { code: 4 } })).id, 'failed');
  await server.taskReached((await server.trigger('asks')).id, 'ask', 'waiting');
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

for (const size of SIZES) {
  test(`what failed alike is one card, at ${size.name}`, async () => {
    const page = await browser.page(server, size);
    await lookAt(page, size, ['home-noisy', '/', ['7 failed', "task 'load' failed: exited with code 4", "task 'check' failed: exited with code 1", 'Ship it?']]);
    isClean(page);
    await page.context().close();
  });
}

test('what waits for somebody comes first, and many that failed lead to a list of them', async () => {
  const page = await browser.page(server);
  await page.open('/');
  await page.getByText('7 failed').waitFor();
  await page.getByText('Ship it?').waitFor();
  const kinds = await page.locator('section[aria-labelledby=attention] h3').allInnerTexts();
  assert.deepEqual(kinds, ['Waits for an approval 1', 'Failed in the last 24 hours 9']);
  assert.equal(await page.locator('section[aria-labelledby=attention] .card').count(), 4);
  // One more, heard of while it is on the screen.
  await server.trigger('noisy');
  await page.getByText('8 failed').waitFor();
  await page.getByRole('link', { name: 'noisy', exact: true }).click();
  await page.waitForURL(/status=failed&workflow=noisy/);
  await page.getByText('9 runs').waitFor();
  isClean(page);
  await page.context().close();
});

test('a run that was accepted long ago and has failed just now is there', async () => {
  const page = await browser.page(server);
  const [run] = (await server.api('/runs?workflow=quiet')).items;
  const old = { ...run, created_at: new Date(Date.now() - 30 * 3_600_000).toISOString(), started_at: new Date(Date.now() - 30 * 3_600_000).toISOString() };
  // Lists go by when a run was accepted: this one is not among those of the last day.
  await page.route(/\/runs\?/, async (route) => {
    const query = new URL(route.request().url()).searchParams;
    const items = query.get('status') === 'failed' && !query.has('since') ? [old] : [];
    return route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify({ items }) });
  });
  await page.open('/');
  await page.getByText("task 'check' failed: exited with code 1").waitFor();
  isClean(page);
  await page.context().close();
});

test('a run whose work is not known to be gone needs somebody', async () => {
  const page = await browser.page(server);
  const [run] = (await server.api('/runs?workflow=quiet')).items;
  const attention = { why: 'kill_unconfirmed', since: new Date(Date.now() - 120_000).toISOString() };
  // It takes five minutes to become one.
  const stuck = { ...run, status: 'cancelling', finished_at: undefined, error: undefined, attention };
  await page.route(/\/runs\?/, async (route) => {
    const items = new URL(route.request().url()).searchParams.get('status')?.includes('cancelling') ? [stuck] : [];
    return route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify({ items }) });
  });
  await page.open('/');
  const card = page.locator('section[aria-labelledby=attention]').getByRole('listitem').filter({ hasText: 'nothing said that it is gone: noticed 2 min ago' });
  await card.getByRole('link', { name: 'See what it is' }).waitFor();
  await page.getByRole('heading', { name: 'Does not end 1' }).waitFor();
  isClean(page);
  await page.context().close();
});
