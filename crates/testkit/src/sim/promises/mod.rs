//! The checks: over what is durable, what executors hold, and what was answered. They know
//! the vocabulary, and of the code under test only the rows it stores.
//!
//! | what is promised | promise | where |
//! | --- | --- | --- |
//! | an accepted run is never lost | kept | `record` |
//! | it is never silently stuck | rest, explained | `play`: in peace it has to end; `explains`: what waits says for what |
//! | an outcome is recorded exactly once | one-outcome | `record` |
//! | an attempt is started at most once | begun-once | `executors` |
//! | a success does not run again unless a person asks | settled-stays | `runs` |
//! | `on_lost: fail` makes it at-most-once | lost-once | `rows` |
//! | dependencies are never violated | dependencies, stands-on-ends | `starts`, `runs` |
//! | limits are never violated, whenever they are changed | limits, rates | `limits` |
//! | whoever waits for permits is served by priority, and runs take turns: nobody starves | served, explained | `served`, `explains` |
//! | runs beyond `max_active_runs`, or of a full group, are pending, and let in by priority and age | active-runs, in-turn | `gatekeeper` |
//! | when it says cancelled or timed out, the work is gone | gone | `outside` |
//! | a commit fails only for I/O or a lost fence | storable | `store` |
//! | batches have at most 5,000 changes | bounded | `steps` |
//! | nothing is acted on before it is durable | durable-first | `acts` |
//! | an attempt is told what it is to know | told | `acts` |
//! | settle comes after the commit that recorded the end | settled-last | `acts` |
//! | whatever else an executor holds is stopped and settled | forgotten | `play` |
//! | nothing is answered before it is durable | answered-last, reflected | `answers` |
//! | after a failed commit callers learn that the outcome is unknown | answered-once | `play` |
//! | after a failed commit live attempts are offered again, `stopping` ones stopped again | rest | work that ends only when stopped would never end |
//! | a delay is durable: a restart neither forgets nor shortens it | delays | `rows`, `starts` |
//! | refused starts count against the start timeout | delays | `rows` |
//! | a refusal changes nothing | refused-unchanged | `answers` |
//! | what a decision needs is prefetched, and an older reading is noticed and read again | owned, read-again, one-outcome | `answers`, `record` |
//! | a report must name the current attempt | fenced | `steps` |
//! | the states of a run and their arrows | arrows | `runs` |
//! | paused: no new attempt starts; does not end | paused-rests, arrows | `starts`, `runs` |
//! | a kill that is not confirmed within five minutes, whatever crashes meanwhile, raises attention | overdue | `overdue` |
//! | cancelling: no new attempt starts, except of `always` tasks | cancelled-rests | `starts` |
//! | cancelling: live attempts are being stopped, except of `always` tasks | winding-down | `cancels` |
//! | `always` tasks run within their grace, which is durable, and then the run ends | always, verdict, rest | `always`, `runs`, `outside` |
//! | after a checkpoint nothing starts before somebody resumes the run | checkpoint | `checkpoints` |
//! | what a cancel of one task reaches | cancel-reach | `cancels` |
//! | what a retry takes back | retry-reach, stands-on-ends | `retries`, `runs` |
//! | rerun: outputs of everything not downstream are copied, and do not run | copied | `anew` |
//! | added tasks are stored with the run: neither lost nor doubled | added | `added` |
//! | the end of a run: first that applies | verdict | `runs` |
//! | the run's timeout counts from its last opening | timeouts, arrows | `outside`, `runs` |
//! | finished runs are only in the store | departed | `watch` |
//! | few facts, many words | words, views | `runs`, `outside` |
//! | transitions of the stored fact | transitions | `watch` |
//! | each dispatch that was not refused takes the next number | numbers | `rows` |
//! | tries and losses; a person resets them | tries | `rows` |
//! | `ever_started` is for good, whoever said so | ever-started | `rows`, `outside` |
//! | what `stopping` makes of the end | stopping | `rows` |
//! | permits follow from rows; counts are indexes | indexes, counts | core's own `verify`, `runs` |
//! | a group's row: counts, cursor, each index once | group, opened-once | `groups`, `lists` |
//! | zero items: success with `[]`; a bad reference fails the task | opened-once | `lists` |
//! | a crash neither repeats nor forgets an instance | opened-once, numbers, begun-once | `groups`, `rows` |
//! | at most `concurrency` instances at a time | at-once | `groups` |
//! | `fail_fast` cancels the rest | fail-fast | `groups` |
//! | how a group ends, by its strategy | group-end | `groups` |
//! | fan-in: in index order, null where one has none | fan-in, put-out | `lists` |
//! | conditions: evaluated once, false means skipped | conditions | `lists` |
//! | an instance is told its index, count and item | told | `acts` |
//! | a question that is not open takes no answer | heeded | `inputs` |
//! | a finalizer runs when the work is done, one at a time in a queue, by priority and age | landing, limits | `finals`, `limits` |
//! | its own tries and losses; the work is not done again for them | landing | `finals` |
//! | a cancel withdraws it: it never lands after one, and what lands before it is gone has landed | landing | `finals` |
//! | a merge that a checkout is in the way of waits without an end, counts nothing and holds no permit; held, cancelled and landed like any other | hindered, landing, limits, rest | `hindered`, `finals`, `limits` |
//! | a child run: one for each start, its end is the attempt's | kin | `kin` |
//! | hold, cancel and timeout of the parent apply to it | handed | `kin` |
//! | history is append-only, also when a group goes back | history | `record` |
//! | the same text twice makes no new version | versions | `outside` |
//! | readers can tell what is newer | stamps | `record` |

pub mod record;
pub mod runs;
pub mod rows;
pub mod groups;
pub mod items;
pub mod lists;
pub mod cancels;
pub mod always;
pub mod overdue;
pub mod checkpoints;
pub mod explains;
pub mod retries;
pub mod anew;
pub mod added;
pub mod starts;
pub mod waits;
pub mod finals;
pub mod hindered;
pub mod kin;
pub mod acts;
pub mod answers;
pub mod gatekeeper;
pub mod limits;
pub mod served;
pub mod outside;
