// A graph that is too large to be looked at, folded until it is not: tasks that stand in the same
// place become one node with a number, then chains, and at last whole layers.

/** @typedef {import('./shapes.js').GraphTask} GraphTask */
/** @typedef {{ id: string, names: string[], kind: 'task' | 'twins' | 'chain' | 'layer', task?: GraphTask }} FoldedNode */
/** @typedef {{ from: string, to: string, when: string }} FoldedEdge */

/** More nodes than this nobody takes in at once. */
export const NODES_MAX = 150;
/** So many that stand in the same place are folded even in a small graph. */
const TWINS_MIN = 12;

/**
 * @param {GraphTask[]} tasks
 * @returns {{ nodes: FoldedNode[], edges: FoldedEdge[] }}
 */
export function fold(tasks) {
  let nodes = tasks.map((task) => /** @type {FoldedNode} */ ({ id: task.name, names: [task.name], kind: 'task', task }));
  let edges = tasks.flatMap((task) => task.depends_on.map((edge) => ({ from: edge.task, to: task.name, when: edge.when })));
  ({ nodes, edges } = merged(nodes, edges, twins(nodes, edges, TWINS_MIN), 'twins'));
  while (nodes.length > NODES_MAX) {
    const before = nodes.length;
    ({ nodes, edges } = merged(nodes, edges, twins(nodes, edges, 2), 'twins'));
    if (nodes.length > NODES_MAX) ({ nodes, edges } = merged(nodes, edges, chains(nodes, edges), 'chain'));
    if (nodes.length === before) break;
  }
  if (nodes.length > NODES_MAX) ({ nodes, edges } = merged(nodes, edges, layers(nodes, edges), 'layer'));
  return { nodes, edges };
}

/**
 * @param {FoldedNode[]} nodes @param {FoldedEdge[]} edges
 * @param {Map<string, string>} into of each node that is merged, the group it goes to
 * @param {FoldedNode['kind']} kind
 */
function merged(nodes, edges, into, kind) {
  if (into.size === 0) return { nodes, edges };
  /** @type {Map<string, FoldedNode>} */
  const made = new Map();
  const group = (/** @type {string} */ id) => into.get(id) ?? id;
  for (const node of nodes) {
    const id = group(node.id);
    const there = made.get(id);
    if (there) there.names.push(...node.names);
    else made.set(id, into.has(node.id) ? { id, names: [...node.names], kind } : node);
  }
  /** @type {Map<string, FoldedEdge>} */
  const kept = new Map();
  for (const edge of edges) {
    const next = { from: group(edge.from), to: group(edge.to), when: edge.when };
    if (next.from !== next.to) kept.set(`${next.from}\n${next.to}`, next);
  }
  return { nodes: [...made.values()], edges: [...kept.values()] };
}

/** @template K @param {Map<K, string[]>} map @param {K} key @param {string} value */
function put(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** @param {FoldedEdge[]} edges */
function around(edges) {
  /** @type {Map<string, string[]>} */
  const before = new Map();
  /** @type {Map<string, string[]>} */
  const after = new Map();
  for (const { from, to } of edges) {
    put(before, to, from);
    put(after, from, to);
  }
  return { before, after };
}

/** Those with the same edges in and out. @param {FoldedNode[]} nodes @param {FoldedEdge[]} edges @param {number} min */
function twins(nodes, edges, min) {
  /** @type {Map<string, string[]>} */
  const ends = new Map();
  for (const { from, to, when } of edges) {
    put(ends, to, `<${when} ${from}`);
    put(ends, from, `>${when} ${to}`);
  }
  /** @type {Map<string, string[]>} */
  const alike = new Map();
  for (const node of nodes) {
    const place = (ends.get(node.id) ?? []).sort().join('\n');
    put(alike, place, node.id);
  }
  return grouped([...alike.values()].filter((ids) => ids.length >= min));
}

/** Those of which each has one before and one after. @param {FoldedNode[]} nodes @param {FoldedEdge[]} edges */
function chains(nodes, edges) {
  const { before, after } = around(edges);
  const follows = (/** @type {string} */ id) => {
    const next = after.get(id);
    return next?.length === 1 && before.get(next[0])?.length === 1 ? next[0] : undefined;
  };
  const isInside = new Set(nodes.map((node) => follows(node.id)).filter((id) => id !== undefined));
  const found = [];
  for (const node of nodes) {
    if (isInside.has(node.id)) continue;
    const chain = [node.id];
    for (let next = follows(node.id); next !== undefined; next = follows(next)) chain.push(next);
    if (chain.length > 1) found.push(chain);
  }
  return grouped(found);
}

/** By the length of the longest way to them. @param {FoldedNode[]} nodes @param {FoldedEdge[]} edges */
function layers(nodes, edges) {
  const { before, after } = around(edges);
  /** @type {Map<string, number>} */
  const depth = new Map();
  const left = new Map(nodes.map((node) => [node.id, before.get(node.id)?.length ?? 0]));
  let ready = nodes.filter((node) => !left.get(node.id)).map((node) => node.id);
  for (let at = 0; ready.length; at += 1) {
    const next = [];
    for (const id of ready) {
      depth.set(id, at);
      for (const to of after.get(id) ?? []) {
        left.set(to, /** @type {number} */ (left.get(to)) - 1);
        if (!left.get(to)) next.push(to);
      }
    }
    ready = next;
  }
  const deepest = Math.max(...depth.values());
  const width = Math.ceil((deepest + 1) / NODES_MAX);
  /** @type {Map<number, string[]>} */
  const rows = new Map();
  for (const node of nodes) {
    const row = Math.floor((depth.get(node.id) ?? 0) / width);
    put(rows, row, node.id);
  }
  return grouped([...rows.values()].filter((ids) => ids.length > 1));
}

/** @param {string[][]} groups */
function grouped(groups) {
  return new Map(groups.flatMap((ids) => ids.map((id) => [id, ids[0]])));
}
