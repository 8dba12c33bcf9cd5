-- Orders on many runs, from the commit that accepts one to its end, and for a while after. Whoever
-- starts a server goes on with those that have no end.
create table bulks (
    id          uuid primary key,
    name        text not null,          -- who asked
    token       uuid,                   -- tokens.id then; null: none was asked for
    "from"      text not null,
    asked       text not null,          -- what to do, how, and the filter, as JSON
    until       bigint not null,       -- runs accepted from here on were not looked at
    matched     bigint not null,
    created_at  bigint not null,
    runs        bytea,                  -- ids, 16 bytes each; null: it is over
    below       bytea,                  -- likewise: children, whose turn comes after
    finished_at bigint,
    result      text                    -- what came of it, as JSON
);

-- What a start looks for, and what goes by age.
create index bulks_unfinished on bulks (created_at, id) where finished_at is null;
create index bulks_finished on bulks (finished_at) where finished_at is not null;
