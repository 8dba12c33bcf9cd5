// Many tabs at once. A browser has six connections for each server: tabs that nobody looks at give
// theirs back, and go on from where they were when somebody does.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { isClean } from './look.js';

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(`name: writer
tasks:
  write:
    run: |
      for i in $(seq 1 10); do echo "line $i"; done
      while [ ! -e more ]; do sleep 0.02; done
      for i in $(seq 11 20); do echo "line $i"; done
      while [ ! -e go ]; do sleep 0.02; done
      echo "the last line"
`);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** As if another tab were in front of it, or it in front again. */
const turn = (page, state) => page.evaluate((is) => {
  Object.defineProperty(document, 'visibilityState', { value: is, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, state);

/** Streams that are open, of all tabs. */
function streams(context) {
  const open = new Set();
  context.on('request', (request) => { if (request.headers().accept === 'text/event-stream') open.add(request); });
  for (const over of /** @type {const} */ (['requestfinished', 'requestfailed'])) context.on(over, (request) => open.delete(request));
  return open;
}

test('tabs with live logs that nobody looks at hold no connection, and miss nothing', async () => {
  const { id } = await server.trigger('writer');
  await server.taskReached(id, 'write', 'running');
  const address = `${server.url}/ui/runs/${id}/tasks/write`;
  const first = await browser.page(server);
  const context = first.context();
  const open = streams(context);
  // Two streams each: no connection is left.
  const tabs = [first, await context.newPage(), await context.newPage()];
  for (const tab of tabs) {
    await tab.goto(address);
    await tab.locator('.line', { hasText: 'line 10' }).waitFor();
  }
  assert.equal(open.size, 6);
  for (const tab of tabs) await turn(tab, 'hidden');
  await until(async () => open.size === 0);
  const another = await context.newPage();
  await another.goto(address);
  await another.locator('.line', { hasText: 'line 10' }).waitFor();
  assert.equal(open.size, 2, 'only of the one that is looked at');
  await server.release('more');
  await another.locator('.line', { hasText: 'line 20' }).waitFor();
  assert.equal(await first.locator('.line-text').count(), 10, 'what nobody looks at asks for nothing');

  await turn(first, 'visible');
  await first.locator('.line', { hasText: 'line 20' }).waitFor();
  assert.deepEqual(await first.locator('.line-text').allTextContents(), Array.from({ length: 20 }, (_, i) => `line ${i + 1}`), 'each line once');
  await server.release('go');
  await first.locator('.line', { hasText: 'the last line' }).waitFor();
  await first.locator('.head .state', { hasText: 'success' }).waitFor();
  // One that was hidden while everything ended learns of it.
  await turn(tabs[1], 'visible');
  await tabs[1].locator('.line', { hasText: 'the last line' }).waitFor();
  await tabs[1].locator('.head .state', { hasText: 'success' }).waitFor();
  isClean(first);
  await context.close();
});

test('a tab that is opened behind another one is loaded, and then holds no connection', async () => {
  const page = await browser.page(server);
  await page.addInitScript(() => Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true }));
  const open = streams(page.context());
  await page.open('/runs');
  await page.getByRole('row', { name: /success/ }).waitFor();
  await until(async () => open.size === 0);
  const { id } = await server.trigger('writer');
  await server.reached(id, 'success');
  await turn(page, 'visible');
  await page.getByText(id.slice(-8)).waitFor();
  isClean(page);
  await page.context().close();
});
