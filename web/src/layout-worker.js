// Where the nodes of a graph go. On a thread of its own: the page stays smooth meanwhile, also with
// 10,000 tasks.

import { Graph, layout } from '../vendor/dagre.js';
import { ends, half, isPlain, written } from './edges.js';
import { fold } from './fold.js';

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {'LR' | 'TB'} Direction */
/** @typedef {{ tasks: import('./shapes.js').GraphTask[], room: number | undefined, width: number, height: number }} Question room: how wide it may be, if there is little */
/** @typedef {{ nodes: (import('./fold.js').FoldedNode & Point)[], edges: (import('./fold.js').FoldedEdge & { points: Point[] })[], width: number, height: number, direction: Direction }} Drawing */

/** @typedef {{ id: number, drawing?: Drawing, why?: string }} Answer why: it could not be drawn */

self.onmessage = (/** @type {MessageEvent<{ id: number, question: Question }>} */ { data: { id, question } }) => {
  /** @type {Answer} */
  let answer;
  try {
    answer = { id, drawing: drawn(question) };
  } catch (error) {
    answer = { id, why: String(error) };
  }
  self.postMessage(answer);
};

/**
 * From left to right; where there is little room, from top to bottom, unless that is wider still.
 * @param {Question} question @returns {Drawing}
 */
function drawn({ tasks, room, width, height }) {
  const folded = fold(tasks);
  if (room === undefined) return laid(folded, 'LR', { width, height });
  const down = laid(folded, 'TB', { width, height });
  if (down.width <= room) return down;
  const across = laid(folded, 'LR', { width, height });
  return across.width < down.width ? across : down;
}

const MARGIN = 12;
/** Between two layers; more where something is written on an edge. */
const BETWEEN = { LR: 56, TB: 40 };
const BETWEEN_WRITTEN = { LR: 84, TB: 48 };

/** @param {ReturnType<typeof fold>} folded @param {Direction} direction @param {{ width: number, height: number }} size of a node @returns {Drawing} */
function laid({ nodes, edges }, direction, { width, height }) {
  const graph = /** @type {any} */ (new Graph());
  const isWritten = edges.some((edge) => !isPlain(edge.when));
  graph.setGraph({ rankdir: direction, nodesep: 16, ranksep: (isWritten ? BETWEEN_WRITTEN : BETWEEN)[direction] });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width, height });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const bounds = around(graph, { edges, direction, size: { width, height } });
  const moved = ({ x = 0, y = 0 }) => ({ x: x - bounds.left + MARGIN, y: y - bounds.top + MARGIN });
  return {
    nodes: nodes.map((node) => ({ ...node, ...moved(graph.node(node.id)) })),
    edges: edges.map((edge) => ({ ...edge, points: graph.edge(edge.from, edge.to).points.map(moved) })),
    width: bounds.right - bounds.left + 2 * MARGIN,
    height: bounds.bottom - bounds.top + 2 * MARGIN,
    direction,
  };
}

/**
 * All that is drawn: a long edge may go around the nodes, and what is written on one stick out.
 * @param {any} graph @param {{ edges: import('./fold.js').FoldedEdge[], direction: Direction, size: { width: number, height: number } }} drawn size: of a node
 */
function around(graph, { edges, direction, size }) {
  const bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  const take = (/** @type {Point} */ { x, y }, { width, height } = { width: 0, height: 0 }) => {
    [bounds.left, bounds.right] = [Math.min(bounds.left, x - width / 2), Math.max(bounds.right, x + width / 2)];
    [bounds.top, bounds.bottom] = [Math.min(bounds.top, y - height / 2), Math.max(bounds.bottom, y + height / 2)];
  };
  for (const id of graph.nodes()) take(graph.node(id), size);
  for (const { from, to, when } of edges) {
    const { points } = graph.edge(from, to);
    for (const point of points) take(point);
    if (!isPlain(when)) take(half(ends(points, [graph.node(from), graph.node(to)], direction, size)), written(when));
  }
  return bounds;
}
