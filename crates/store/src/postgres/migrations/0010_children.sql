-- Which task of its parent a child run is of, and which attempt: a small structure.
alter table runs add column parent_task text;

-- The children of a run. Most runs are nobody's, and pay nothing for it.
create index runs_by_parent on runs (parent, created_at, id) where parent is not null;
