-- What a parked task waits for, and the newest signal that it took.
alter table tasks add column wait text;

alter table runs add column tasks_waiting bigint not null default 0;
-- how many it has got, which is the number of the last one
alter table runs add column signals bigint not null default 0;

-- What runs were told from outside, append-only. Clustered so that the newest of each key, which
-- is all that a start loads, is found by one walk.
create table signals (
    run    bigint not null,
    key    text collate "C" not null,
    number bigint not null,
    value  text not null,
    "by"   text not null,
    at     bigint not null,
    primary key (run, key, number)
);

-- Approvals that wait for somebody: an index over rows of tasks, kept beside them so that their
-- own table needs none.
create table approvals (
    run   bigint not null,
    no    bigint not null,
    ix    bigint not null,
    since bigint not null,
    primary key (run, no, ix)
);

create index approvals_by_age on approvals (since, run, no, ix);
