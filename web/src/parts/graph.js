// A workflow as a graph, with the states of a run where there is one.

import { html, useEffect, useMemo, useRef, useState } from '../html.js';
import { ends, half, isPlain } from '../edges.js';
import { draw } from '../layout.js';
import { useEars } from '../live.js';
import { isNarrow } from '../room.js';
import { duration, moment, now } from '../time.js';
import { counted, number, shown } from '../text.js';
import { isLive, tone, word, worst } from '../words.js';
import { Loading, Trouble } from './basics.js';
import { Counts, Shape } from './state.js';

/** @typedef {import('../shapes.js').GraphTask} GraphTask */
/** @typedef {import('../shapes.js').Task} Task */
/** @typedef {import('../fold.js').FoldedNode} FoldedNode */
/** @typedef {{ x: number, y: number }} Point */

const WIDTH = 208;
/** Two fit side by side on a phone. */
const WIDTH_NARROW = 158;
const HEIGHT = 52;
const SCALE_MIN = 0.25;
/** Smaller than this nobody reads: one scrolls instead, unless one asks for all of it. */
const SCALE_READ = 0.75;

/**
 * @param {{ tasks: GraphTask[], stateOf?: (name: string) => Task | undefined, hrefOf: (name: string) => string | undefined, openFold: (node: FoldedNode) => void, isKnown?: boolean }} props
 *   isKnown: the states of all tasks are there
 */
export function Graph({ tasks, stateOf, hrefOf, openFold, isKnown = true }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const nodeWidth = isNarrow.value ? WIDTH_NARROW : WIDTH;
  const [drawing, setDrawing] = useState(/** @type {import('../layout-worker.js').Drawing | undefined} */ (undefined));
  const [problem, setProblem] = useState(/** @type {any} */ (undefined));
  const [tries, setTries] = useState(0);
  const [scale, setScale] = useState(1);
  const again = () => {
    setProblem(undefined);
    setTries((n) => n + 1);
  };
  // What draws it comes from the server: back with that, it is asked once more.
  const isBack = () => { if (problem) again(); };
  useEars({ fresh: isBack, back: isBack });
  const fit = (/** @type {import('../layout-worker.js').Drawing | undefined} */ size, /** @type {number} */ least) => {
    if (!size || !box.current) return;
    const across = (box.current.clientWidth - 10) / size.width;
    // Its height follows what is in it, up to where it would leave the screen.
    const down = (parseFloat(getComputedStyle(box.current).maxHeight) - 10) / size.height || 1;
    setScale(Math.max(least, Math.min(1, across, isNarrow.peek() ? 1 : down)));
  };
  useEffect(() => {
    let isWanted = true;
    const room = isNarrow.value ? box.current?.clientWidth : undefined;
    draw({ tasks, room, width: nodeWidth, height: HEIGHT }).then((it) => {
      if (!isWanted) return;
      setDrawing(it);
      fit(it, SCALE_READ);
    }, (why) => { if (isWanted) setProblem(why); });
    return () => { isWanted = false; };
  }, [tasks, isNarrow.value, tries]);
  useOpening(box, drawing, isKnown);
  const zoom = (/** @type {number} */ by) => setScale(Math.max(SCALE_MIN, Math.min(2, scale * by)));
  if (problem) return html`<div class="graph" ref=${box}><${Trouble} problem=${problem} again=${again} /></div>`;
  if (!drawing) return html`<div class="graph" ref=${box}><${Loading} label="Drawing" /></div>`;
  const { nodes, width, height, direction } = drawing;
  const isFolded = nodes.some((node) => node.names.length > 1);
  return html`<div class="graph-tools"><span class="muted">${counted(tasks.length, 'task')}${isFolded ? ', folded to be taken in at once: a stack opens as a table' : ''}</span><span class="spread"></span>
      <div role="group" aria-label="Zoom"><button type="button" aria-label="Smaller" onClick=${() => zoom(0.8)}>−</button><button type="button" onClick=${() => fit(drawing, SCALE_MIN)}>Fit</button><button type="button" aria-label="Larger" onClick=${() => zoom(1.25)}>+</button></div></div>
    <div class="graph" ref=${box} tabindex="0" role="region" aria-label="Graph of the tasks">
      <div class="graph-space" style=${{ width: `${width * scale}px`, height: `${height * scale}px` }}>
        <div class="graph-scaled" style=${{ width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` }}>
          <${Edges} drawing=${drawing} stateOf=${stateOf} direction=${direction} nodeWidth=${nodeWidth} />
          <ul class="nodes">${nodes.map((node) => html`<li key=${node.id} style=${{ left: `${node.x - nodeWidth / 2}px`, top: `${node.y - HEIGHT / 2}px`, width: `${nodeWidth}px`, height: `${HEIGHT}px` }}>
            ${node.names.length > 1 ? html`<${Stack} node=${node} stateOf=${stateOf} open=${openFold} />` : html`<${One} node=${node} stateOf=${stateOf} href=${hrefOf(node.id)} />`}</li>`)}</ul>
        </div>
      </div>
    </div>`;
}

/**
 * What went wrong, or else what goes on, or the beginning, is in sight from the start: once the graph
 * is drawn, and once more when all states are known, unless somebody has scrolled meanwhile.
 * @param {{ current: HTMLElement | null }} box @param {unknown} drawing @param {boolean} isKnown
 */
function useOpening(box, drawing, isKnown) {
  const left = useRef({ x: 0, y: 0, drawing: /** @type {unknown} */ (undefined) });
  useEffect(() => {
    const it = box.current;
    const node = it?.querySelector('.node.is-failed') ?? it?.querySelector('.node.has-failed') ?? it?.querySelector('.node.is-running, .node.is-dispatched, .node.is-waiting') ?? it?.querySelector('.node');
    if (!it || !node) return;
    const isNew = left.current.drawing !== drawing;
    if (!isNew && (Math.abs(it.scrollLeft - left.current.x) > 1 || Math.abs(it.scrollTop - left.current.y) > 1)) return;
    const [outer, inner] = [it.getBoundingClientRect(), node.getBoundingClientRect()];
    if (inner.left < outer.left || inner.right > outer.right) it.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
    if (inner.top < outer.top || inner.bottom > outer.bottom) it.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
    left.current = { x: it.scrollLeft, y: it.scrollTop, drawing };
  }, [drawing, isKnown]);
}

/** @param {{ drawing: import('../layout-worker.js').Drawing, stateOf?: (name: string) => Task | undefined, direction: string, nodeWidth: number }} props */
function Edges({ drawing, stateOf, direction, nodeWidth }) {
  const { nodes, edges, width, height } = drawing;
  const places = useMemo(() => new Map(nodes.map((node) => [node.id, node])), [nodes]);
  return html`<svg class="edges" width=${width} height=${height} aria-hidden="true">
    <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" class="arrow" /></marker></defs>
    ${edges.map((edge) => {
      const [from, to] = [places.get(edge.from), places.get(edge.to)];
      if (!from || !to) return null;
      const points = ends(edge.points, [from, to], direction, { width: nodeWidth, height: HEIGHT });
      const isDone = stateOf?.(edge.from)?.status === 'success';
      const middle = half(points);
      const goesWithoutSaying = isPlain(edge.when);
      return html`<g key=${`${edge.from} ${edge.to}`}><path d=${curve(points, direction)} class=${`edge ${goesWithoutSaying ? '' : 'dashed'} ${isDone ? 'done' : ''}`} marker-end="url(#arrow)" />
        ${!goesWithoutSaying && html`<text x=${middle.x} y=${middle.y} class="edge-label">${edge.when}</text>`}</g>`;
    })}
  </svg>`;
}

/** @param {Point[]} points @param {string} direction */
function curve(points, direction) {
  const [first, ...rest] = points;
  let at = first;
  let d = `M${first.x} ${first.y}`;
  for (const point of rest) {
    const middle = direction === 'LR' ? (at.x + point.x) / 2 : (at.y + point.y) / 2;
    d += direction === 'LR' ? `C${middle} ${at.y} ${middle} ${point.y} ${point.x} ${point.y}` : `C${at.x} ${middle} ${point.x} ${middle} ${point.x} ${point.y}`;
    at = point;
  }
  return d;
}

/** @param {{ node: FoldedNode, stateOf?: (name: string) => Task | undefined, href?: string }} props */
function One({ node, stateOf, href }) {
  const task = stateOf?.(node.id);
  const about = /** @type {GraphTask} */ (node.task);
  const notes = [about?.fan_out, about?.condition ? `if ${about.condition}` : '', about?.tier ? `tier ${about.tier}` : '', about?.always ? 'always' : about?.on_failure === 'run' ? 'finally' : '', about?.checkpoint ? 'checkpoint' : '', about?.allow_failure ? 'may fail' : ''].filter(Boolean).join(' · ');
  const status = task?.status;
  const inside = html`${status && html`<${Shape} status=${status} />`}
    <span class="node-name"><bdi>${shown(node.id)}</bdi>${about?.added && html` <span class="label">added</span>`}${about?.checkpoint && html` <span class="label">checkpoint</span>`}</span>
    <span class="node-note">${task ? html`<${Note} task=${task} />` : shown(notes || about?.kind || '')}</span>
    ${task?.instances && html`<${Counts} counts=${rest(task.instances)} label="Instances" words=${false} />`}`;
  const { success = 0, failed = 0, total = 0 } = task?.instances ?? {};
  const title = [node.id, failed ? `${number(success)} done, ${number(failed)} failed of ${counted(total, 'instance')}` : '', about?.description, notes].filter(Boolean).join('\n');
  const classes = `node ${status ? `tone-${tone(status)} is-${status}` : ''} ${about?.fan_out ? 'stacked' : ''} ${task?.instances?.failed ? 'has-failed' : ''}`;
  return href ? html`<a class=${classes} href=${href} title=${shown(title)}>${inside}</a>` : html`<div class=${classes} title=${shown(title)}>${inside}</div>`;
}

/** @param {Record<string, number>} instances */
const rest = ({ total: _, ...counts }) => counts;

/** How the work of a task lands. @type {Record<string, string>} */
const LANDING = { queued: 'waits to land', delayed: 'lands again later', dispatched: 'lands', running: 'lands' };

/** @param {{ task: Task }} props */
function Note({ task }) {
  const { instances } = task;
  const parts = [];
  if (!instances) parts.push(task.status === 'worker_done' ? LANDING[task.finalizer?.state ?? ''] ?? 'work done' : word(task.status));
  else parts.push(`${number(instances.success ?? 0)} of ${number(instances.total ?? 0)}`);
  // Numbers count the finalizer's attempts too.
  if (task.attempt > 1 && !task.finalizer && !instances) parts.push(`attempt ${task.attempt}`);
  if (task.held && task.status !== 'paused') parts.push('held');
  if (task.started_at) {
    const end = task.finished_at ? moment(task.finished_at) : isLive(task.status) ? now.value : NaN;
    if (!Number.isNaN(end)) parts.push(duration(end - moment(task.started_at)));
  }
  // What is wrong comes first: the end of a line is cut where there is no room.
  return html`${(instances?.failed ?? 0) > 0 && html`<${Shape} status="failed" />${number(instances?.failed ?? 0)} failed · `}${parts.join(' · ')}`;
}

/** @param {{ node: FoldedNode, stateOf?: (name: string) => Task | undefined, open: (node: FoldedNode) => void }} props */
function Stack({ node, stateOf, open }) {
  /** @type {Record<string, number>} */
  const counts = {};
  let broken = 0;
  for (const name of node.names) {
    const task = stateOf?.(name);
    if (!task) continue;
    counts[task.status] = (counts[task.status] ?? 0) + 1;
    // Of a fan-out that still runs; of one that has failed its state says so.
    if (task.status !== 'failed') broken += task.instances?.failed ?? 0;
  }
  const hasStates = Object.keys(counts).length > 0;
  const status = worst(counts);
  const said = { twins: 'side by side', chain: 'in a row', layer: 'in this layer', task: '' }[node.kind];
  return html`<button type="button" class=${`node stacked fold ${hasStates ? `tone-${tone(status)} is-${status}` : ''} ${broken > 0 ? 'has-failed' : ''}`} onClick=${() => open(node)} title=${shown(node.names.slice(0, 20).join(', '))}>
    ${hasStates && html`<${Shape} status=${status} />`}
    <span class="node-name">${counted(node.names.length, 'task')}</span>
    <span class="node-note">${counts.failed > 0 && html`<${Shape} status="failed" />${number(counts.failed)} failed · `}${broken > 0 && html`<${Shape} status="failed" />${counted(broken, 'instance')} failed · `}${hasStates && `${number(counts.success ?? 0)} of ${number(node.names.length)} · `}${said}, from <bdi>${shown(node.names[0])}</bdi></span>
    ${hasStates && html`<${Counts} counts=${counts} label="Tasks" words=${false} />`}
  </button>`;
}
