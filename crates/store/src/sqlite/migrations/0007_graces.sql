-- since when nothing but tasks that run always is left of it
alter table runs add column alone_since integer;
