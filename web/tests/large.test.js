// A run of 10,000 tasks, and a fan-out of 100,000. What takes how long is told; what is asserted is
// that only what can be seen is drawn, and that no task of the page's thread works for long by the
// thread's own clock, so that it does not depend on what else the machine does.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { wide } from './fixtures.js';
import { isClean } from './look.js';

const TASKS = 10_000;
const INSTANCES = 100_000;
/** Of these that are over: on the third page of the list, which one has to scroll to. */
const OVER = 1100;
/** Elements of a page that draws only what can be seen. */
const ELEMENTS_MAX = 3_000;
/** Of one task of the page's thread, by its own work: longer, and people feel it. */
const WORKED_MAX_MS = 200;

let server;
let browser;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const elements = (page) => page.evaluate(() => document.querySelectorAll('*').length);

/**
 * The longest tasks of the page's thread as the browser traces them, in ms: by the clock, and by
 * what the thread itself worked, which does not count what else the machine does.
 */
async function traced(page, work) {
  await browser.browser.startTracing(page, { categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'] });
  await work();
  const { traceEvents } = JSON.parse(String(await browser.browser.stopTracing()));
  const main = new Set(traceEvents.filter((it) => it.name === 'thread_name' && it.args.name === 'CrRendererMain').map((it) => `${it.pid} ${it.tid}`));
  const tasks = traceEvents.filter((it) => it.name === 'RunTask' && main.has(`${it.pid} ${it.tid}`));
  const most = (of) => Math.round(Math.max(0, ...tasks.map(of)) / 1000);
  const worked = most((it) => it.tdur ?? 0);
  assert.ok(worked < WORKED_MAX_MS, `a task worked ${worked} ms`);
  return `${tasks.length} tasks, the longest ${most((it) => it.dur ?? 0)} ms, of which its thread worked ${worked} ms`;
}

test('a run of 10,000 tasks: graph, table and timeline stay small while everything changes', async () => {
  await server.deploy(wide(TASKS));
  const run = await server.trigger('wide');
  await server.reached(run.id, 'running');
  const page = await browser.page(server);
  let first = 0;
  let drawn = 0;
  const loading = await traced(page, async () => {
    const began = Date.now();
    await page.open(`/runs/${run.id}`);
    await page.locator('.head .state', { hasText: 'running' }).waitFor();
    first = Date.now() - began;
    await page.getByRole('button', { name: /9,998 tasks/ }).waitFor();
    drawn = Date.now() - began;
    await page.getByText('9,999 pending').first().waitFor();
  });
  assert.equal(await page.locator('.node').count(), 3, 'what stands in the same place is one stack');
  assert.ok((await elements(page)) < ELEMENTS_MAX);
  await page.getByRole('button', { name: /9,998 tasks/ }).click();
  await page.getByRole('table', { name: 'Tasks' }).waitFor();
  assert.equal(Number(await page.getByRole('table', { name: 'Tasks' }).getAttribute('aria-rowcount')), TASKS - 2 + 1);
  assert.ok((await elements(page)) < ELEMENTS_MAX);
  await page.getByRole('button', { name: /9,998 tasks from t0/ }).click();
  // To the end of a long list, and what is there.
  await page.getByRole('table', { name: 'Tasks' }).evaluate((it) => { it.scrollTop = it.scrollHeight; });
  await page.getByRole('link', { name: 'last', exact: true }).waitFor();
  const busy = await traced(page, async () => {
    await server.release('go-wide');
    await page.locator('.head .state', { hasText: 'success' }).waitFor();
    await page.getByText('10,000 success').first().waitFor();
  });
  console.log(`10,000 tasks: first view after ${first} ms, graph after ${drawn} ms, all loaded in ${loading}; while all changed ${busy}`);
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByRole('tabpanel').waitFor();
  assert.ok((await elements(page)) < ELEMENTS_MAX);
  isClean(page);
  await page.context().close();
});

/** A page of the run that updates can be told to. */
async function told(run, tab) {
  const page = await browser.page(server);
  // The server's own stream, and between its messages some that are made up: a thousand tasks each.
  await page.addInitScript(() => {
    const real = window.fetch;
    window.fetch = async (url, options) => {
      const response = await real(url, options);
      if (!String(url).startsWith('/events')) return response;
      const { readable, writable } = new TransformStream();
      const writer = writable.getWriter();
      const reader = response.body.getReader();
      window.tell = (text) => writer.write(new TextEncoder().encode(text));
      (async () => {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) return;
          await writer.write(value);
        }
      })();
      return new Response(readable, { status: 200, headers: response.headers });
    };
  });
  await page.open(`/runs/${run.id}?tab=${tab}`);
  await page.getByRole('link', { name: '10,000 success' }).waitFor();
  await page.evaluate((id) => {
    const states = ['running', 'success', 'failed', 'pending'];
    window.updates = Array.from({ length: 50 }, (_, round) => {
      const tasks = Array.from({ length: 1000 }, (_, i) => ({ name: `t${(round * 1000 + i) % 9998}`, kind: 'noop', status: states[(round + i) % 4], attempt: 1, tries: 0, tries_max: 1, started_at: new Date().toISOString() }));
      return `event: tasks\ndata: ${JSON.stringify({ run: id, tasks })}\n\n`;
    });
  }, run.id);
  return page;
}

test('ten updates a second of 10,000 tasks', async () => {
  const run = (await server.api('/runs?workflow=wide')).items[0];
  // All at once: each page has a thread of its own, and all of them are traced.
  const pages = await Promise.all(['tasks', 'graph', 'timeline'].map((tab) => told(run, tab)));
  const busy = await traced(pages[0], () => Promise.all(pages.map((page) => page.evaluate(async () => {
    for (const update of window.updates) {
      window.tell(update);
      await new Promise((done) => setTimeout(done, 100));
    }
  }))));
  console.log(`table, graph and timeline, 50 updates of 1,000 tasks each, ten a second: ${busy}`);
  for (const page of pages) {
    await page.getByRole('link', { name: /\d failed/ }).waitFor();
    assert.ok((await elements(page)) < ELEMENTS_MAX);
    isClean(page);
    await page.context().close();
  }
});

test('a fan-out of 100,000 is a node, a number and a list that grows as one scrolls', async () => {
  await server.deploy(`name: many\nmax_fanout: ${INSTANCES}\ntasks:\n  each: { parallel: ${INSTANCES}, concurrency: 4, run: "[ $MAINSPRING_INDEX -lt ${OVER} ] || exec sleep 1000" }\n`);
  const run = await server.trigger('many');
  await until(async () => (await server.api(`/runs/${run.id}/tasks/each`)).instances?.success >= OVER);
  const page = await browser.page(server);
  await page.open(`/runs/${run.id}`);
  await page.getByText('1,100 of 100,000').waitFor();
  await page.getByRole('link', { name: /each/ }).first().click();
  const table = page.getByRole('table', { name: 'Instances' });
  await table.waitFor();
  assert.equal(Number(await table.getAttribute('aria-rowcount')), INSTANCES + 1);
  for (const index of ['0', '600', '1050']) {
    await until(async () => {
      if (await page.getByRole('link', { name: index, exact: true }).count()) return true;
      await table.evaluate((it) => { it.scrollTop += 400; });
      return false;
    });
  }
  assert.ok((await elements(page)) < ELEMENTS_MAX);
  await page.getByLabel('Go to').fill('777');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'each[777]' }).waitFor();
  await page.open(`/runs/${run.id}/tasks/each?index=99999`);
  await page.getByText('This instance has not started yet.').waitFor();
  isClean(page);
  await server.post(`/runs/${run.id}/cancel?force=true`);
  await page.context().close();
});
