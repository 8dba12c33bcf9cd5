// Whatever a person may do to a run or a task, done in the page, seen at the server.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { GATED, NIGHTLY } from './fixtures.js';
import { isClean } from './look.js';

let server;
let browser;
let page;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(NIGHTLY);
  await server.deploy(GATED);
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const state = (text) => page.locator('.head .state', { hasText: text }).waitFor();
const runIn = () => page.url().match(/runs\/([0-9a-f-]{36})/)[1];

test('a run is started with a form made from the schema', async () => {
  await page.open('/workflows/nightly-report');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('This is required.').waitFor();
  await page.getByLabel('size').fill('1.5');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('A whole number, please.').waitFor();
  await page.getByText('1 to 10').waitFor();
  await page.getByLabel('size').fill('11');
  await page.getByLabel('day').fill('2026-11-16');
  await page.getByLabel('mode').selectOption('quick');
  await page.getByLabel('extra').fill('{"a": [1]}');
  await page.getByLabel('dry').check();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  // The server's own word on what the form cannot know.
  // It stands at the field, once, and leads there.
  await page.getByText('11 is greater than the maximum of 10').waitFor();
  assert.equal(await page.getByText('11 is greater than the maximum of 10').count(), 1);
  assert.equal(await page.getByRole('dialog').locator('.trouble').count(), 0);
  assert.equal(await page.getByLabel('size').getAttribute('aria-invalid'), 'true');
  await until(async () => page.evaluate(() => document.activeElement?.id === 'in-size'));
  await page.getByLabel('size').fill('3');
  assert.equal(await page.getByLabel('size').getAttribute('aria-invalid'), null);
  await page.getByText('Labels and priority').click();
  await page.getByLabel(/^Labels/).fill('why=test, me');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText('Each label is key=value, like team=data.').waitFor();
  await page.getByLabel(/^Labels/).fill('why=test, who=me');
  await page.getByLabel(/^Priority/).fill('5');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/\/ui\/runs\//);
  const run = await server.api(`/runs/${runIn()}`);
  assert.deepEqual(run.input, { day: '2026-11-16', dry: true, extra: { a: [1] }, mode: 'quick', size: 3 });
  assert.deepEqual([run.labels, run.priority], [{ who: 'me', why: 'test' }, 5]);
  await state('failed');
});

test('input can be written as JSON', async () => {
  await page.open('/workflows/nightly-report');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await page.getByLabel('day').fill('monday');
  await page.getByLabel('Write the input as JSON').check();
  const box = page.getByLabel('Input, as JSON');
  assert.deepEqual(JSON.parse(await box.inputValue()), { day: 'monday', dry: false });
  await box.fill('{"day": ');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByText(/This is no JSON/).waitFor();
  await box.fill('{"day": "tuesday"}');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/\/ui\/runs\//);
  assert.equal((await server.api(`/runs/${runIn()}`)).input.day, 'tuesday');
  await state('failed');
});

test('a failed run is retried and succeeds, seen live', async () => {
  const run = await server.trigger('nightly-report', { input: { day: 'today' } });
  await server.reached(run.id, 'failed');
  await page.open(`/runs/${run.id}`);
  await page.getByText('load failed on attempt 3:').waitFor();
  await server.release('mended');
  await page.getByRole('button', { name: 'Retry what failed' }).click();
  await state('success');
  await page.getByText('7 success').waitFor();
  assert.equal(await page.locator('.callout').count(), 0);
});

test('a run is paused, resumed, cancelled, and taken up again', async () => {
  const run = await server.trigger('gated');
  await page.open(`/runs/${run.id}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await state('paused');
  await page.getByText('the run is paused by anonymous').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await state('running');
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await state('cancelled');
  assert.equal((await server.api(`/runs/${run.id}`)).status, 'cancelled');
  await page.getByRole('button', { name: 'Retry what was cancelled' }).click();
  await state('running');
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByLabel(/Do not wait/).check();
  await page.getByRole('button', { name: 'Cancel the run' }).click();
  await state('cancelled');
});

test('a task is held, let go, cancelled and retried', async () => {
  const run = await server.trigger('gated');
  await page.open(`/runs/${run.id}/tasks/second`);
  await page.getByText('waits for first').waitFor();
  await page.getByRole('button', { name: 'Hold' }).click();
  await state('paused');
  await page.locator('.callout', { hasText: 'Why it is not running:' }).getByText('held by anonymous').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await state('pending');
  await page.getByRole('button', { name: 'Cancel…' }).click();
  await page.getByRole('button', { name: 'Cancel the task second' }).click();
  await state('cancelled');
  await server.release('go-first');
  await server.reached(run.id, 'cancelled');
  await page.getByRole('button', { name: 'Retry' }).click();
  await state('success');
  await server.release('go-third');
  await server.reached(run.id, 'success');
});

test('a refusal is shown and changes nothing', async () => {
  const run = await server.trigger('gated');
  await server.reached(run.id, 'success');
  await page.open(`/runs/${run.id}`);
  await state('success');
  await page.route(`${server.url}/runs/${run.id}`, async (route) => {
    const real = await route.fetch();
    await route.fulfill({ response: real, json: { ...(await real.json()), status: 'failed' } });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Retry what failed' }).click();
  await page.getByRole('alert').filter({ hasText: /./ }).first().waitFor();
  await page.unroute(`${server.url}/runs/${run.id}`);
});

/** Starts a run, the answer gets lost, something is done to the form, and it is sent again. @param {() => Promise<void>} change */
async function startedTwice(change) {
  const count = async () => (await server.api('/runs?workflow=gated&limit=1000')).items.length;
  const before = await count();
  await page.open('/workflows/gated');
  await page.getByRole('button', { name: 'Start a run' }).click();
  let sent = 0;
  await page.route(/\/workflows\/gated\/runs$/, async (route) => {
    sent += 1;
    if (sent > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.getByRole('dialog').getByText('The server does not answer').waitFor();
  await change();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await page.waitForURL(/\/ui\/runs\//);
  await page.unroute(/\/workflows\/gated\/runs$/);
  return (await count()) - before;
}

test('an answer that is lost does not start a second run', async () => {
  assert.equal(await startedTwice(async () => {}), 1);
});

test('what was changed after a lost answer is another run, and is not refused', async () => {
  const made = await startedTwice(async () => {
    await page.getByText('Labels and priority').click();
    await page.getByLabel(/^Priority/).fill('7');
  });
  assert.equal(made, 2);
  assert.equal((await server.api(`/runs/${runIn()}`)).priority, 7);
});

test('of a fan-out that failed, the first instance that did and its last lines are shown', async () => {
  await server.deploy('name: fanned\ntasks:\n  each: { parallel: 5, run: "[ $MAINSPRING_INDEX -lt 3 ] || { echo out of paper >&2; exit 9; }" }\n');
  const run = await server.trigger('fanned');
  await server.reached(run.id, 'failed');
  await page.open(`/runs/${run.id}`);
  await page.getByText('(2 instances of 5)').waitFor();
  await page.getByRole('region', { name: 'Last lines of each' }).getByText('out of paper').waitFor();
  await page.getByRole('link', { name: 'each[3]' }).click();
  await page.getByRole('heading', { name: 'each[3]' }).waitFor();
  await page.locator('.line', { hasText: 'out of paper' }).waitFor();
});

test('counts lead to the tasks they count', async () => {
  const run = await server.trigger('nightly-report', { input: { day: 'today' } });
  await server.reached(run.id, 'success');
  await page.open(`/runs/${run.id}`);
  await page.getByRole('link', { name: '7 success' }).click();
  await page.getByRole('table', { name: 'Tasks' }).waitFor();
  assert.equal(await page.getByRole('button', { name: '7 success' }).getAttribute('aria-pressed'), 'true');
});

test('of the tasks that are chosen those that failed are tried again', async () => {
  await server.deploy('name: some\ntasks:\n  one: { run: "[ -e mended-some ]" }\n  two: { run: "[ -e mended-some ]" }\n  three: { run: "[ -e mended-some ]" }\n  four: { run: "true" }\n');
  const run = await server.trigger('some');
  await server.reached(run.id, 'failed');
  await server.release('mended-some');
  await page.open(`/runs/${run.id}?tab=tasks`);
  await page.getByRole('table', { name: 'Tasks' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Retry these/ }).count(), 0, 'all of them are for the button above');
  await page.getByLabel('Filter tasks by name').fill('o');
  await page.getByRole('button', { name: 'Retry these 2' }).click();
  await page.getByText('2 tasks run again.').waitFor();
  for (const name of ['one', 'two']) await server.taskReached(run.id, name, 'success');
  await server.reached(run.id, 'failed');
  assert.equal((await server.api(`/runs/${run.id}/tasks/three`)).status, 'failed', 'and no other');
  await page.getByLabel('Filter tasks by name').fill('thr');
  await page.getByRole('button', { name: 'Retry this one' }).click();
  await state('success');
});

test('tasks are put in order by a column, both ways and back', async () => {
  const names = () => page.getByRole('table', { name: 'Tasks' }).getByRole('link').allInnerTexts();
  await page.open(`/runs/${(await server.api('/runs?workflow=nightly-report&status=success')).items[0].id}?tab=tasks`);
  await page.getByRole('table', { name: 'Tasks' }).waitFor();
  const plain = await names();
  const head = page.getByRole('columnheader', { name: 'Task' });
  for (const [order, wanted] of [['ascending', [...plain].sort()], ['descending', [...plain].sort().reverse()], ['none', plain]]) {
    await head.getByRole('button').click();
    await page.locator(`[role=columnheader][aria-sort=${order}]`, { hasText: 'Task' }).waitFor();
    assert.deepEqual(await names(), wanted);
  }
  await page.getByRole('button', { name: 'Took' }).click();
  await page.getByRole('button', { name: 'Took' }).click();
  assert.match(page.url(), /sort=-took/);
});

test('a run is found by the end of its id, as it is shown', async () => {
  const [run] = (await server.api('/runs?workflow=nightly-report')).items;
  await page.open('/');
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search' }).fill(run.id.slice(-8));
  await page.getByRole('option', { name: /run nightly-report/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(run.id));
});

test('bars of the last runs lead to these', async () => {
  await page.open('/workflows/nightly-report');
  await page.getByRole('group', { name: /^Last \d+ runs/ }).getByRole('link').last().click();
  await page.waitForURL(/\/ui\/runs\//);
  await state('success');
});

test('any two versions are compared', async () => {
  await server.deploy('name: compared\ntasks:\n  a: { run: "echo one" }\n');
  await server.deploy('name: compared\ntasks:\n  a: { run: "echo two" }\n');
  await server.deploy('name: compared\ntasks:\n  a: { run: "echo three" }\n');
  await page.open('/workflows/compared?tab=versions');
  await page.getByText('From 2 to 3').waitFor();
  await page.getByLabel('Compare').selectOption('version 1');
  await page.getByText('From 1 to 3').waitFor();
  await page.getByText('-  a: { run: "echo one" }').waitFor();
  await page.getByText('+  a: { run: "echo three" }').waitFor();
});

test('lists are live', async () => {
  await page.open('/runs?status=cancelled');
  await page.getByRole('table', { name: 'Runs' }).waitFor();
  const before = await page.locator('.rows .row:not(.head)').count();
  await server.deploy('name: sleeper\ntasks:\n  a: { run: "sleep 1000" }\n');
  const run = await server.trigger('sleeper');
  await server.post(`/runs/${run.id}/cancel`);
  await page.getByRole('link', { name: 'sleeper' }).waitFor();
  assert.equal(await page.locator('.rows .row:not(.head)').count(), before + 1);
  await page.open('/workflows');
  const bars = () => page.getByRole('row', { name: /^sleeper/ }).locator('.strip-bar').count();
  await until(async () => (await bars()) === 1);
  await server.trigger('sleeper').then((it) => server.post(`/runs/${it.id}/cancel?force=true`));
  await until(async () => (await bars()) === 2);
});

test('nothing went wrong on the way', () => isClean(page));
