// Finding things, and no dead ends: search, filters, addresses that lead nowhere, rows on a phone.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { everything, LANDING } from './fixtures.js';
import { fits, isAccessible, isClean, picture } from './look.js';

let server;
let browser;
let run;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  run = await everything(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const PHONE = { viewport: { width: 375, height: 812 } };

test('tasks of the run are found from one of its tasks, and Escape closes the search', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}/tasks/breaks`);
  await page.getByRole('heading', { name: 'breaks' }).waitFor();
  await page.getByText('done', { exact: true }).first().waitFor();
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search' }).fill('listens');
  await page.getByRole('option', { name: /task listens/ }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search' }).fill('listens');
  await page.getByRole('option', { name: /task listens/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'listens' }).waitFor();
  isClean(page);
  await page.context().close();
});

test('where to begin again is offered by name, from a task too', async () => {
  await server.deploy('name: short\ntasks:\n  one: { run: "true" }\n  two: { depends_on: [one], run: "exit 1" }\n');
  const { id } = await server.trigger('short');
  await server.reached(id, 'failed');
  const page = await browser.page(server);
  await page.open(`/runs/${id}/tasks/two`);
  await page.getByRole('link', { name: 'one' }).first().waitFor();
  await page.getByRole('button', { name: 'Run again from here…' }).click();
  await page.getByRole('dialog', { name: 'Run again from two' }).waitFor();
  assert.deepEqual(await page.locator('#from-names option').evaluateAll((all) => all.map((it) => it.value)), ['one', 'two']);
  isClean(page);
  await page.context().close();
});

test('runs are filtered by a workflow that is offered, and a label that is none is told at once', async () => {
  const page = await browser.page(server);
  await page.open('/runs');
  const workflow = page.getByLabel('Only runs of this workflow');
  await workflow.focus();
  await until(async () => (await page.locator('#workflow-names option').count()) > 0);
  const names = await page.locator('#workflow-names option').evaluateAll((all) => all.map((it) => it.value));
  assert.ok(names.includes('everything-at-once'));
  await workflow.fill('everything-at-once');
  await page.keyboard.press('Enter');
  await page.waitForURL(/workflow=everything-at-once/);
  const label = page.getByLabel(/^Only runs with this label/);
  await label.fill('OPS-12345');
  await page.keyboard.press('Enter');
  await page.getByText('“OPS-12345” is no label: key=value, like team=data.').waitFor();
  assert.equal(await label.getAttribute('aria-invalid'), 'true');
  assert.equal(await label.inputValue(), 'OPS-12345', 'what was typed stays');
  assert.ok(!page.url().includes('label='));
  await isAccessible(page, 'a label that is none');
  await picture(page, 'label-wrong-1440-light');
  await label.fill('ticket=OPS-12345');
  await page.keyboard.press('Enter');
  await page.waitForURL(/label=ticket/);
  await page.getByText('1 run', { exact: true }).waitFor();
  assert.equal(await label.getAttribute('aria-invalid'), null);
  isClean(page);
  await page.context().close();
});

test('an address that can lead nowhere says so, and offers no second try', async () => {
  const page = await browser.page(server);
  for (const [path, text, link] of [
    [`/runs/${run}/tasks/each?index=abc`, '“abc” is no instance.', 'The whole task'],
    [`/runs/${run}/tasks/each?index=4000`, 'it has 400, numbered from 0', 'The whole task'],
    [`/runs/${run}/tasks/nothing`, "the run has no task 'nothing'", 'The whole run'],
    ['/workflows/none', "there is no workflow 'none'", 'All workflows'],
  ]) {
    await page.open(path);
    await page.getByText(text).waitFor();
    await page.getByRole('link', { name: link }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, path);
  }
  isClean(page);
  await page.context().close();
});

test('instances that have not been opened are told of, with how many may be at work', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}/tasks/each`);
  await page.getByRole('group', { name: 'Filter' }).getByRole('button', { name: /pending/ }).click();
  await page.getByText(/^\d+ instances have not been opened yet: at most 4 at once\.$/).waitFor();
  await picture(page, 'unopened-1440-light');
  isClean(page);
  await page.context().close();
});

test('on a phone instances say why, states are whole, and the attempt that is chosen is in sight', async () => {
  const page = await browser.page(server, PHONE);
  await page.open(`/runs/${run}/tasks/each`);
  await page.getByRole('group', { name: 'Filter' }).getByRole('button', { name: /failed/ }).click();
  const why = page.locator('.second-line', { hasText: 'exited with code 1' }).first();
  await why.waitFor();
  assert.ok(await why.evaluate((it) => it.scrollWidth <= it.clientWidth), 'and there is room for it');
  await fits(page, 'instances');
  await picture(page, 'instances-375-light');
  await server.deploy('name: stubborn\ntasks:\n  it: { retries: { max: 6, delay: 1ms }, run: "exit 1" }\n');
  const { id } = await server.trigger('stubborn');
  await server.reached(id, 'failed');
  await page.open(`/runs/${id}/tasks/it`);
  const chosen = page.locator('.attempt[aria-pressed=true]', { hasText: 'Attempt 7' });
  await chosen.waitFor();
  await until(async () => {
    const box = await chosen.boundingBox();
    return box.x >= 0 && box.x + box.width <= 375;
  });
  await picture(page, 'attempts-375-light');
  await server.deploy(LANDING);
  const landing = await server.trigger('landing');
  await server.taskReached(landing.id, 'alpha', 'worker_done');
  for (const size of [PHONE, { viewport: { width: 1440, height: 900 } }]) {
    const other = await browser.page(server, size);
    await other.open(`/runs/${landing.id}?tab=tasks`);
    const cell = other.locator('.row .c-state', { hasText: 'worker done' }).first();
    await cell.waitFor();
    assert.deepEqual(await cell.evaluate((it) => it.scrollWidth - it.clientWidth), 0, `the word is whole at ${size.viewport.width}`);
    await picture(other, `worker-done-${size.viewport.width}-light`);
    await other.context().close();
  }
  isClean(page);
  await page.context().close();
});

test('a label leads to the runs that have it, a holder of a limit to its run, an error is told once', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}`);
  await page.getByRole('link', { name: 'ticket=OPS-12345' }).click();
  await page.waitForURL(/runs\?label=ticket%3DOPS-12345/);
  await page.getByText('1 run', { exact: true }).waitFor();
  await page.open('/tiers');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'everything-at-once/one' }) });
  await card.getByRole('link', { name: run.slice(-8) }).first().waitFor();
  await page.open(`/runs/${run}/tasks/breaks`);
  await page.locator('.callout', { hasText: /^exited with code 28$/ }).waitFor();
  isClean(page);
  await page.context().close();
});
