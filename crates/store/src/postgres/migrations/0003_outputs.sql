-- What a run came to: JSON, or the name of a blob after an `@`, as in tasks and attempts. Written
-- once, with the end of the run.
alter table runs add column output text;

-- Successes that are taken instead of running again.
create table cache (
    workflow   text collate "C" not null,
    task       text collate "C" not null,
    hash       bytea not null,          -- SHA-256 of the key as rendered
    run        uuid not null,           -- runs.id of where it was worked out; that may be gone
    output     text,
    expires_at bigint not null,
    primary key (workflow, task, hash)
);

create index cache_by_expiry on cache (expires_at);

-- A run takes its blobs with it, and with them what names one. The many that name none do not
-- enter. `run_drop.rs` repeats the condition word for word.
create index cache_of_blobs on cache (run) where left(output, 1) = '@';
