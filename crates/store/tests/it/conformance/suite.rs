//! Every case, on every store.

use super::{
    audit, bulks, cache, changes, dropping, groups, history, keys, limits, lists, lives, odd_text,
    rows_kept, tokens, waits, whole, workflows,
};
use mainspring_store::{Memory, Postgres, Sqlite};

macro_rules! suite {
    ($($room:ident::$case:ident,)*) => {
        mod memory {
            use super::*;
            $(#[test] fn $case() { $room::$case(&Memory::new()); })*
        }
        mod sqlite {
            use super::*;
            $(#[test] fn $case() {
                let folder = tempfile::tempdir().unwrap();
                $room::$case(&Sqlite::open(&folder.path().join("db")).unwrap());
            })*
        }
        mod postgres {
            use super::*;
            $(#[test] fn $case() {
                let database = mainspring_throwaway::database();
                $room::$case(&Postgres::open(&database.url()).unwrap());
            })*
        }
    };
}

suite! {
    lives::the_first_life_begins_with_epoch_one,
    lives::a_new_life_goes_on_where_the_last_one_ended,
    lives::schedulers_have_ordinals_of_their_own,
    lives::what_the_dead_left_unfinished_is_taken_over,
    lives::an_old_life_is_fenced_off,
    lives::a_scheduler_that_never_registered_is_fenced_off,
    lives::an_empty_batch_is_fenced_all_the_same,
    lives::a_store_answers_a_ping_and_nothing_changes,
    whole::changes_may_come_in_any_order,
    whole::commits_are_answered_in_order,
    whole::progress_of_an_unknown_run_is_refused,
    whole::rows_of_an_unknown_run_are_refused,
    whole::a_run_is_never_written_over,
    whole::an_unknown_owner_is_refused,
    whole::a_refused_batch_leaves_nothing,
    whole::nothing_is_written_after_a_batch_that_failed,
    rows_kept::a_run_is_read_as_it_was_written,
    rows_kept::a_large_input_is_read_as_it_was_written,
    rows_kept::progress_replaces_progress,
    rows_kept::a_task_row_is_read_as_it_was_written,
    rows_kept::a_task_row_replaces_the_former,
    rows_kept::tasks_are_ordered_by_number_and_index,
    history::the_first_word_on_a_version_stands,
    history::the_latest_version_has_the_highest_number,
    history::history_is_ordered_and_append_only,
    history::a_number_may_be_used_again_after_a_refused_start,
    history::logs_are_kept_by_attempt,
    groups::a_group_is_read_as_it_was_written,
    groups::a_run_comes_with_the_instances_that_are_no_success,
    groups::a_large_run_comes_with_the_same,
    groups::a_groups_row_says_how_many_instances_to_look_for,
    groups::instances_are_listed_in_pages,
    groups::outputs_of_instances_are_read_in_pages,
    groups::a_page_of_large_outputs_is_shorter,
    groups::instances_that_go_back_leave_their_attempts_to_the_history,
    groups::instances_of_an_unknown_run_do_not_go_back,
    cache::a_cached_success_is_read_as_it_was_written,
    cache::a_later_success_replaces_the_former,
    cache::what_has_expired_is_dropped,
    cache::what_names_a_blob_goes_with_its_run,
    waits::the_newest_signal_of_each_key_is_read,
    waits::approvals_are_listed_in_pages_those_that_wait_longest_first,
    waits::an_approval_that_is_settled_is_not_listed,
    waits::signals_and_approvals_go_with_their_run,
    waits::additions_are_read_in_order_and_go_with_their_run,
    lists::unfinished_runs_are_listed_oldest_first,
    lists::runs_are_listed_newest_first_in_pages,
    lists::runs_are_filtered_by_status_and_workflow,
    lists::children_are_found_by_their_parent,
    lists::runs_are_filtered_by_age,
    lists::runs_are_filtered_by_labels,
    lists::those_of_some_runs_that_are_stored,
    lists::what_is_large_is_not_in_lists,
    changes::runs_are_read_in_the_order_of_their_stamps,
    workflows::the_last_word_on_a_workflow_stands,
    workflows::workflows_that_are_not_hidden_are_listed_by_name,
    workflows::versions_are_listed_newest_first_in_pages,
    dropping::a_run_goes_with_all_that_belongs_to_it,
    dropping::children_go_with_their_parent_and_not_before,
    dropping::a_run_that_has_changed_is_not_dropped,
    dropping::numbers_of_dropped_runs_stay_used,
    dropping::expired_runs_are_listed_oldest_first,
    keys::the_first_answer_under_a_key_stands,
    keys::a_key_is_known_by_who_asked_for_what,
    keys::old_keys_are_dropped_unless_their_run_is_stored,
    keys::a_key_outlives_its_run_while_it_is_young,
    keys::a_key_that_is_used_as_it_is_dropped_is_new,
    audit::the_audit_log_is_read_newest_first_in_pages,
    audit::what_was_refused_leaves_no_record,
    tokens::tokens_are_read_as_they_were_written,
    tokens::a_token_goes_with_its_sessions,
    bulks::orders_are_read_as_they_were_written,
    bulks::those_at_work_are_listed_oldest_first,
    bulks::the_first_word_on_an_end_stands,
    bulks::old_ones_that_are_over_are_dropped,
    limits::the_last_word_on_a_limit_stands,
    limits::what_rates_count_is_read_as_it_was_written,
    odd_text::strings_are_read_as_they_were_written,
    odd_text::odd_names_are_found_and_ordered_by_their_bytes,
}
