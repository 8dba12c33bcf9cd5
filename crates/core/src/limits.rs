//! A limit on everything, each with the reason for its number.

use crate::time::Span;

/// A definition's text. Larger ones are refused before they are parsed.
pub const DEFINITION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Nodes of a parsed document: 4 MiB of real tasks stay well below; 4 MiB of `[1,1,1,…` does not.
pub const DOCUMENT_NODES_MAX: usize = 400_000;
/// Nesting of a document: what a person would ever write, far below what a stack could bear.
pub const DOCUMENT_DEPTH_MAX: usize = 64;
/// Levels of a JSON value that was stored: below what a parser takes at most, which is 127.
pub const STORED_DEPTH_MAX: usize = 120;
/// Diagnostics of one document; after these a last one says how many were left out.
pub const DIAGNOSTICS_MAX: usize = 200;
/// Plain tasks of one definition (instances of a group are counted apart).
pub const TASKS_MAX: usize = 100_000;
/// Instances of one group, unless the definition says otherwise.
pub const FANOUT_DEFAULT: u32 = 100_000;
/// Instances of one group, whatever the definition says: what has been tried.
pub const FANOUT_MAX: u32 = 1_000_000;
/// An instance that waits for another try takes memory: a group of which more than this many
/// wait, or more than twice its `concurrency`, opens no others.
pub const GROUP_DELAYED_MAX: u32 = 1_000;
/// Instances without an attempt that are worked out at a time.
pub const GROUP_NOOPS_AT_ONCE: u32 = 1_000;
/// Names of workflows, tasks, tiers and labels.
pub const NAME_BYTES_MAX: usize = 128;

/// An expression's text.
pub const EXPR_BYTES_MAX: usize = 4 * 1024;
/// Brackets that open in an expression, and its operators: its parser and its evaluation recurse,
/// and with these numbers at their worst both stay within half of a 2 MiB stack.
pub const EXPR_BRACKETS_MAX: usize = 64;
pub const EXPR_OPERATORS_MAX: usize = 400;
/// Elements that `map`, `filter` and their like go through.
pub const EXPR_ELEMENTS_MAX: usize = 10_000;
/// What an expression may put together while it is worked out, in bytes of memory, about.
pub const EXPR_MADE_BYTES_MAX: usize = 128 * 1024 * 1024;
/// What an expression may do while it is worked out, in steps of about ten nanoseconds: a second.
/// There is no clock where it is counted.
pub const EXPR_WORK_MAX: usize = 100_000_000;
/// What an expression or a template comes to, as JSON text.
pub const EXPR_VALUE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A pattern of `matches`, compiled.
pub const EXPR_PATTERN_BYTES_MAX: usize = 256 * 1024;
/// Letters and classes in a pattern, repeated as often as they may be: a search is at all of
/// them at once.
pub const EXPR_PATTERN_PLACES_MAX: usize = 4_096;

/// A run's input, as JSON text.
pub const RUN_INPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// An input that is listed with its run. A larger one has a row of its own, so that a step of a run
/// does not cost its input again; it is told to whoever asks for that run, and a page of a thousand
/// runs stays small whatever they were given.
pub const INPUT_LISTED_BYTES_MAX: usize = 1024;
/// An output that is kept in its task's row.
pub const OUTPUT_INLINE_BYTES_MAX: usize = 256 * 1024;
/// An output at all, a group's list included: what fits into memory a few times over.
pub const OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// What an attempt sees as input: static input and upstream outputs together.
pub const TASK_INPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A value handed over in the environment; beyond it, in a file. (The kernel refuses single
/// strings over 128 KiB.)
pub const ENV_VALUE_BYTES_MAX: usize = 64 * 1024;
/// An error's message as stored; what is longer is cut in its middle.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 4 * 1024;

/// A signal's value: it becomes the output of a wait, in its row.
pub const SIGNAL_BYTES_MAX: usize = 64 * 1024;
/// Signals of one run: each is a row, and the newest of each key is in memory while the run is.
pub const SIGNALS_MAX: u32 = 1_000;
/// A signal's key is a text like any other, and yet no document.
pub const SIGNAL_KEY_CHARS_MAX: usize = 128;
/// What a person is asked, with values put in; what is longer is cut in its middle.
pub const APPROVAL_MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// What a person says to an approval.
pub const APPROVAL_COMMENT_BYTES_MAX: usize = 4 * 1024;
/// Names and roles that may decide on one approval.
pub const APPROVAL_BY_MAX: usize = 100;

/// Artifacts that one task declares.
pub const ARTIFACTS_MAX: usize = 1_000;
/// How long a success may be taken again, unless the definition says otherwise.
pub const CACHE_TTL_DEFAULT: Span = Span::from_secs(86_400);

/// Logs up to this size are stored in their row, larger ones in the blob store.
pub const LOG_INLINE_BYTES_MAX: usize = 4 * 1024;
pub const LOG_BYTES_DEFAULT: u64 = 10 * 1024 * 1024;
pub const LOG_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// One commit carries at most this many changes, so that one large run does not hold up the rest.
pub const BATCH_CHANGES_MAX: usize = 5_000;
pub const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// 'Started' rides on the next commit, at most this much later.
pub const STARTED_RIDES: Span = Span::from_ms(200);
/// Ends of attempts wait this long for others while many attempts are live: about as long as
/// a few commits take.
pub const GATHER: Span = Span::from_ms(2);

pub const RETRIES_MAX: u32 = 10_000;
pub const RETRY_DELAY_DEFAULT: Span = Span::from_secs(1);
pub const RETRY_DELAY_MAX_DEFAULT: Span = Span::from_secs(60);
pub const RETRY_FACTOR_DEFAULT: f64 = 2.0;
/// Losses a task survives; the next one fails it, so that a task that kills its server stops.
pub const LOSSES_MAX: u32 = 3;
pub const LOSS_DELAY: Span = Span::from_secs(1);
pub const LOSS_FACTOR: u64 = 4;
/// Waits between refused starts grow from the first to the second.
pub const REFUSED_DELAY: Span = Span::from_secs(1);
pub const REFUSED_DELAY_MAX: Span = Span::from_secs(30);

pub const TIMEOUT_DEFAULT: Span = Span::from_secs(3_600);
pub const START_TIMEOUT_DEFAULT: Span = Span::from_secs(300);
pub const GRACE_DEFAULT: Span = Span::from_secs(300);
pub const KILL_GRACE_DEFAULT: Span = Span::from_secs(10);
/// A kill that is not confirmed by then is told to people: only they can give the work up.
pub const KILL_CONFIRMED_WITHIN: Span = Span::from_secs(300);
/// Durations in definitions: a year is more than any task takes and far from overflow.
pub const DURATION_MAX: Span = Span::from_secs(366 * 86_400);
/// Run and task priorities, either way from 0.
pub const PRIORITY_MAX: i32 = 1_000_000;

/// The limit `total`: attempts at once over all executors.
pub const TOTAL_PERMITS_DEFAULT: u32 = 1_000;
/// Finalizers of one queue at once: they land one after another unless somebody says otherwise.
pub const QUEUE_PERMITS_DEFAULT: u32 = 1;
pub const TIER_PERMITS_MAX: u32 = 1_000_000;
/// Starts that a rate may allow, and the shortest time that it may be about: shorter ones are
/// nothing that a person would notice.
pub const RATE_STARTS_MAX: u32 = 1_000_000;
pub const RATE_PER_MIN: Span = Span::from_ms(1);
/// Active runs that a workflow may allow at once.
pub const ACTIVE_RUNS_MAX: u32 = 1_000_000;
/// Who holds a limit and who waits for it is told of so many.
pub const HOLDERS_SHOWN_MAX: usize = 100;
/// Concurrency groups that are listed: their keys come from inputs, so that there may be one for
/// every run.
pub const GROUPS_SHOWN_MAX: usize = 100;

/// Labels of a run, and the length of a key or value.
/// Child runs below a root run.
pub const CHILD_DEPTH_MAX: usize = 16;

pub const LABELS_MAX: usize = 64;
pub const LABEL_BYTES_MAX: usize = 256;
