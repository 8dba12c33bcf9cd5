-- Who decides. A commit names its scheduler and epoch; another epoch fences it off.
create table schedulers (
    ordinal    integer primary key,
    id         blob not null unique,
    epoch      integer not null,
    -- numbers that stay used although no row shows it any more
    next_run   integer not null default 0,
    next_stamp integer not null default 0
) strict;

-- What people see of a workflow; its history stays when it is hidden.
create table workflows (
    name       text primary key,
    latest     integer not null,
    created_at integer not null,
    updated_at integer not null,
    deleted_at integer              -- null: not hidden
) strict, without rowid;

-- Definitions: the names of tasks live here and nowhere else.
create table versions (
    workflow   text not null,
    number     integer not null,
    hash       blob not null,
    text       text not null,
    created_at integer not null,
    unique (workflow, number)
) strict;

create table runs (
    key             integer primary key,
    -- said once
    id              blob not null unique,
    workflow        text not null,
    version         integer not null,
    kind            text not null,
    input           text,               -- null: in `inputs`
    labels          text not null,
    priority        integer not null,
    triggered_by    text not null,
    workdir         text not null,
    parent          blob,
    created_at      integer not null,
    -- changes
    status          text not null,
    held_by         text,
    held_at         integer,
    cancel          text,
    owner           integer not null,   -- schedulers.ordinal
    stamp           integer not null,
    started_at      integer,
    opened_at       integer,
    finished_at     integer,
    error           text,
    tasks_total     integer not null,
    tasks_live      integer not null,
    tasks_success   integer not null,
    tasks_failed    integer not null,
    tasks_cancelled integer not null,
    tasks_skipped   integer not null
) strict;

-- Inputs too large to be rewritten with every step of their run.
create table inputs (
    run   integer primary key,
    input text not null
) strict;

-- The event stream, and where a scheduler's stamps go on. The one index that every update of a
-- run moves.
create index runs_by_stamp on runs (owner, stamp);

-- Lists, newest first. These columns never change: one insert in a run's life. What has
-- expired is found from the other end of the first: nearly all that was accepted before that
-- moment has ended before it too, and an index of ends would be one more insert for each run.
create index runs_by_age on runs (created_at, id);
create index runs_by_workflow on runs (workflow, created_at, id);

-- What is not a success is what people look for among millions of successes, and what a start
-- loads. Partial, so that a run enters and leaves the first once, and only what failed or was
-- cancelled enters the second; neither grows with the successes. `runs.rs` repeats both
-- conditions word for word: that is how SQLite knows that it may use them.
create index runs_unfinished on runs (created_at, id)
    where status in ('pending', 'running', 'paused', 'cancelling');
create index runs_unsuccessful on runs (created_at, id)
    where status in ('failed', 'cancelled');

-- Clustered by run: a run is loaded by one walk. No other index: a task is never looked for
-- in any other way, and each would be paid for twice in every task's life.
create table tasks (
    run            integer not null,
    no             integer not null,
    ix             integer not null,    -- -1: not an instance of a group
    fact           text not null,
    until          integer,
    attempts       integer not null,
    attempt_number integer,
    attempt_id     blob,                -- null: no attempt yet
    dispatched_at  integer,
    started_at     integer,
    finished_at    integer,
    ending         text,
    ending_detail  text,
    tries          integer not null,
    losses         integer not null,
    refusals       integer not null,
    refused_for    integer not null,    -- microseconds
    ever_started   integer not null,
    held_by        text,
    held_at        integer,
    stopping       text,
    cancelled      text,
    settled_at     integer,
    output         text,
    group_state    text,                -- count, cursor, outcomes: of a group's own row
    finalizer      text,                -- state, tries, losses: while worker_done
    primary key (run, no, ix)
) strict, without rowid;

-- Superseded attempts, append-only. A refused start gives its number back, so a number may
-- occur more than once: the id tells them apart.
create table attempts (
    run           integer not null,
    no            integer not null,
    ix            integer not null,
    number        integer not null,
    id            blob not null,
    dispatched_at integer not null,
    started_at    integer,
    finished_at   integer,
    ending        text,
    ending_detail text,
    output        text,
    primary key (run, no, ix, number, id)
) strict, without rowid;

create table logs (
    run        integer not null,
    attempt    blob not null,
    inline     blob,
    file_bytes integer,                 -- in a file of its executor
    blob_bytes integer,                 -- in the blob store
    primary key (run, attempt),
    check ((inline is not null) + (file_bytes is not null) + (blob_bytes is not null) = 1)
) strict, without rowid;

-- What is not in its row is looked for by its name too. The many that are do not enter.
create index logs_outside on logs (attempt) where inline is null;

-- Which answer a request was given, so that the same request gets it again.
create table idempotency_keys (
    principal  text not null,
    route      text not null,
    key        text not null,
    body       blob not null,           -- SHA-256 of what was asked
    answer     text not null,
    run        blob,                    -- runs.id; null: none, or it is gone
    created_at integer not null,
    primary key (principal, route, key)
) strict, without rowid;

-- A run that goes lets go of its keys, and keys that no run holds go by age: neither looks at
-- more than it changes.
create index idempotency_keys_by_run on idempotency_keys (run) where run is not null;
create index idempotency_keys_free on idempotency_keys (created_at) where run is null;

-- Who asked for what, append-only.
create table audit (
    number integer primary key,
    at     integer not null,
    "by"   text not null,
    "from" text not null,
    action text not null,
    target text not null
) strict;

-- Who may ask. Few: they are read whole.
create table tokens (
    id         blob primary key,
    name       text not null,
    hash       blob not null,           -- SHA-256 of the secret
    role       text not null,
    parent     blob,                    -- tokens.id of a session's token; null: no session
    created_at integer not null,
    expires_at integer
) strict, without rowid;
