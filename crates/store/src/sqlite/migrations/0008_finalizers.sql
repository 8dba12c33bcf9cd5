-- Which step of its task an attempt was one of: its work, or what lands that.
alter table attempts add column role text not null default 'work';

alter table runs add column tasks_worker_done integer not null default 0;
