// What waits for people and for limits: approvals, signals, tiers, done in the page and seen at the
// server.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { RELEASE } from './fixtures.js';
import { isAccessible, isClean, lookAt, picture, SIZES } from './look.js';

let server;
let browser;
let run;

const TRAIN = `name: train
max_active_runs: 3
tiers: { db: { limit: 5, rate: 100/1m } }
tasks:
  learn: { tier: gpu, parallel: 3, run: "while [ ! -e go-train ]; do sleep 0.02; done" }
  store: { tier: db, depends_on: [learn], run: "true" }
`;

before(async () => {
  [server, browser] = await Promise.all([Server.start({ args: ['--tier', 'gpu=2'] }), Browser.start()]);
  await server.deploy(RELEASE);
  await server.deploy(TRAIN);
  run = (await server.trigger('release')).id;
  await server.trigger('train');
  await until(async () => (await server.api('/approvals')).items.length === 4);
  await until(async () => (await server.api('/tiers')).items.find((it) => it.name === 'gpu').waiting === 1);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const json = (body, status = 200) => ({ status, contentType: 'application/json', body: JSON.stringify(body) });

for (const size of SIZES) {
  test(`approvals, tiers and a run that waits, at ${size.name}`, async () => {
    const page = await browser.page(server, size);
    for (const [name, path, texts] of [
      ['approvals', '/approvals', ['Open region 2?', '4 tasks wait for somebody', 'it is rejected in']],
      ['tiers', '/tiers', ['2 of 2 in use, 1 waiting', 'train/db', 'at most 100/1m', 'max_active_runs:train', '1 of 3 active, 0 waiting']],
      ['home-asked', '/', ['Needs attention', 'Open region 2?']],
      ['run-waits', `/runs/${run}`, ['review waits for an approval:', '4 waiting']],
      ['tasks-waiting', `/runs/${run}?tab=tasks`, ['waits for the signal paid', 'sleeps, goes on in']],
      ['timeline-waiting', `/runs/${run}?tab=timeline`, ['waits for a person, a signal, a time or a child run']],
      ['approval', `/runs/${run}/tasks/review`, ['waits for an approval: Ship 1.4.2?', 'Approve…', 'Input and output']],
      ['approvals-fanned', `/runs/${run}/tasks/regions`, ['3 instances', 'waits for an approval: Open region 1?']],
    ]) await lookAt(page, size, [name, path, texts]);
    isClean(page);
    await page.context().close();
  });
}

test('an approval is given by keyboard, with a comment; an instance is rejected', async () => {
  const page = await browser.page(server);
  await page.open('/');
  await page.getByText('Open region 2?').waitFor();
  await page.locator('.badge', { hasText: '4' }).first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { name: 'Approvals' }).waitFor();
  await page.getByText('4 tasks wait for somebody').waitFor();
  const card = page.getByRole('listitem').filter({ hasText: 'Ship 1.4.2?' });
  await card.getByRole('button', { name: 'Approve…' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Approve review?' }).waitFor();
  await isAccessible(page, 'approval');
  await picture(page, 'approve-1440-light');
  await page.keyboard.type('looks good');
  await page.keyboard.press('Enter');
  await page.getByText('review is approved.').waitFor();
  const { output } = await server.taskReached(run, 'review', 'success');
  assert.deepEqual([output.approved, output.by, output.comment], [true, 'anonymous', 'looks good']);
  await page.getByText('3 tasks wait for somebody').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Open region 1?' }).getByRole('button', { name: 'Reject…' }).click();
  await page.getByLabel('Comment, kept with the decision').fill('not yet');
  await page.getByRole('button', { name: 'Reject', exact: true }).click();
  await page.getByText('regions[1] is rejected.').waitFor();
  const told = await until(async () => {
    const instance = await server.api(`/runs/${run}/tasks/regions?index=1`);
    return instance.status === 'failed' && instance;
  });
  assert.equal(told.error.class, 'rejected');
  await page.getByText('2 tasks wait for somebody').waitFor();
  isClean(page);
  await page.context().close();
});

test('a signal is sent from the task that waits for it, its value checked first', async () => {
  const page = await browser.page(server);
  await page.open(`/runs/${run}/tasks/paid`);
  await page.getByRole('button', { name: 'Send the signal…' }).click();
  assert.equal(await page.getByLabel('Key', { exact: true }).inputValue(), 'paid');
  await isAccessible(page, 'signal');
  await page.getByLabel(/^Value, as JSON/).fill('{nope');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText(/This is no JSON/).waitFor();
  await page.getByLabel(/^Value, as JSON/).fill('{"amount": 5}');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The signal paid was sent.').waitFor();
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  assert.deepEqual((await server.api(`/runs/${run}/tasks/paid`)).output, { amount: 5 });
  await page.getByText('amount').waitFor();
  // Both are there: what was to follow follows.
  await server.taskReached(run, 'ship', 'success');
  isClean(page);
  await page.context().close();
});

test('a signal is sent to a run before anything waits for it', async () => {
  await server.deploy('name: early\ntasks:\n  first: { run: "while [ ! -e go-early ]; do sleep 0.02; done" }\n  then: { depends_on: [first], wait: { signal: word } }\n');
  const early = await server.trigger('early');
  const page = await browser.page(server);
  await page.open(`/runs/${early.id}`);
  await page.getByRole('button', { name: 'Signal…' }).click();
  await page.getByLabel('Key', { exact: true }).fill('word');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The signal word was sent.').waitFor();
  await server.release('go-early');
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  isClean(page);
  await page.context().close();
});

test('a limit is changed while somebody waits, and a refusal of it is shown', async () => {
  const page = await browser.page(server);
  await page.open('/tiers');
  await page.getByRole('button', { name: 'Change limit of gpu' }).click();
  const limit = page.getByLabel('At most so many at once');
  await limit.fill('2000000');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByText(/limit: from 0 to/).waitFor();
  await limit.fill('7');
  await page.getByLabel(/^Starts in any time/).fill('50/1m');
  await page.keyboard.press('Enter');
  // Whoever waited runs now, and the view says so by itself.
  await page.getByText('3 of 7 in use, 0 waiting, at most 50/1m').waitFor();
  const told = (await server.api('/tiers')).items.find((it) => it.name === 'gpu');
  assert.deepEqual([told.limit, told.rate, told.source], [7, '50/1m', 'api']);
  await page.getByRole('button', { name: 'Change limit of gpu' }).click();
  await page.getByLabel(/^Starts in any time/).fill('');
  await page.keyboard.press('Enter');
  await page.getByText('3 of 7 in use, 0 waiting', { exact: true }).waitFor();
  for (const own of ['train/db', 'max_active_runs:train']) {
    assert.equal(await page.getByRole('button', { name: `Change limit of ${own}` }).count(), 0, 'a workflow has its own in its text');
  }
  // A run that holds a limit leads to itself.
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'max_active_runs:train' }) });
  assert.match(await card.getByRole('link').last().getAttribute('href') ?? '', /\/runs\/[0-9a-f-]{36}$/);
  isClean(page);
  await page.context().close();
});

test('a tier is added, and tasks may name it', async () => {
  const page = await browser.page(server);
  await page.open('/tiers');
  await page.getByRole('button', { name: 'Add a tier…' }).click();
  await page.getByLabel('Name', { exact: true }).fill('not a name');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('licences');
  await page.getByLabel('At most so many at once').fill('4');
  await isAccessible(page, 'a new tier');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('0 of 4 in use').waitFor();
  await server.deploy('name: licensed\ntasks:\n  a: { tier: licences, run: "true" }\n');
  isClean(page);
  await page.context().close();
});

test('what the server says when it fails is shown, and what to do', async () => {
  const page = await browser.page(server);
  const broken = { title: 'The store failed', detail: 'no space left on device; make room, the server goes on by itself', status: 503, code: 'store_failed' };
  await page.route(/\/workflows\?/, (route) => route.fulfill(json(broken, 503)));
  await page.open('/workflows');
  await page.getByRole('alert').getByText('The store failed').waitFor();
  await page.getByText('no space left on device; make room').waitFor();
  await isAccessible(page, 'a failure');
  await picture(page, 'failure-1440-light');
  await page.unroute(/\/workflows\?/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: 'release' }).waitFor();
  isClean(page);
  await page.context().close();
});
