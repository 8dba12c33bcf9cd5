// The log of a task: live, searched, by stream, by attempt, downloaded.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Browser, Server, until } from './harness.js';
import { isAccessible, isClean, picture } from './look.js';

let server;
let browser;
let page;
let run;

const FLOW = `name: writer
tasks:
  write:
    retries: { max: 1, delay: 10ms }
    run: |
      echo attempt $MAINSPRING_ATTEMPT
      [ $MAINSPRING_ATTEMPT = 1 ] && exit 1
      for i in $(seq 1 3000); do echo "line $i"; done
      echo "a warning" >&2
      while [ ! -e go ]; do sleep 0.02; done
      echo "the last line"
`;

before(async () => {
  [server, browser] = await Promise.all([Server.start(), Browser.start()]);
  await server.deploy(FLOW);
  run = await server.trigger('writer');
  page = await browser.page(server);
});
after(async () => {
  await browser?.stop();
  await server?.stop();
});

test('lines show up as they are written, and only what can be seen is drawn', async () => {
  await page.open(`/runs/${run.id}/tasks/write`);
  await page.locator('.line', { hasText: 'a warning' }).waitFor();
  assert.ok((await page.locator('.rows.log .row').count()) < 200);
  await picture(page, 'log-1440-light');
  await server.release('go');
  await page.locator('.line', { hasText: 'the last line' }).waitFor();
  await page.locator('.head .state', { hasText: 'success' }).waitFor();
  // The end of the task does not take the lines away from under somebody's eyes.
  await page.locator('.line', { hasText: 'the last line' }).waitFor();
  assert.equal(await page.getByLabel('Follow').count(), 0);
  await isAccessible(page, 'log');
});

test('whoever scrolls up is not pulled down again', async () => {
  await server.deploy(`name: twice
tasks:
  write:
    run: |
      for i in $(seq 1 500); do echo "line $i"; done
      while [ ! -e more ]; do sleep 0.02; done
      for i in $(seq 501 1000); do echo "line $i"; done
`);
  const other = await server.trigger('twice');
  const second = await browser.page(server);
  await second.open(`/runs/${other.id}/tasks/write`);
  await second.locator('.line', { hasText: 'line 500' }).waitFor();
  const table = second.getByRole('table', { name: 'Log' });
  await table.evaluate((it) => { it.scrollTop = 0; });
  await until(async () => !(await second.getByLabel('Follow').isChecked()));
  await server.release('more');
  await until(async () => Number(await table.getAttribute('aria-rowcount')) === 1000);
  assert.equal(await table.evaluate((it) => it.scrollTop), 0);
  isClean(second);
  await second.context().close();
});

test('it is searched, with keys', async () => {
  await page.getByLabel(/Search the log/).fill('line 29');
  await page.getByText('1 of 111 lines').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('2 of 111 lines').waitFor();
  await page.locator('.line.current mark', { hasText: 'line 29' }).waitFor();
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.press('Shift+Enter');
  await page.getByText('111 of 111 lines').waitFor();
  await page.getByLabel(/Search the log/).fill('nowhere');
  await page.getByText('not found').waitFor();
  await page.getByLabel(/Search the log/).fill('');
});

test('one stream alone, with the numbers that its lines have in the log', async () => {
  await page.getByLabel('Stream').selectOption('stderr');
  await page.locator('.line', { hasText: 'a warning' }).waitFor();
  // Which of the two streams is read first is left to chance, but not for thousands of lines.
  assert.ok(Number(await page.locator('.line-number').textContent()) > 1);
  assert.equal(await page.locator('.line').count(), 1);
  await page.getByLabel('Stream').selectOption('Both streams');
});

test('times can be shown', async () => {
  await page.getByLabel('Times').check();
  await page.locator('.line-time').first().waitFor();
});

test('an earlier attempt has its own log', async () => {
  await page.getByRole('button', { name: /Attempt 1/ }).click();
  await page.locator('.line', { hasText: 'attempt 1' }).waitFor();
  assert.equal(await page.locator('.line').count(), 1);
  assert.match(page.url(), /attempt=1/);
  await page.getByRole('button', { name: /Attempt 2/ }).click();
  await page.locator('.line', { hasText: 'attempt 2' }).waitFor();
});

test('it is downloaded whole', async () => {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download' }).click()]);
  assert.equal(download.suggestedFilename(), 'write-2.log');
  const text = await readFile(await download.path(), 'utf8');
  assert.equal(text.split('\n').length, 3004);
  isClean(page);
});

/** Numbers at the end of a log. */
async function lastNumber(page) {
  const table = page.getByRole('table', { name: 'Log' });
  await table.evaluate((it) => { it.scrollTop = it.scrollHeight; });
  await page.locator('.line', { hasText: 'the end' }).waitFor();
  return page.locator('.line-number').last().textContent();
}

const LONG = (name, lines) => `name: ${name}
tasks:
  write:
    run: |
      seq 1 ${lines - 1}
      echo the end
      while [ ! -e go-${name} ]; do sleep 0.02; done
`;

test('a log that is longer than what is shown keeps its numbers, and says that there is more', async () => {
  for (const [name, lines] of [['exact', 100_000], ['longer', 100_500]]) {
    await server.deploy(LONG(name, lines));
    const { id } = await server.trigger(name);
    const other = await browser.page(server);
    // As it is written, and as it is read afterwards.
    await other.open(`/runs/${id}/tasks/write`);
    for (const round of ['followed', 'read']) {
      await other.locator('.line', { hasText: 'the end' }).waitFor();
      assert.equal(await lastNumber(other), String(lines), `${name}, ${round}`);
      assert.equal(await other.getByText('The last 100,000 lines').count(), lines > 100_000 ? 1 : 0, `${name}, ${round}`);
      if (round === 'read') break;
      await server.release(`go-${name}`);
      await server.reached(id, 'success');
      await other.open(`/runs/${id}/tasks/write`);
      await until(async () => Number(await other.getByRole('table', { name: 'Log' }).getAttribute('aria-rowcount')) === 100_000);
      await lastNumber(other);
    }
    isClean(other);
    await other.context().close();
  }
});

test('of a line that is written over again its last state is shown', async () => {
  await server.deploy(`name: bars\ntasks:\n  write: { run: "printf '10%%\\\\r50%%\\\\r100%%\\\\n'; printf 'as on Windows\\\\r\\\\n'" }\n`);
  const { id } = await server.trigger('bars');
  await server.reached(id, 'success');
  const other = await browser.page(server);
  await other.open(`/runs/${id}/tasks/write`);
  await other.locator('.line', { hasText: 'as on Windows' }).waitFor();
  assert.deepEqual(await other.locator('.line-text').allTextContents(), ['100%', 'as on Windows']);
  isClean(other);
  await other.context().close();
});
