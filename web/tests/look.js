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
const COLOURS = ['color-contrast', 'link-in-text-block'];

export const SIZES = [
  { name: '1440', viewport: { width: 1440, height: 900 } },
  { name: '375', viewport: { width: 375, height: 812 } },
];

/** What is shown is the same in both, so that it is loaded once. */
const SCHEMES = /** @type {const} */ ([{ colorScheme: 'light', rules: ALL }, { colorScheme: 'dark', rules: COLOURS }]);

/** Nothing that must not happen has happened. */
export function isClean(page) {
  assert.deepEqual(page.noted.violations, [], 'violations of the Content-Security-Policy');
  assert.deepEqual(page.noted.foreign, [], 'requests to others');
  assert.deepEqual(page.noted.errors, [], 'errors of scripts');
}

/** Whoever cannot see it can use it. */
export async function isAccessible(page, what, rules = ALL) {
  // Through the debugger, which the policy of the page does not bind.
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(await source());
  // What is right needs no description, and markup says where a thing is as well as selectors do.
  const told = { resultTypes: ['violations'], selectors: false };
  const violations = await page.evaluate(async (options) => {
    const { violations } = await window.axe.run(document, options);
    return violations.map((it) => `${it.id}: ${it.help}\n    ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join('\n    ')}`);
  }, { runOnly: rules, ...told });
  assert.deepEqual(violations, [], what);
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
 * What is shown is as it should be in both schemes of colours: axe finds nothing, nothing sticks
 * out; a picture is taken if somebody wants it.
 * @param {any} page @param {string} name of the pictures, with the size
 */
export async function looksRight(page, name) {
  for (const { colorScheme, rules } of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await isAccessible(page, `${name}-${colorScheme}`, rules);
    await fits(page, `${name}-${colorScheme}`);
    await picture(page, `${name}-${colorScheme}`);
  }
}

/**
 * A view as it should be at a size: what is to be seen is there, and looks right.
 * @param {any} page @param {typeof SIZES[number]} size @param {[string, string, (string | RegExp)[]]} view name, path, texts
 */
export async function lookAt(page, size, [name, path, texts]) {
  await page.open(path);
  // On a phone some of it is left out or scrolled away.
  const state = size.viewport.width > 760 ? 'visible' : 'attached';
  for (const text of texts) await page.getByText(text).first().waitFor({ state });
  await looksRight(page, `${name}-${size.name}`);
}

export async function picture(page, name) {
  if (!PICTURES) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled' });
}
