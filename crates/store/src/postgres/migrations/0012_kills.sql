-- since when something of it was told to end and is not known to be gone, though it should be
alter table runs add column unconfirmed_since bigint;
