// A real server and a real browser for the tests. Everything is in a temporary folder; nothing
// listens but on loopback.

import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const PROGRAM = process.env.MAINSPRING_BIN ?? new URL('../../target/debug/mainspring', import.meta.url).pathname;
const BROWSER = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';
/** For a machine that does many things at once; nothing takes that long. */
const PATIENCE_MS = 30_000;

/** For each window the address bar loads two pages of its own, which nobody sees: a sixth of all that the tests worked. */
const UNSEEN = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'];
/** A browser heeds only the last list of what is off: this is what Playwright turns off. */
const OFF = [
  'AimEnabled', 'AvoidCorsURLLoaderRestartOnRedirect', 'AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades',
  'LensOverlay', 'MediaRouter', 'NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch', 'ThirdPartyStoragePartitioning',
];
/** Flags with which a browser asks nobody but us for anything. */
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', `--disable-features=${[...OFF, ...UNSEEN]}`,
];

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((done) => server.close(done));
  return port;
}

export class Server {
  /** @param {{ args?: string[] }} [options] */
  static async start({ args = [] } = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'mainspring-page-'));
    const server = new Server(folder, await freePort(), args);
    await server.up();
    return server;
  }

  constructor(folder, port, args) {
    this.folder = folder;
    this.port = port;
    this.args = args;
    this.url = `http://127.0.0.1:${port}`;
    this.token = undefined;
  }

  async up() {
    const args = ['server', '--listen', `127.0.0.1:${this.port}`, '--data', join(this.folder, 'data'), '--workdir', this.folder, '--drain', '1s', ...this.args];
    this.process = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: this.folder });
    let said = '';
    this.process.stderr.on('data', (data) => { said = (said + data).slice(-4000); });
    const ended = new Promise((_, fail) => this.process.once('exit', (code) => fail(new Error(`the server ended with ${code}: ${said}`))));
    ended.catch(() => {});
    await Promise.race([ended, until(async () => (await fetch(`${this.url}/readyz`).catch(() => undefined))?.ok)]);
  }

  /** As if the power had gone. */
  async kill() {
    const gone = new Promise((done) => this.process.once('exit', done));
    this.process.kill('SIGKILL');
    await gone;
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) await this.kill();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** @param {string} path @param {RequestInit} [options] */
  async api(path, options = {}) {
    const headers = { ...(this.token ? { authorization: `Bearer ${this.token}` } : {}), ...options.headers };
    const response = await fetch(this.url + path, { ...options, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${options.method ?? 'GET'} ${path}: ${response.status} ${text}`);
    return text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
  }

  /** @param {string} yaml */
  deploy(yaml) {
    return this.api('/workflows', { method: 'POST', body: yaml, headers: { 'content-type': 'application/yaml' } });
  }

  /** @param {string} name @param {object} [body] */
  trigger(name, body = {}) {
    return this.api(`/workflows/${name}/runs`, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  }

  /** @param {string} path */
  post(path, body = {}) {
    return this.api(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } });
  }

  /** Waits until a run is in one of these states. @param {string} id @param {...string} states */
  async reached(id, ...states) {
    return until(async () => {
      const run = await this.api(`/runs/${id}`);
      return states.includes(run.status) && run;
    });
  }

  /** Waits until a task is in one of these states. @param {string} id @param {string} name @param {...string} states */
  async taskReached(id, name, ...states) {
    return until(async () => {
      const task = await this.api(`/runs/${id}/tasks/${name}`);
      return states.includes(task.status) && task;
    });
  }

  /** @template T @param {() => Promise<T>} ask */
  until(ask) {
    return until(ask);
  }

  /** A task that waits for this file goes on. @param {string} name */
  release(name) {
    return writeFile(join(this.folder, name), '');
  }
}

/** Asks until the answer is yes. @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
export async function until(ask) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`not so after ${PATIENCE_MS} ms: ${ask}`);
    await new Promise((done) => setTimeout(done, 25));
  }
}

/** One that ends only when somebody hangs up. @param {import('playwright-core').Request} request */
const isStream = (request) => request.headers().accept === 'text/event-stream';

export class Browser {
  static async start() {
    const browser = await chromium.launch({ executablePath: BROWSER, args: FLAGS });
    return new Browser(browser);
  }

  constructor(browser) {
    this.browser = browser;
  }

  /**
   * A page of its own, that notes whatever must not happen.
   * @param {Server} server
   * @param {import('playwright-core').BrowserContextOptions} [options]
   */
  async page(server, options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', timezoneId: 'UTC', ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const noted = { violations: [], foreign: [], errors: [], bytes: 0 };
    await page.exposeFunction('noteViolation', (text) => noted.violations.push(text));
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => window.noteViolation(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`));
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url)) noted.foreign.push(request.url());
    });
    const underWay = new Set();
    page.on('request', (request) => {
      if (!isStream(request)) underWay.add(request);
    });
    for (const over of /** @type {const} */ (['requestfinished', 'requestfailed'])) page.on(over, (request) => underWay.delete(request));
    page.on('pageerror', (error) => noted.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text())) noted.errors.push(message.text());
    });
    return Object.assign(page, {
      noted,
      open: (path) => page.goto(`${server.url}/ui${path}`),
      /** Nothing is being asked for, but for the streams. */
      atRest: () => until(async () => underWay.size === 0),
    });
  }

  stop() {
    return this.browser.close();
  }
}
