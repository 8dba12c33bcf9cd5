// A run that is over runs again, from its start or from a task, as a new run.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { fits, isAccessible, isClean, picture } from './look.js';

let server;
let browser;
let page;
let run;

const flow = (word) => `name: again
tasks:
  first: { run: "echo '{}' > $MAINSPRING_OUTPUT" }
  second: { depends_on: [first], run: "echo ${word}" }
  third: { depends_on: [second], run: "echo three" }
`;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(flow('one'));
  run = (await server.trigger('again')).id;
  await server.reached(run, 'success');
  await server.deploy(flow('two'));
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const runIn = () => page.url().match(/runs\/([0-9a-f-]{36})/)[1];
const state = (text) => page.locator('.head .state', { hasText: text }).waitFor();

test('from a task: what is not below it is taken over', async () => {
  await page.open(`/runs/${run}/tasks/second`);
  await page.getByRole('button', { name: 'Run again from here…' }).click();
  await page.getByRole('dialog', { name: 'Run again from second' }).waitFor();
  assert.equal(await page.getByLabel(/^Begin at this task/).inputValue(), 'second');
  await isAccessible(page, 'run again');
  await picture(page, 'rerun-1440-light');
  await page.getByRole('button', { name: 'Run again', exact: true }).click();
  await page.getByText('A new run with the same input has been started.').waitFor();
  await page.waitForURL((url) => !url.pathname.includes(run));
  await state('success');
  const made = await server.api(`/runs/${runIn()}`);
  assert.deepEqual([made.retry_of, made.version], [run, 1]);
  // It says where it comes from, and which task did not run.
  await page.getByText('Runs anew').waitFor();
  await page.getByRole('link', { name: run.slice(-8) }).waitFor();
  await page.open(`/runs/${made.id}?tab=tasks`);
  await page.getByRole('row', { name: /first/ }).getByText('taken over from the run before').waitFor();
  await page.open(`/runs/${made.id}/tasks/first`);
  await page.getByText('taken over from the run before').waitFor();
  await fits(page, 'a task that was taken over');
  isClean(page);
});

test('from the start, with the latest version; a task that is not there is refused', async () => {
  await page.open(`/runs/${run}`);
  await page.getByRole('button', { name: 'Run again…' }).click();
  await page.getByLabel(/^Begin at this task/).fill('fourth');
  await page.getByLabel('Version', { exact: true }).selectOption('the latest');
  await page.getByRole('button', { name: 'Run again', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').getByText(/no task 'fourth'/).waitFor();
  await page.getByLabel(/^Begin at this task/).fill('');
  await page.getByRole('button', { name: 'Run again', exact: true }).click();
  await page.waitForURL((url) => !url.pathname.includes(run));
  await state('success');
  assert.equal((await server.api(`/runs/${runIn()}`)).version, 2);
  isClean(page);
});
