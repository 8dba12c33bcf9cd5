// Each view, at two widths, light and dark: it shows what it should, axe finds nothing, nothing
// sticks out, nothing is asked of others, no policy is violated.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Browser, PROGRAM, Server } from './harness.js';
import { GATED, NIGHTLY } from './fixtures.js';
import { isAccessible, isClean, lookAt, picture, SIZES } from './look.js';

let server;
let browser;
const runs = {};

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(await readFile(new URL('../../examples/hello.yaml', import.meta.url), 'utf8'));
  await server.deploy(NIGHTLY);
  await server.deploy(NIGHTLY.replace('echo checking', 'echo checking twice'));
  await server.deploy(GATED);
  for (let i = 0; i < 4; i += 1) await server.reached((await server.trigger('hello')).id, 'success');
  runs.failed = (await server.trigger('nightly-report', { input: { day: '2026-11-16' }, labels: { why: 'test' } })).id;
  await server.reached(runs.failed, 'failed');
  runs.live = (await server.trigger('gated')).id;
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

/** Name, path, and what is to be seen there. */
const VIEWS = [
  ['home', () => '/', ['Needs attention', "task 'load' failed: exited with code 3", 'Runs now', 'gated']],
  ['workflows', () => '/workflows', ['nightly-report', 'Three tasks that hand a greeting along', '3 workflows']],
  ['workflow', () => '/workflows/nightly-report', ['Start a run', 'convert', '× files', 'started']],
  ['workflow-runs', () => '/workflows/nightly-report?tab=runs', ['failed', 'why=test']],
  ['versions', () => '/workflows/nightly-report?tab=versions', ['From 1 to 2', '+  check: { depends_on: [{ task: convert, when: started }], run: "echo checking twice" }']],
  ['source', () => '/workflows/nightly-report?tab=source', ['name: nightly-report', 'Version 2, as it was deployed']],
  ['runs', () => '/runs', ['nightly-report', 'hello', 'gated']],
  ['run', () => `/runs/${runs.failed}`, ['load failed on attempt 3:', 'relation "orders" does not exist', '2 blocked', '8 of 8']],
  ['timeline', () => `/runs/${runs.failed}?tab=timeline`, ['waits for the next try', 'report']],
  ['tasks', () => `/runs/${runs.failed}?tab=tasks`, ['load failed before it', 'exited with code 3']],
  ['data', () => `/runs/${runs.failed}?tab=data`, ['2026-11-16', 'the workflow has no outputs']],
  ['task', () => `/runs/${runs.failed}/tasks/load`, ['Attempt 1', 'Attempt 3', 'connecting to the database', '3 (3 of 3 failures used)']],
  ['task-data', () => `/runs/${runs.failed}/tasks/fetch?tab=data`, ['8 items']],
  ['fan-out', () => `/runs/${runs.failed}/tasks/convert`, ['8 instances', '8 success']],
  ['instance', () => `/runs/${runs.failed}/tasks/convert?index=3`, ['convert[3]', 'item 4']],
  ['run-live', () => `/runs/${runs.live}`, ['running', 'Pause', 'Cancel']],
  ['task-pending', () => `/runs/${runs.live}/tasks/second`, ['Why it is not running:', 'waits for first (running)', 'There is no log yet: it has not started.']],
  ['nowhere', () => '/nowhere/at/all', ['There is nothing here']],
];

for (const size of SIZES) {
  test(`every view at ${size.name}`, async () => {
    const page = await browser.page(server, size);
    for (const [name, path, texts] of VIEWS) await lookAt(page, size, [name, path(), texts]);
    isClean(page);
    await page.context().close();
  });
}

test('dialogs are accessible too', async () => {
  const page = await browser.page(server);
  await page.open('/workflows/nightly-report');
  await page.getByRole('button', { name: 'Start a run' }).click();
  await page.getByRole('dialog', { name: 'Start nightly-report' }).waitFor();
  await isAccessible(page, 'trigger form');
  await picture(page, 'trigger-1440-light');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Help' }).waitFor();
  await isAccessible(page, 'help');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  await page.getByRole('dialog', { name: 'Search' }).waitFor();
  await isAccessible(page, 'search');
  isClean(page);
  await page.context().close();
});

test('the first view is small, and comes whole from this server', async () => {
  const page = await browser.page(server);
  const client = await page.context().newCDPSession(page);
  await client.send('Network.enable');
  let bytes = 0;
  client.on('Network.loadingFinished', (event) => { bytes += event.encodedDataLength; });
  await page.open('/');
  await page.getByText('Needs attention').waitFor();
  await page.waitForLoadState('load');
  console.log(`the first view took ${bytes} bytes over the wire`);
  assert.ok(bytes > 0 && bytes < 300_000, `${bytes} bytes`);
  isClean(page);
  await page.context().close();
});

test('an empty server says what to do next', async () => {
  const empty = await Server.start();
  const page = await browser.page(empty);
  await page.open('/');
  await page.getByText('No workflow is here yet.').waitFor();
  // What it says to do does what it says.
  const [deploy, trigger] = await page.locator('.command code').allInnerTexts();
  assert.match(deploy, /^mainspring apply --server http/);
  await isAccessible(page, 'empty home');
  await picture(page, 'empty-home-1440-light');
  for (const [name, text] of [['runs', 'Nothing has run yet.'], ['workflows', 'No workflow is deployed.'], ['approvals', 'Nothing waits for you.']]) {
    await page.open(`/${name}`);
    await page.getByText(text).waitFor();
    // What to do next, to be copied.
    await page.locator('.command code', { hasText: 'mainspring' }).first().waitFor();
    await isAccessible(page, `empty ${name}`);
    await picture(page, `empty-${name}-1440-light`);
  }
  const shell = promisify(execFile);
  for (const line of [deploy, trigger]) await shell('bash', ['-c', line.replace(/^mainspring/, PROGRAM)]);
  await page.open('/workflows');
  await page.getByRole('link', { name: 'hello' }).click();
  await page.getByRole('group', { name: /^Last 1 run/ }).getByRole('link').click();
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  isClean(page);
  await page.context().close();
  await empty.stop();
});

test('what is not there is said to be not there', async () => {
  const page = await browser.page(server);
  await page.open('/runs/01a1e545-a9fa-765c-a512-e00bea52d6a5');
  await page.getByRole('alert').waitFor();
  await page.getByRole('link', { name: 'all runs' }).waitFor();
  await page.open('/workflows/none');
  await page.getByRole('alert').waitFor();
  await page.open(`/runs/${runs.failed}/tasks/none`);
  await page.getByRole('alert').waitFor();
  isClean(page);
  await page.context().close();
});
