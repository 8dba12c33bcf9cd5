-- how often tasks were added to it
alter table runs add column additions bigint not null default 0;

-- Tasks that were added to runs, as texts, append-only.
create table additions (
    run    bigint not null,
    number bigint not null,
    text   text not null,
    "by"   text not null,
    at     bigint not null,
    primary key (run, number)
);
