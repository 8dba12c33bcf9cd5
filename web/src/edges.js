// The way of an edge from node to node, and where something is written on it: known to what lays a
// graph out, which makes room for it, and to what draws it.

/** @typedef {{ x: number, y: number }} Point */

/** Of what is written on an edge: wide enough for any letter, as it is drawn at 11 px. */
const LETTER = 6.5;
const LINE = 16;

/** Whether an edge is one of those that go without saying. @param {string} when */
export const isPlain = (when) => when === 'merged' || when === 'success';

/**
 * An edge leaves a node on one side and comes in on the other, in the middle.
 * @param {Point[]} points @param {[Point, Point]} nodes @param {string} direction @param {{ width: number, height: number }} size of a node
 */
export function ends(points, [from, to], direction, { width, height }) {
  const inner = points.slice(1, -1);
  const step = direction === 'LR' ? { x: width / 2, y: 0 } : { x: 0, y: height / 2 };
  // A point right beside a node would make a kink.
  const between = inner.length > 1 ? inner : [];
  return [{ x: from.x + step.x, y: from.y + step.y }, ...between, { x: to.x - step.x, y: to.y - step.y }];
}

/** Where it is written: half way along the middle piece. @param {Point[]} points of an edge with its ends */
export function half(points) {
  const n = Math.floor((points.length - 1) / 2);
  return { x: (points[n].x + points[n + 1].x) / 2, y: (points[n].y + points[n + 1].y) / 2 - 4 };
}

/** How large that is. @param {string} text */
export const written = (text) => ({ width: text.length * LETTER, height: LINE });
