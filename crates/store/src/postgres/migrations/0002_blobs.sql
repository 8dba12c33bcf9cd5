-- Large things by name, in chunks that neither side minds holding in memory. Written whole in one
-- transaction: a name is there with all its chunks, or not at all.
create table blobs (
    name   text collate "C" primary key,
    chunks bigint not null,
    put_at bigint not null
);

create table blob_chunks (
    blob   text collate "C" not null,
    number bigint not null,             -- from 0
    bytes  bytea not null,
    primary key (blob, number)
);

-- What is worth compressing was compressed before it came here.
alter table blob_chunks alter column bytes set storage external;
