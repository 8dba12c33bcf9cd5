-- Who decides. A commit names its scheduler and epoch; another epoch fences it off.
create table schedulers (
    ordinal    bigint primary key,
    id         uuid not null unique,
    epoch      bigint not null,
    -- numbers that stay used although no row shows it any more
    next_run   bigint not null default 0,
    next_stamp bigint not null default 0
);

-- Definitions: the names of tasks live here and nowhere else. Names are compared by their
-- bytes, here and below: collation "C".
create table versions (
    workflow   text collate "C" not null,
    number     bigint not null,
    hash       bytea not null,
    text       text not null,
    created_at bigint not null,
    primary key (workflow, number)
);

-- What people see of a workflow; its history stays when it is hidden.
create table workflows (
    name       text collate "C" primary key,
    latest     bigint not null,
    created_at bigint not null,
    updated_at bigint not null,
    deleted_at bigint                   -- null: not hidden
);

create table runs (
    key             bigint primary key,
    -- said once
    id              uuid not null unique,
    workflow        text collate "C" not null,
    version         bigint not null,
    kind            text not null,
    input           text,               -- null: in `inputs`
    labels          text not null,
    priority        integer not null,
    triggered_by    text not null,
    workdir         text not null,
    parent          uuid,
    created_at      bigint not null,
    -- changes
    status          text not null,
    held_by         text,
    held_at         bigint,
    cancel          text,
    owner           bigint not null,    -- schedulers.ordinal
    stamp           bigint not null,
    started_at      bigint,
    opened_at       bigint,
    finished_at     bigint,
    error           text,
    tasks_total     bigint not null,
    tasks_live      bigint not null,
    tasks_success   bigint not null,
    tasks_failed    bigint not null,
    tasks_cancelled bigint not null,
    tasks_skipped   bigint not null
);

-- Inputs too large to be rewritten with every step of their run.
create table inputs (
    run   bigint primary key,
    input text not null
);

-- The event stream, and where a scheduler's stamps go on. The one index that every update of a
-- run moves.
create index runs_by_stamp on runs (owner, stamp);

-- Lists, newest first. These columns never change. What has expired is found from the other end
-- of the first: nearly all that was accepted before that moment has ended before it too, and an
-- index of ends would be one more insert for each run.
create index runs_by_age on runs (created_at, id);
create index runs_by_workflow on runs (workflow, created_at, id);

-- What is not a success is what people look for among millions of successes, and what a start
-- loads. Partial, so that neither grows with the successes. The lists repeat both conditions
-- word for word: that is how the planner knows that it may use them.
create index runs_unfinished on runs (created_at, id)
    where status in ('pending', 'running', 'paused', 'cancelling');
create index runs_unsuccessful on runs (created_at, id)
    where status in ('failed', 'cancelled');

-- No other index: a task is never looked for in any other way, and an update that changes no
-- index stays on its page, where the fill factor leaves it room.
create table tasks (
    run            bigint not null,
    no             bigint not null,
    ix             bigint not null,     -- -1: not an instance of a group
    fact           text not null,
    until          bigint,
    attempts       bigint not null,
    attempt_number bigint,
    attempt_id     uuid,                -- null: no attempt yet
    dispatched_at  bigint,
    started_at     bigint,
    finished_at    bigint,
    ending         text,
    ending_detail  text,
    tries          bigint not null,
    losses         bigint not null,
    refusals       bigint not null,
    refused_for    bigint not null,     -- microseconds
    ever_started   boolean not null,
    held_by        text,
    held_at        bigint,
    stopping       text,
    cancelled      text,
    settled_at     bigint,
    output         text,
    group_state    text,                -- count, cursor, outcomes: of a group's own row
    finalizer      text,                -- state, tries, losses: while worker_done
    primary key (run, no, ix)
) with (fillfactor = 85);

-- Superseded attempts, append-only. A refused start gives its number back, so a number may
-- occur more than once: the id tells them apart.
create table attempts (
    run           bigint not null,
    no            bigint not null,
    ix            bigint not null,
    number        bigint not null,
    id            uuid not null,
    dispatched_at bigint not null,
    started_at    bigint,
    finished_at   bigint,
    ending        text,
    ending_detail text,
    output        text,
    primary key (run, no, ix, number, id)
);

create table logs (
    run        bigint not null,
    attempt    uuid not null,
    inline     bytea,
    file_bytes bigint,                  -- in a file of its executor
    blob_bytes bigint,                  -- in the blob store
    primary key (run, attempt),
    check (num_nonnulls(inline, file_bytes, blob_bytes) = 1)
);

-- What is not in its row is looked for by its name too. The many that are do not enter.
create index logs_outside on logs (attempt) where inline is null;

-- Which answer a request was given, so that the same request gets it again.
create table idempotency_keys (
    principal  text collate "C" not null,
    route      text collate "C" not null,
    key        text collate "C" not null,
    body       bytea not null,          -- SHA-256 of what was asked
    answer     text not null,
    run        uuid,                    -- runs.id; null: none, or it is gone
    created_at bigint not null,
    primary key (principal, route, key)
);

-- A run that goes lets go of its keys, and keys that no run holds go by age: neither looks at
-- more than it changes.
create index idempotency_keys_by_run on idempotency_keys (run) where run is not null;
create index idempotency_keys_free on idempotency_keys (created_at) where run is null;

-- Who asked for what, append-only.
create table audit (
    number bigint primary key,
    at     bigint not null,
    "by"   text not null,
    "from" text not null,
    action text not null,
    target text not null
);

-- Who may ask.
create table tokens (
    id         uuid primary key,
    name       text not null,
    hash       bytea not null,          -- SHA-256 of the secret
    role       text not null,
    parent     uuid,                    -- tokens.id of a session's token; null: no session
    created_at bigint not null,
    expires_at bigint
);

create index tokens_by_age on tokens (created_at, id);
create index tokens_by_parent on tokens (parent) where parent is not null;
