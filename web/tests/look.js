// What every view has to pass.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Where pictures go, when somebody wants them. */
const PICTURES = process.env.MAINSPRING_PICTURES;

const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** All that can differ between two schemes of colours. */
export const COLOURS = ['color-contrast', 'link-in-text-block'];

export const SIZES = [
  { name: '1440-light', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: '1440-dark', viewport: { width: 1440, height: 900 }, colorScheme: 'dark', rules: COLOURS },
  { name: '375-light', viewport: { width: 375, height: 812 }, colorScheme: 'light' },
  { name: '375-dark', viewport: { width: 375, height: 812 }, colorScheme: 'dark', rules: COLOURS },
];

/** Nothing that must not happen has happened. */
export function isClean(page) {
  assert.deepEqual(page.noted.violations, [], 'violations of the Content-Security-Policy');
  assert.deepEqual(page.noted.foreign, [], 'requests to others');
  assert.deepEqual(page.noted.errors, [], 'errors of scripts');
}

/** Whoever cannot see it can use it. */
export async function isAccessible(page, what, rules = ALL) {
  // Through the debugger, which the policy of the page does not bind.
  await page.evaluate(await source());
  const { violations } = await page.evaluate((rules) => window.axe.run(document, { runOnly: rules }), rules);
  const told = violations.map((it) => `${it.id}: ${it.help}\n    ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join('\n    ')}`);
  assert.deepEqual(told, [], what);
}

let axe;
async function source() {
  const { readFile } = await import('node:fs/promises');
  axe ??= await readFile(AXE, 'utf8');
  return axe;
}

/** Nothing sticks out at the side. */
export async function fits(page, what) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, `${what} is ${over} px too wide`);
}

/**
 * A view as it should be at a size: what is to be seen is there, axe finds nothing, nothing sticks
 * out; a picture is taken if somebody wants it.
 * @param {any} page @param {typeof SIZES[number]} size @param {[string, string, (string | RegExp)[]]} view name, path, texts
 */
export async function lookAt(page, size, [name, path, texts]) {
  await page.open(path);
  // On a phone some of it is left out or scrolled away.
  const state = size.viewport.width > 760 ? 'visible' : 'attached';
  for (const text of texts) await page.getByText(text).first().waitFor({ state });
  await isAccessible(page, `${name} at ${size.name}`, size.rules);
  await fits(page, `${name} at ${size.name}`);
  await picture(page, `${name}-${size.name}`);
}

export async function picture(page, name) {
  if (!PICTURES) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
}
