// The parts that need no browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stale } from '../vendor.js';
import { shortened, shown, terminalPieces, bytes, counted } from '../src/text.js';
import { fold, NODES_MAX } from '../src/fold.js';

const task = (name, ...needs) => ({ name, kind: 'process', depends_on: needs.map((it) => ({ task: it, when: 'merged' })) });

test('vendored files are those of the versions that package.json names', async () => {
  assert.deepEqual(await stale(), []);
});

test('what hides in a text is made visible', () => {
  assert.equal(shown('a\u202eb'), 'a‹U+202E›b');
  assert.equal(shown('a\u0000\u001bb'), 'a␀␛b');
  assert.equal(shown('zero\u200bwidth\ufeff'), 'zero‹U+200B›width‹U+FEFF›');
  assert.equal(shown('<b>&"\n\t'), '<b>&"\n\t', 'escaping is the business of whoever draws it');
  assert.equal(shown(undefined), '');
  assert.equal(shortened('abcdef', 4), 'abc…');
});

test('a terminal’s colours are kept, its other orders are not obeyed', () => {
  assert.deepEqual(terminalPieces('\u001b[1;31mred\u001b[0m plain'), [{ text: 'red', style: 'ansi-red ansi-bold' }, { text: ' plain', style: '' }]);
  const clear = terminalPieces('a\u001b[2J\u001b[1;1Hb\u001b]0;title\u0007c').map((piece) => piece.text).join('');
  assert.equal(clear, 'abc');
  assert.deepEqual(terminalPieces('\u001b[38;5;196mx'), [{ text: 'x', style: '' }], 'a colour of 256 is not mistaken for another');
});

test('numbers as people read them', () => {
  assert.equal(bytes(1536), '1.5 KB');
  assert.equal(counted(1, 'task'), '1 task');
  assert.equal(counted(12_000, 'task'), '12,000 tasks');
});

test('a small graph is left as it is', () => {
  const { nodes, edges } = fold([task('a'), task('b', 'a'), task('c', 'a', 'b')]);
  assert.deepEqual(nodes.map((node) => node.id), ['a', 'b', 'c']);
  assert.equal(edges.length, 3);
});

test('tasks side by side are folded, and every task stays somewhere', () => {
  const side = Array.from({ length: 9_998 }, (_, i) => task(`t${i}`, 'first'));
  const { nodes, edges } = fold([task('first'), ...side, task('last', ...side.map((it) => it.name))]);
  assert.deepEqual(nodes.map((node) => node.names.length), [1, 9_998, 1]);
  assert.deepEqual(edges.map(({ from, to }) => [from, to]), [['first', 't0'], ['t0', 'last']]);
});

test('a long chain is folded', () => {
  const { nodes } = fold(Array.from({ length: 10_000 }, (_, i) => (i ? task(`t${i}`, `t${i - 1}`) : task('t0'))));
  assert.deepEqual(nodes.map((node) => node.names.length), [10_000]);
});

test('whatever the graph, it can be looked at, and loses no task', () => {
  let state = 42;
  const random = (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
  for (let round = 0; round < 20; round += 1) {
    const count = 200 + random(800);
    const tasks = Array.from({ length: count }, (_, i) => task(`t${i}`, ...new Set(Array.from({ length: i ? random(4) : 0 }, () => `t${random(i)}`))));
    const { nodes, edges } = fold(tasks);
    assert.ok(nodes.length <= NODES_MAX, `${nodes.length} nodes`);
    assert.equal(nodes.flatMap((node) => node.names).length, count);
    const known = new Set(nodes.map((node) => node.id));
    for (const { from, to } of edges) assert.ok(known.has(from) && known.has(to) && from !== to);
  }
});
