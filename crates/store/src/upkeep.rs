//! What a database is kept up with: its schema, its size, its copies.

/// Where a schema stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// 0: nothing is there yet.
    pub found: usize,
    /// The newest that this program knows.
    pub known: usize,
    /// Names of the migrations in between.
    pub pending: Vec<&'static str>,
}

impl Schema {
    pub(crate) fn of(found: usize, migrations: &[Migration]) -> Self {
        let pending = migrations.iter().skip(found).map(|migration| migration.name).collect();
        Self { found, known: migrations.len(), pending }
    }
}

/// One step from a schema to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migration {
    pub name: &'static str,
    pub sql: &'static str,
}

/// How much room a database takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vacuumed {
    pub before_bytes: u64,
    pub after_bytes: u64,
}
