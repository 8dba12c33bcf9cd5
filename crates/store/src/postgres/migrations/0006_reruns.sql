-- The run that this one runs anew.
alter table runs add column retry_of uuid;
