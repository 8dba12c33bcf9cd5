// A run with all its tasks, kept current by the stream. Loaded in pages, shown from the first on.

import { useEffect, useRef, useState } from './html.js';
import { get, path, Problem, query } from './api.js';
import { useLive } from './live.js';

/** @typedef {import('./shapes.js').Run} Run */
/** @typedef {import('./shapes.js').Task} Task */

const PAGE = 1000;

export class Book {
  constructor() {
    /** @type {Run | undefined} */
    this.run = undefined;
    /** @type {Map<string, Task>} in the order of the definition */
    this.tasks = new Map();
    this.isWhole = false;
    /** @type {Problem | undefined} */
    this.problem = undefined;
    /** Heard while the lists were on their way: newer than what these say. */
    this.heard = new Set();
    this.edition = 0;
  }

  /** @param {Task[]} tasks */
  hear(tasks) {
    for (const task of tasks) {
      const before = this.tasks.get(task.name);
      // The stream leaves inputs and outputs out.
      this.tasks.set(task.name, before ? { input: before.input, ...task } : task);
      this.heard.add(task.name);
    }
    this.edition += 1;
  }

  /** @param {Task[]} tasks */
  read(tasks) {
    for (const task of tasks) if (!this.heard.has(task.name)) this.tasks.set(task.name, task);
    this.edition += 1;
  }

  /** How many tasks are in each state. */
  counts() {
    /** @type {Record<string, number>} */
    const counts = {};
    for (const task of this.tasks.values()) counts[task.status] = (counts[task.status] ?? 0) + 1;
    return counts;
  }
}

/** @type {{ names: () => string[] } | undefined} */
let inSight;
/** Names of the tasks of the run that is looked at. */
export const tasksInSight = () => inSight?.names() ?? [];

/**
 * For as long as a view of a run, or of something in it, is there.
 * @param {() => Iterable<string>} names
 */
export function useInSight(names) {
  const latest = useRef(names);
  latest.current = names;
  useEffect(() => {
    const mine = { names: () => [...latest.current()] };
    inSight = mine;
    return () => { if (inSight === mine) inSight = undefined; };
  }, []);
}

/** @param {string} id */
export function useBook(id) {
  const book = useRef(/** @type {Book | undefined} */ (undefined));
  book.current ??= new Book();
  const it = book.current;
  const [, setEdition] = useState(0);
  const show = () => setEdition((n) => n + 1);
  const abort = useRef(/** @type {AbortController | undefined} */ (undefined));
  const load = async () => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    it.heard = new Set();
    try {
      await read(it, id, mine.signal, show);
      it.problem = undefined;
    } catch (error) {
      if (mine.signal.aborted) return;
      it.problem = error instanceof Problem ? error : new Problem('The page made a mistake', String(error));
    }
    show();
  };
  useLive(id, {
    fresh: () => void load(),
    back: () => { if (it.problem || !it.isWhole) void load(); },
    run: (run) => {
      if (run.id !== id) return;
      // The output is there once the run has succeeded.
      const isNewlyDone = run.status === 'success' && it.run?.status !== 'success';
      it.run = it.run ? over(it.run, run) : run;
      it.heard.add('');
      show();
      if (isNewlyDone) get(path`/runs/${id}`).then((whole) => { it.run = whole; show(); }, () => {});
    },
    tasks: (run, tasks) => {
      if (run !== id) return;
      it.hear(tasks);
      show();
    },
  }, [id]);
  useInSight(() => it.tasks.keys());
  useEffect(() => () => abort.current?.abort(), []);
  return { book: it, again: load };
}

/** What was heard over what the stream leaves out: the output, and an input that is large. @param {Run} whole @param {Run} heard @returns {Run} */
const over = (whole, heard) => ({ input: whole.input, output: whole.output, output_blob: whole.output_blob, ...heard });

/** @param {Book} book @param {string} id @param {AbortSignal} signal @param {() => void} show */
async function read(book, id, signal, show) {
  const run = await get(path`/runs/${id}`, signal);
  book.run = book.run && book.heard.has('') ? over(run, book.run) : run;
  book.edition += 1;
  let cursor;
  do {
    const page = await get(path`/runs/${id}/tasks` + query({ limit: PAGE, cursor }), signal);
    book.read(page.items);
    cursor = page.next_cursor;
    book.isWhole = !cursor;
    show();
  } while (cursor);
}
