// The graph of a run: drawn again when it could not be drawn, open where things happen, with
// failures inside fan-outs and stacks in words.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { everything } from './fixtures.js';
import { isAccessible, isClean, looksRight, picture, SIZES } from './look.js';

let server;
let browser;
let run;

/** Longer than any screen, and broken at its end. */
const CHAIN = `name: chain
tasks:
  t0: { run: "true" }
${Array.from({ length: 14 }, (_, i) => `  t${i + 1}: { depends_on: [t${i}], run: "true" }`).join('\n')}
  broken: { depends_on: [t14], run: "exit 1" }
`;

/** Edges with something written on them, that go around others. */
const WRITTEN = `name: written
tasks:
  a: { run: "true" }
  b: { depends_on: [a], run: "true" }
  c: { depends_on: [b], run: "true" }
  d: { depends_on: [c, { task: a, when: finished }, { task: b, when: completed }], run: "true" }
`;

/** Many side by side, of which two fail. */
const SIDES = `name: sides
tasks:
  first: { noop: {} }
${Array.from({ length: 100 }, (_, i) => `  s${i}: { depends_on: [first], run: "${i % 40 === 7 ? 'exit 1' : i < 66 ? 'true' : 'while [ ! -e go-sides ]; do sleep 0.02; done'}" }`).join('\n')}
`;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  for (const text of [CHAIN, WRITTEN, SIDES]) await server.deploy(text);
  run = await everything(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** What draws graphs cannot be loaded until `mended`. */
async function breaking(page) {
  const it = { mended: false };
  await page.context().route('**/layout-worker.js', (route) => (it.mended ? route.fallback() : route.abort()));
  return it;
}

test('a graph that could not be drawn says so, and is drawn when it is asked for again', async () => {
  const page = await browser.page(server);
  const worker = await breaking(page);
  await page.open(`/runs/${run}`);
  await page.getByText('The graph could not be drawn').waitFor();
  await isAccessible(page, 'a graph that could not be drawn');
  // The other views are there all the same, and each time it is asked for it is tried anew.
  await page.getByRole('tab', { name: 'Tasks' }).click();
  await page.getByRole('row', { name: /failed breaks/ }).waitFor();
  await page.getByRole('tab', { name: 'Graph' }).click();
  await page.getByText('The graph could not be drawn').waitFor();
  worker.mended = true;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.node', { hasText: 'breaks' }).waitFor();
  await page.getByRole('link', { name: 'everything-at-once' }).first().click();
  await page.locator('.node', { hasText: 'breaks' }).waitFor();
  isClean(page);
  await page.context().close();
});

test('what failed inside a fan-out is said, with a way to it, while the rest goes on', async () => {
  for (const size of SIZES) {
    const page = await browser.page(server, size);
    await page.open(`/runs/${run}`);
    const node = page.locator('.node', { hasText: /7 failed · 53 of 400/ });
    await node.waitFor();
    assert.equal(await node.locator('.node-note .shape.tone-failed').count(), 1, 'by a shape too');
    const callout = page.locator('.callout', { hasText: 'each: 7 of 400 instances have failed so far' });
    await callout.getByText('exited with code 1').waitFor();
    await looksRight(page, `failing-${size.name}`);
    await node.scrollIntoViewIfNeeded();
    await picture(page, `failing-node-${size.name}-dark`);
    await callout.getByRole('link', { name: '7 of 400 instances' }).click();
    await page.getByRole('button', { name: /failed/, pressed: true }).waitFor();
    await page.goBack();
    await callout.getByRole('link', { name: 'each[4]' }).click();
    await page.getByRole('heading', { name: 'each[4]' }).waitFor();
    isClean(page);
    await page.context().close();
  }
});

test('a stack says how far it is and how many of it failed', async () => {
  const { id } = await server.trigger('sides');
  await server.until(async () => {
    const { success, failed } = (await server.api(`/runs/${id}`)).tasks;
    return success === 65 && failed === 2;
  });
  const page = await browser.page(server);
  await page.open(`/runs/${id}`);
  const stack = page.getByRole('button', { name: /2 failed · 64 of 100/ });
  await stack.waitFor();
  assert.equal(await stack.locator('.node-note .shape.tone-failed').count(), 1);
  await server.post(`/runs/${id}/cancel?force=true`);
  isClean(page);
  await page.context().close();
});

/** Whether a node can be seen in the graph. */
const isInSight = (node) => node.evaluate((it) => {
  const [inner, outer] = [it.getBoundingClientRect(), it.closest('.graph').getBoundingClientRect()];
  return inner.left >= outer.left && inner.right <= outer.right;
});

test('it opens where things happen, also when states come after the drawing, unless somebody has scrolled', async () => {
  const { id } = await server.trigger('chain');
  await server.reached(id, 'failed');
  for (const scrolls of [false, true]) {
    const page = await browser.page(server);
    let go;
    const wait = new Promise((done) => { go = done; });
    // As with many tasks: the first few are there, and the rest comes later.
    await page.context().route(/\/runs\/[^/]+\/tasks\?/, async (route) => {
      const url = route.request().url();
      if (url.includes('cursor=')) await wait;
      await route.continue({ url: url.replace('limit=1000', 'limit=5') });
    });
    await page.open(`/runs/${id}`);
    const node = page.locator('.node', { hasText: 'broken' });
    await node.waitFor({ state: 'attached' });
    assert.equal(await isInSight(node), false);
    if (scrolls) await page.locator('.graph').evaluate((it) => { it.scrollLeft = 300; });
    go();
    await page.locator('.node.is-failed').waitFor({ state: 'attached' });
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
    assert.equal(await isInSight(node), !scrolls);
    if (scrolls) assert.equal(await page.locator('.graph').evaluate((it) => it.scrollLeft), 300);
    isClean(page);
    await page.context().close();
  }
});

test('what is written on an edge is inside of the drawing', async () => {
  for (const viewport of [{ width: 1440, height: 900 }, { width: 375, height: 812 }]) {
    const page = await browser.page(server, { viewport });
    await page.open('/workflows/written');
    await page.locator('.edge-label', { hasText: 'finished' }).waitFor({ state: 'attached' });
    const out = await page.locator('.edge-label').evaluateAll((labels) => labels.filter((it) => {
      const [inner, outer] = [it.getBoundingClientRect(), it.closest('.graph-space').getBoundingClientRect()];
      return inner.left < outer.left || inner.right > outer.right || inner.top < outer.top || inner.bottom > outer.bottom;
    }).map((it) => it.textContent));
    assert.deepEqual(out, [], `at ${viewport.width}`);
    await picture(page, `written-${viewport.width}`);
    isClean(page);
    await page.context().close();
  }
});

test('a graph that could not be drawn is drawn when the server is back', async () => {
  const page = await browser.page(server);
  const worker = await breaking(page);
  await page.open('/workflows/chain');
  await page.getByText('The graph could not be drawn').waitFor();
  worker.mended = true;
  await server.kill();
  await page.getByText('The server does not answer.').waitFor();
  await server.up();
  await page.locator('.node', { hasText: 't0' }).first().waitFor();
  isClean(page);
  await page.context().close();
});
