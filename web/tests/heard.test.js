// What is heard while something is on its way is not lost when that arrives.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { isClean } from './look.js';

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy('name: asks\ntasks:\n  ask: { approval: { message: "Ship it?" } }\n');
  await server.deploy('name: many\ntasks:\n  each: { foreach: [1, 2, 3], run: "test ${{ item }} != 2" }\n');
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** The next answer is made now and comes when it is let go: by then it is old. @param {any} page @param {RegExp} url */
async function delayed(page, url) {
  let [made, free] = [() => {}, () => {}];
  const isMade = new Promise((done) => { made = done; });
  const isFree = new Promise((done) => { free = done; });
  await page.route(url, async (route) => {
    const response = await route.fetch();
    made();
    await isFree;
    await route.fulfill({ response }).catch(() => {});
  }, { times: 1 });
  const letGo = async () => {
    const answered = page.waitForResponse(url);
    free();
    await answered;
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  };
  return { isMade, letGo };
}

/** Notes what comes through streams. @param {any} page */
const listen = (page) => page.addInitScript(() => {
  const { read } = ReadableStreamDefaultReader.prototype;
  Object.assign(window, { heard: '' });
  ReadableStreamDefaultReader.prototype.read = async function noted(...args) {
    const part = await read.apply(this, args);
    if (part.value) window.heard += new TextDecoder().decode(part.value);
    return part;
  };
});

test('a run that ends while its list is on its way is shown as ended', async () => {
  const run = await server.trigger('asks');
  await server.reached(run.id, 'running');
  const page = await browser.page(server);
  await listen(page);
  const list = await delayed(page, /\/runs\?limit=/);
  await page.open('/runs');
  await list.isMade;
  await server.api(`/runs/${run.id}/tasks/ask/approve`, { method: 'POST' });
  await page.waitForFunction(() => window.heard.includes('"status":"success"'));
  await list.letGo();
  await page.getByRole('table', { name: 'Runs' }).getByText('success').first().waitFor();
  assert.equal(await page.getByRole('table', { name: 'Runs' }).getByText('running').count(), 0);
  isClean(page);
  await page.context().close();
});

test('instances that were asked for by one state do not come into the list of another', async () => {
  const run = await server.trigger('many');
  await server.reached(run.id, 'failed');
  const page = await browser.page(server);
  await page.open(`/runs/${run.id}/tasks/each`);
  const rows = page.getByRole('table', { name: 'Instances' }).locator('.row:not(.head)');
  await rows.nth(2).waitFor();
  const old = await delayed(page, /instances\?status=success/);
  await page.getByRole('button', { name: '2 success' }).click();
  await old.isMade;
  await page.getByRole('button', { name: '2 success' }).click();
  await page.getByRole('button', { name: '1 failed' }).click();
  await rows.first().waitFor();
  await old.letGo();
  assert.equal(await rows.count(), 1);
  isClean(page);
  await page.context().close();
});
