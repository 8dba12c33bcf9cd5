// Copies the libraries that the page uses from `node_modules` into `vendor/`, with bare imports
// made relative, so that a browser loads them as they are. Run it after changing a version in
// package.json: `npm run vendor`.

import { mkdir, readFile, writeFile } from 'node:fs/promises';

const at = (/** @type {string} */ path) => new URL(path, import.meta.url);

/** Package, its file, its name here. */
const FILES = [
  ['preact', 'dist/preact.mjs', 'preact.js'],
  ['preact', 'hooks/dist/hooks.mjs', 'hooks.js'],
  ['htm', 'dist/htm.mjs', 'htm.js'],
  ['@preact/signals-core', 'dist/signals-core.mjs', 'signals-core.js'],
  ['@preact/signals', 'dist/signals.mjs', 'signals.js'],
  ['@dagrejs/dagre', 'dist/dagre.esm.js', 'dagre.js'],
];

/** Bare names that vendored files import, and where these are. */
const IMPORTS = {
  preact: './preact.js',
  'preact/hooks': './hooks.js',
  '@preact/signals-core': './signals-core.js',
};

/** What each file should hold, by name. */
export async function wanted() {
  const files = new Map();
  const rows = [];
  for (const [name, from, to] of FILES) {
    const text = await readFile(at(`node_modules/${name}/${from}`), 'utf8');
    files.set(to, relative(text));
    const about = JSON.parse(await readFile(at(`node_modules/${name}/package.json`), 'utf8'));
    rows.push(`| [${to}](${to}) | ${name} | ${about.version} | ${about.license} |`);
    if (!from.startsWith('hooks')) {
      const licence = await readFile(at(`node_modules/${name}/LICENSE`), 'utf8');
      files.set(`LICENSE-${to.replace('.js', '')}`, licence);
    }
  }
  files.set('README.md', readme(rows));
  return files;
}

/** @param {string} text */
function relative(text) {
  let out = text.replace(/\n?\/\/# sourceMappingURL=.*$/m, '');
  for (const [bare, path] of Object.entries(IMPORTS)) {
    out = out.replaceAll(`from"${bare}"`, `from"${path}"`);
  }
  return out.trimEnd() + '\n';
}

/** @param {string[]} rows */
function readme(rows) {
  return `# What others wrote

Copied from the npm registry by \`npm run vendor\` in [web](../package.json), with bare imports made
relative and nothing else changed. Each licence is beside its file.

| file | package | version | licence |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** Names of files that are not as they should be. */
export async function stale() {
  const found = [];
  for (const [name, text] of await wanted()) {
    const has = await readFile(at(`vendor/${name}`), 'utf8').catch(() => undefined);
    if (has !== text) found.push(name);
  }
  return found;
}

if (process.argv[1] === at('').pathname || process.argv[1]?.endsWith('/vendor.js')) {
  await mkdir(at('vendor'), { recursive: true });
  for (const [name, text] of await wanted()) await writeFile(at(`vendor/${name}`), text);
}
