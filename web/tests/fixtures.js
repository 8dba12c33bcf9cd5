// Workflows that the tests run. Tasks wait for a file, never for a time.

/** Waits until a file is there. @param {string} file */
const wait = (file) => `while [ ! -e ${file} ]; do sleep 0.02; done`;

export const NIGHTLY = `name: nightly-report
description: Fetch, convert and load what arrived today, then tell everybody
labels: { team: data }
input:
  type: object
  required: [day]
  properties:
    day: { type: string, description: The day to load }
    dry: { type: boolean, default: false }
    size: { type: integer, minimum: 1, maximum: 10 }
    mode: { enum: [full, quick] }
    extra: { type: object }
tiers: { db: 1 }
tasks:
  fetch:
    run: |
      echo fetching
      echo '{"files": [1, 2, 3, 4, 5, 6, 7, 8]}' > $MAINSPRING_OUTPUT
  convert: { depends_on: [fetch], foreach: fetch.files, concurrency: 4, run: 'echo "item \${{ item }}"' }
  check: { depends_on: [{ task: convert, when: started }], run: "echo checking" }
  load:
    depends_on: [convert]
    tier: db
    retries: { max: 2, delay: 10ms }
    run: |
      printf '\\033[32mconnecting\\033[0m to the database\\n'
      [ -e mended ] && exit 0
      echo 'relation "orders" does not exist' >&2
      exit 3
  reindex: { depends_on: [load], run: "true" }
  notify: { depends_on: [reindex, check], run: "true" }
  report: { depends_on: [load, check], on_failure: run, run: "echo done" }
`;

/** Runs until it is released. */
export const GATED = `name: gated
tasks:
  first:
    run: |
      echo begun
      ${wait('go-first')}
      echo released
  second: { depends_on: [first], run: "echo second" }
  third: { depends_on: [second], run: "${wait('go-third')}" }
`;

/** A name as long as one may be. */
export const LONG_NAME = `reconcile-the-ledgers-of-every-subsidiary-with-the-ones-of-the-holding-before-${'x'.repeat(49)}`;

/** Tasks in every state that there is, all at the same time. Some of it is ordered: see `everything`. */
const EVERYTHING = `name: everything-at-once
description: ${'A description that goes on for longer than any line of a list has room for, because whoever wrote it had much to say about what it does and why. '.repeat(2)}
labels: { team: data-platform, cost-centre: "4711" }
tiers: { one: 1 }
tasks:
  done: { run: "echo done" }
  at-work: { depends_on: [done], tier: one, run: "${wait('go-all')}" }
  no-place: { depends_on: [done], tier: one, run: "true" }
  breaks: { depends_on: [done], run: "echo 'no space left on device' >&2; exit 28" }
  below-broken: { depends_on: [breaks], run: "true" }
  not-wanted: { depends_on: [done], if: "1 > 2", run: "true" }
  below-skipped: { depends_on: [not-wanted], run: "true" }
  on-hold: { depends_on: [done, held-up], run: "true" }
  held-up: { sleep: 1h }
  asks: { depends_on: [done], approval: { message: Is this what you wanted?, timeout: 24h } }
  listens: { depends_on: [done], wait: { signal: payment-received } }
  tries-again: { depends_on: [done], retries: { max: 3, delay: 1h }, run: "echo 'connection refused' >&2; exit 7" }
  called-off: { depends_on: [done], sleep: 1h }
  below-called-off: { depends_on: [called-off], run: "true" }
  each: { depends_on: [done], parallel: 400, concurrency: 4, run: "[ $((MAINSPRING_INDEX % 9)) = 4 ] && exit 1; [ $MAINSPRING_INDEX -lt 60 ] || { ${wait('go-all')}; }" }
  ${LONG_NAME}: { depends_on: [done], run: "true" }
  last: { depends_on: [at-work, no-place, asks, listens, ${LONG_NAME}], run: "true" }
`;

/** Brings a run about in which all of that is so. @param {import('./harness.js').Server} server */
export async function everything(server) {
  await server.deploy(EVERYTHING);
  const { id } = await server.trigger('everything-at-once', { labels: { ticket: 'OPS-12345', 'requested-by': 'somebody.with.a.long.name@example.com' } });
  const is = (name, ...states) => server.taskReached(id, name, ...states);
  await is('called-off', 'waiting');
  await server.post(`/runs/${id}/tasks/called-off/cancel`);
  await server.post(`/runs/${id}/tasks/on-hold/pause`);
  for (const [name, state] of [['done', 'success'], ['at-work', 'running'], ['no-place', 'ready'], ['breaks', 'failed'], ['below-broken', 'blocked'], ['below-skipped', 'skipped'], ['on-hold', 'paused'], ['asks', 'waiting'], ['listens', 'waiting'], ['called-off', 'cancelled'], ['below-called-off', 'cancelled'], ['last', 'pending']]) await is(name, state);
  await server.until(async () => (await server.api(`/runs/${id}/tasks/tries-again`)).retry_at);
  await server.until(async () => (await server.api(`/runs/${id}/tasks/each`)).instances?.success >= 50);
  return id;
}

/** Waits for people, a signal and a time. */
export const RELEASE = `name: release
description: Builds, asks, waits until it is paid, ships
tasks:
  build: { run: "echo built" }
  review:
    depends_on: [build]
    approval: { message: ${JSON.stringify('Ship 1.4.2? <script>window.harmed = 1</script><img src=x onerror="window.harmed = 1">')}, timeout: 24h, on_timeout: reject }
  regions: { depends_on: [build], parallel: 3, approval: { message: "Open region \${{ index }}?" } }
  paid: { depends_on: [build], wait: { signal: paid } }
  nap: { depends_on: [build], sleep: 1h }
  ship: { depends_on: [review, paid], run: "echo shipped" }
`;

/** One is asked, then it fails, then it is mended. */
export const JOURNEY = `name: journey
input:
  type: object
  required: [day]
  properties: { day: { type: string } }
tasks:
  ask: { approval: { message: "Load \${{ input.day }}?" } }
  load: { depends_on: [ask], run: "[ -e mended ] || { echo 'no such table' >&2; exit 3; }" }
  tell: { depends_on: [load], run: "echo told" }
`;

/** @param {number} count tasks side by side, between a first and a last */
export function wide(count) {
  const side = Array.from({ length: count - 2 }, (_, i) => `  t${i}: { noop: {}, depends_on: [first] }`);
  const last = `  last: { noop: {}, depends_on: [${Array.from({ length: count - 2 }, (_, i) => `t${i}`).join(', ')}] }`;
  return `name: wide\ntasks:\n  first: { run: "${wait('go-wide')}" }\n${side.join('\n')}\n${last}\n`;
}

/** What nobody should be harmed by. */
export const HOSTILE = {
  markup: '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 1">',
  turned: 'abc\u202edef\u2066ghi',
  terminal: '\u001b[2J\u001b[31mred\u001b[0m\u001b]8;;javascript:window.harmed=1\u0007link\u001b]8;;\u0007',
};

const text = JSON.stringify;

export const HOSTILE_FLOW = `name: hostile
description: ${text(HOSTILE.markup + HOSTILE.turned)}
labels: { team: ${text(HOSTILE.markup)} }
tasks:
  evil:
    description: ${text(HOSTILE.markup)}
    input: { markup: ${text(HOSTILE.markup)}, turned: ${text(HOSTILE.turned)} }
    run: |
      printf '%s\\n' '<script>window.harmed = 1</script><img src=x onerror="window.harmed = 1">'
      printf 'abc\\342\\200\\256def\\n'
      printf '\\033[2J\\033[31mred\\033[0m\\033]8;;javascript:window.harmed=1\\007link\\033]8;;\\007\\n'
      head -c 1048576 /dev/zero | tr '\\000' 'x'
      echo
      echo the end
      printf '{"html": "<script>window.harmed = 1</script>", "turned": "abc\\342\\200\\256def", "long": "%s"}' "$(head -c 2000 /dev/zero | tr '\\000' y)" > $MAINSPRING_OUTPUT
  fails: { run: "echo '<img src=x onerror=window.harmed=1>' >&2; exit 1" }
`;

/** Three tasks land through one queue: the first lands until it is released, the others wait. */
export const LANDING = `name: landing
description: Work side by side, landed one after the other
tasks:
  alpha: { run: "echo alpha worked", finalize: { queue: trunk, run: "echo alpha lands; ${wait('go-alpha')}; echo alpha landed" } }
  beta: { depends_on: [{ task: alpha, when: completed }], run: "echo beta worked", finalize: { queue: trunk, retries: { max: 1, delay: 1h }, run: "echo 'beta conflicts' >&2; [ -e mended-beta ]" } }
  gamma: { depends_on: [{ task: beta, when: completed }], run: "echo gamma worked", finalize: { queue: trunk, run: "echo gamma lands" } }
  report: { depends_on: [alpha, gamma], run: "echo reported" }
`;

/** A run that stops to be looked at, with child runs of which one fails. */
export const CHILD = `name: convert-one
input: { type: object, required: [file], properties: { file: { type: string } } }
tasks:
  convert: { run: "[ \${{ input.file }} != broken ] || { echo 'no such file' >&2; exit 4; }" }
`;
export const PARENT = `name: convert-all
tasks:
  plan: { noop: {}, checkpoint: true }
  one: { depends_on: [plan], workflow: convert-one, input: { file: north } }
  many: { depends_on: [plan], parallel: 3, workflow: convert-one, input: { file: south } }
  broken: { depends_on: [one], workflow: convert-one, input: { file: broken } }
`;
