// Many runs at once: chosen by the filter of the list, looked at before, carried out, followed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Browser, Server } from './harness.js';
import { isAccessible, isClean, lookAt, picture, SIZES } from './look.js';

let server;
let browser;
let page;

const FLAKY = `name: flaky
tasks:
  load: { run: "[ -e mended ] || exit 3" }
`;
const SLOW = 'name: slow\ntasks:\n  a: { wait: { signal: never } }\n';
const COUNT = 30;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(FLAKY);
  await server.deploy(SLOW);
  const runs = [];
  for (let i = 0; i < COUNT; i += 1) runs.push(await server.trigger('flaky', { labels: { half: String(i % 2) } }));
  for (const { id } of runs) await server.reached(id, 'failed');
  for (let i = 0; i < 3; i += 1) await server.reached((await server.trigger('slow')).id, 'running');
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

const count = async (query) => (await server.api(`/runs?limit=1000&${query}`)).items.length;
const open = async (path) => {
  await page.open(path);
  await page.getByRole('button', { name: 'Act on all of these…' }).click();
  await page.getByRole('dialog', { name: 'Many runs at once' }).waitFor();
};
const action = (name) => page.getByLabel('What to do').selectOption(name);
const go = (name) => page.getByRole('button', { name, exact: true }).click();
const progress = (where) => where.getByRole('region', { name: 'Many runs at once' });

test('what is meant is shown before anything is done', async () => {
  await open('/runs?status=failed&workflow=flaky&label=half%3D1&within=day');
  await page.getByText(/^failed, of flaky, with the label half=1, accepted since/).waitFor();
  await page.getByRole('dialog').getByText('15 runs', { exact: true }).waitFor();
  assert.equal(await page.getByLabel('What to do').inputValue(), 'retry', 'what suits the filter');
  assert.equal(await page.getByRole('list', { name: 'Runs that are meant' }).getByRole('listitem').count(), 15);
  await isAccessible(page, 'many runs at once');
  await picture(page, 'bulk-1440-light');
  await action('Pause');
  await page.getByText('Nothing: pause is for runs that are running.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Pause', exact: true }).isDisabled());
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await count('status=failed'), COUNT);
});

test('it is carried out on these and no others, and its progress is told to the end', async () => {
  await server.release('mended');
  await open('/runs?status=failed&workflow=flaky&label=half%3D1');
  await go('Retry: 15 runs');
  await progress(page).getByText('Retry: 15 of 15 runs').waitFor();
  await progress(page).getByText('15 runs retried.').waitFor();
  await progress(page).getByText('over').waitFor();
  // The list below is live: none of them has failed any more.
  await page.getByText('No run is like that.').waitFor();
  assert.equal(await count('status=failed'), 15);
  await progress(page).getByRole('button', { name: 'Put it away' }).click();
  await progress(page).waitFor({ state: 'detached' });
});

test('runs are paused, resumed, cancelled and run again', async () => {
  for (const [name, done, query, wanted] of [['Pause', '3 runs paused.', 'status=paused', 3], ['Resume', '3 runs resumed.', 'status=running', 3], ['Cancel', '3 runs cancelled.', 'status=cancelled', 3]]) {
    await open('/runs?workflow=slow');
    await action(name);
    await go(`${name}: 3 runs`);
    await progress(page).getByText(done).waitFor();
    assert.equal(await count(`workflow=slow&${query}`), wanted, name);
  }
  await open('/runs?workflow=flaky&label=half%3D0');
  await action('Run again');
  await page.getByLabel(/^Begin at this task/).fill('load');
  await page.getByLabel('Version', { exact: true }).selectOption('the latest');
  await go('Run again: 15 runs');
  await progress(page).getByText('15 runs run again.').waitFor();
  assert.equal(await count('workflow=flaky'), COUNT + 15);
  isClean(page);
});

test('what does not apply any more is refused, and which that is', async () => {
  await open('/runs?status=cancelled&workflow=slow');
  await page.getByRole('dialog').getByText('3 runs', { exact: true }).waitFor();
  // Somebody else was faster.
  const [taken] = (await server.api('/runs?status=cancelled&workflow=slow')).items;
  let isHeld = true;
  await page.route(/\/runs\/bulk$/, async (route) => {
    if (!isHeld) return route.continue();
    isHeld = false;
    const body = JSON.parse(route.request().postData());
    // The filter as it was sent, but for the state: the server finds one that is running again.
    return route.continue({ postData: JSON.stringify({ ...body, filter: { ...body.filter, status: ['cancelled', 'running'] } }) });
  });
  await server.post(`/runs/${taken.id}/retry`);
  await server.reached(taken.id, 'running');
  await go('Retry: 3 runs');
  await progress(page).getByText('2 runs retried, 1 refused.').waitFor();
  await progress(page).getByText('Why not all').click();
  await progress(page).getByRole('link', { name: taken.id.slice(-8) }).waitFor();
  await isAccessible(page, 'progress of many runs');
  await picture(page, 'bulk-progress-1440-light');
  await page.unroute(/\/runs\/bulk$/);
  isClean(page);
});

test('a server that is started anew goes on with it, and the page looks on', async () => {
  await server.deploy(SLOW.replace('slow', 'late'));
  await server.reached((await server.trigger('late')).id, 'running');
  await open('/runs?workflow=late');
  await action('Pause');
  // Nothing is told of it before the server goes.
  await page.route(/\/runs\/bulk\/.*follow/, (route) => route.abort());
  await go('Pause: 1 run');
  await progress(page).waitFor();
  await server.kill();
  await server.up();
  await page.unroute(/\/runs\/bulk\/.*follow/);
  await progress(page).getByText('1 run paused.').waitFor();
  isClean(page);
});

for (const size of SIZES) {
  test(`the list with its filters, at ${size.name}`, async () => {
    const other = await browser.page(server, size);
    await lookAt(other, size, ['runs-filtered', '/runs?workflow=flaky&within=day', ['Act on all of these…', '45 runs']]);
    isClean(other);
    await other.context().close();
  });
}
