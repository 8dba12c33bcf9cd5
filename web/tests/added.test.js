// Tasks that are added to a run that lives, in the page: written, corrected, seen at once.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { GATED, HOSTILE } from './fixtures.js';
import { isAccessible, isClean, lookAt, picture, SIZES } from './look.js';

let server;
let browser;
let page;
let run;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(GATED);
  run = (await server.trigger('gated')).id;
  await server.taskReached(run, 'first', 'running');
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const text = () => page.getByLabel('Tasks, as YAML');
const add = () => page.getByRole('button', { name: 'Add', exact: true }).click();

test('mistakes are told with line and column, and a click leads there', async () => {
  await page.open(`/runs/${run}`);
  await page.getByRole('button', { name: 'Add tasks…' }).click();
  await page.getByRole('dialog', { name: 'Add tasks to the run' }).waitFor();
  assert.match(await text().inputValue(), /depends_on: \["third"\]/, 'something to begin with');
  await text().fill(`tasks:\n  first: { run: "true" }\n  after: { depends_on: [nobody], run: "true", descripton: ${JSON.stringify(HOSTILE.markup)} }\n`);
  await add();
  const wrong = page.getByRole('dialog').getByRole('alert');
  await wrong.getByRole('button', { name: 'line 2, column 3' }).waitFor();
  await wrong.getByText(/nobody/).first().waitFor();
  assert.ok((await wrong.getByRole('button', { name: /^line 3, column/ }).count()) >= 2, 'all mistakes at once');
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  await isAccessible(page, 'mistakes in added tasks');
  await picture(page, 'add-wrong-1440-light');
  await wrong.getByRole('button', { name: 'line 2, column 3' }).click();
  assert.equal(await text().evaluate((it) => it.value.slice(it.selectionStart, it.selectionStart + 5)), 'first');
  assert.equal((await server.api(`/runs/${run}`)).tasks.total, 3, 'nothing was added');
});

test('what is right is added, drawn, marked and runs', async () => {
  await text().fill(`tasks:\n  notify: { depends_on: [first], run: "echo notified" }\n  sum-up: { depends_on: [notify, third], description: ${JSON.stringify(HOSTILE.markup)}, run: "true" }\n`);
  await add();
  await page.getByText('The tasks are added.').waitFor();
  await page.getByText('5 tasks', { exact: true }).waitFor();
  const node = page.getByRole('region', { name: 'Graph of the tasks' }).getByRole('link', { name: /^notify added/ });
  await node.waitFor();
  await page.getByRole('tab', { name: 'Tasks' }).click();
  await page.getByRole('row', { name: /pending notify added waits for first \(running\)/ }).waitFor();
  assert.equal(await page.locator('.row .label', { hasText: 'added' }).count(), 2);
  await server.release('go-first');
  await server.release('go-third');
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  await page.getByRole('tab', { name: 'Timeline' }).click();
  await page.getByRole('row', { name: /notify added/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add tasks…' }).count(), 0, 'one that is over takes none');
  await page.open(`/runs/${run}/tasks/notify`);
  await page.getByText('added to the run').waitFor();
  assert.equal(await page.evaluate(() => window.harmed), undefined);
  isClean(page);
});

for (const size of SIZES) {
  test(`a run that tasks were added to, at ${size.name}`, async () => {
    const other = await browser.page(server, size);
    for (const [tab, seen] of [['graph', 'notify'], ['tasks', 'added'], ['timeline', 'added']]) await lookAt(other, size, [`added-${tab}`, `/runs/${run}?tab=${tab}`, [seen]]);
    isClean(other);
    await other.context().close();
  });
}
