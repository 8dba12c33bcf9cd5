// Where the nodes of a graph go. On a thread of its own: the page stays smooth meanwhile, also with
// 10,000 tasks.

import { Graph, layout } from '../vendor/dagre.js';
import { fold } from './fold.js';

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {'LR' | 'TB'} Direction */
/** @typedef {{ tasks: import('./shapes.js').GraphTask[], room: number | undefined, width: number, height: number }} Question room: how wide it may be, if there is little */
/** @typedef {{ nodes: (import('./fold.js').FoldedNode & Point)[], edges: (import('./fold.js').FoldedEdge & { points: Point[] })[], width: number, height: number, direction: Direction }} Drawing */

self.onmessage = (/** @type {MessageEvent<Question>} */ { data }) => {
  self.postMessage(drawn(data));
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

/** @param {ReturnType<typeof fold>} folded @param {Direction} direction @param {{ width: number, height: number }} size of a node @returns {Drawing} */
function laid({ nodes, edges }, direction, { width, height }) {
  const graph = /** @type {any} */ (new Graph());
  graph.setGraph({ rankdir: direction, nodesep: 16, ranksep: direction === 'LR' ? 56 : 40, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { width, height });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  return {
    nodes: nodes.map((node) => ({ ...node, x: graph.node(node.id).x, y: graph.node(node.id).y })),
    edges: edges.map((edge) => ({ ...edge, points: graph.edge(edge.from, edge.to).points })),
    width: graph.graph().width,
    height: graph.graph().height,
    direction,
  };
}
