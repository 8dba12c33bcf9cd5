//! Limits, rates, and which runs are let in.

use super::mutant::{Mutant, mutant};

const ADMIT: &str = "crates/core/src/world/admit.rs";
const BLUEPRINT: &str = "crates/core/src/world/blueprint.rs";
const GATE: &str = "crates/core/src/world/gate.rs";
const LEDGER: &str = "crates/core/src/kernel/ledger.rs";
const PERMITS: &str = "crates/core/src/kernel/permits.rs";
const READY: &str = "crates/core/src/world/ready.rs";
const TAKE: &str = "crates/core/src/world/take.rs";
const TIERS: &str = "crates/core/src/world/tiers.rs";

pub const MUTANTS: &[Mutant] = &[
    mutant(
        "tier-ignored",
        "a tier is a limit",
        BLUEPRINT,
        ("    set.sort_unstable();", "    set.truncate(2);"),
    ),
    mutant(
        "limits-off-by-one",
        "a full limit lets nothing in",
        PERMITS,
        (
            "self.used >= self.bound.limit || self.is_rate_full()",
            "self.used > self.bound.limit || self.is_rate_full()",
        ),
    ),
    mutant(
        "turns-forgotten",
        "runs of the same priority take turns",
        READY,
        ("        self.pass_turn(run);", "        let _ = Self::pass_turn;"),
    ),
    mutant(
        "urgent-last",
        "the more urgent is served first",
        READY,
        ("heads.min_by_key(|(order, _)| *order)?", "heads.max_by_key(|(order, _)| *order)?"),
    ),
    mutant(
        "latest-first",
        "whoever was served last waits for the others",
        READY,
        ("*level.turns.first()?", "*level.turns.last()?"),
    ),
    mutant(
        "rate-ignored",
        "a rate is a limit",
        PERMITS,
        (
            "self.ledger.starts() >= u64::from(rate.starts)",
            "self.ledger.starts() > u64::from(rate.starts)",
        ),
    ),
    mutant(
        "slots-leave-early",
        "no window of a rate's length holds too many",
        LEDGER,
        (
            "self.0.front().map(|(over, _)| Timestamp(*over) + rate.per)",
            "self.0.front().map(|(over, _)| Timestamp(*over) + Span(rate.per.0 * 3 / 4))",
        ),
    ),
    mutant(
        "ledger-not-stored",
        "a restart forgets no start that a rate counts",
        TAKE,
        (
            "        changes.extend(draft.ledgers.iter().map(|id| Change::PutLedger(self.limits.ledger(*id))));",
            "",
        ),
    ),
    mutant(
        "tier-not-stored",
        "what somebody set is durable when they are answered",
        TIERS,
        (
            "        self.draft.add(Change::PutLimit(LimitRow { name: Arc::clone(name), bound }));",
            "",
        ),
    ),
    mutant(
        "config-over-api",
        "what was set wins over the configuration",
        TIERS,
        ("limit.source != Source::Api", "limit.source == limit.source"),
    ),
    mutant(
        "rate-sleeps",
        "a rate that frees wakes the world",
        PERMITS,
        (
            "set.iter().filter_map(|id| self.get(*id).frees_at()).max()",
            "set.iter().filter_map(|id| self.get(*id).frees_at()).max().filter(|_| false)",
        ),
    ),
    mutant(
        "one-run-more",
        "no more runs are active than may be",
        GATE,
        (
            "self.max_active(run).is_none_or(|max| self.active(place) < max)",
            "self.max_active(run).is_none_or(|max| self.active(place) <= max)",
        ),
    ),
    mutant(
        "group-ignored",
        "a group bounds its runs",
        GATE,
        ("self.active(place) < run.group_limit()", "self.active(place) <= run.group_limit()"),
    ),
    mutant(
        "newest-first",
        "the older run is let in first",
        GATE,
        (
            "pending.find(|key| runs.get(key).is_some_and(|run| self.has_room(run)))",
            "pending.filter(|key| runs.get(key).is_some_and(|run| self.has_room(run))).last()",
        ),
    ),
    mutant(
        "nobody-let-in",
        "a run that ends lets another one in",
        GATE,
        (
            "has_waiting && to != Stand::Active && is_waited_for",
            "has_waiting && to == Stand::Pending && is_waited_for",
        ),
    ),
    mutant(
        "timeout-from-first-opening",
        "a run's timeout counts from its last opening",
        ADMIT,
        (
            "        progress.opened_at = Some(now);",
            "        progress.opened_at.get_or_insert(now);",
        ),
    ),
    mutant(
        "run-not-armed",
        "a run that opens has its timer",
        ADMIT,
        ("        self.arm_run(key);", ""),
    ),
    mutant(
        "retry-passes",
        "a retry waits like everybody else",
        ADMIT,
        ("self.set_status(key, RunStatus::Pending)", "self.open_run(now, key)"),
    ),
];
