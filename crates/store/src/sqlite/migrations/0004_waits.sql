-- What a parked task waits for, and the newest signal that it took.
alter table tasks add column wait text;

alter table runs add column tasks_waiting integer not null default 0;
-- how many it has got, which is the number of the last one
alter table runs add column signals integer not null default 0;

-- What runs were told from outside, append-only. Clustered so that the newest of each key, which
-- is all that a start loads, is found by one walk.
create table signals (
    run    integer not null,
    key    text not null,
    number integer not null,
    value  text not null,
    "by"   text not null,
    at     integer not null,
    primary key (run, key, number)
) strict, without rowid;

-- Approvals that wait for somebody: an index over rows of tasks, kept beside them so that their
-- own table needs none.
create table approvals (
    run   integer not null,
    no    integer not null,
    ix    integer not null,
    since integer not null,
    primary key (run, no, ix)
) strict, without rowid;

create index approvals_by_age on approvals (since, run, no, ix);
