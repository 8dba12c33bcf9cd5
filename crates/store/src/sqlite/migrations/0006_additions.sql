-- how often tasks were added to it
alter table runs add column additions integer not null default 0;

-- Tasks that were added to runs, as texts, append-only.
create table additions (
    run    integer not null,
    number integer not null,
    text   text not null,
    "by"   text not null,
    at     integer not null,
    primary key (run, number)
) strict, without rowid;
