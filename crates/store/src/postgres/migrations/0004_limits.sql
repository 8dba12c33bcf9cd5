-- Limits as somebody set them while a server ran: they win over its configuration.
create table limits (
    name        text collate "C" primary key,
    permits     bigint not null,
    rate_starts bigint,                 -- null: no rate
    rate_per    bigint                  -- microseconds
);

-- Starts that a limit's rate counts, as JSON: when a slot of time is over, and how many started in
-- it. Written with the starts themselves, so that a restart forgets none.
create table ledgers (
    name   text collate "C" primary key,
    starts text not null
);

-- The key of a run's concurrency group, as rendered when it was accepted. Never changes.
alter table runs add column group_key text;
