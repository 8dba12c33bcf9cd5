-- Limits as somebody set them while a server ran: they win over its configuration.
create table limits (
    name        text primary key,
    permits     integer not null,
    rate_starts integer,                -- null: no rate
    rate_per    integer                 -- microseconds
) strict, without rowid;

-- Starts that a limit's rate counts, as JSON: when a slot of time is over, and how many started in
-- it. Written with the starts themselves, so that a restart forgets none.
create table ledgers (
    name   text primary key,
    starts text not null
) strict, without rowid;

-- The key of a run's concurrency group, as rendered when it was accepted. Never changes.
alter table runs add column group_key text;
