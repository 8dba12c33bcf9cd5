//! Fan-in: the outputs of a group's instances as one list, in index order, null where one has
//! none. One that has failed to land has none, but for those that are made of its work.

use super::desk::{Desk, Stop};
use super::outputs::InstanceOutput;
use super::question::Answer;
use crate::ids::TaskNo;
use crate::json::{Json, depth};
use crate::kernel::fact::Fact;
use crate::limits::{DOCUMENT_DEPTH_MAX, OUTPUT_BYTES_MAX};
use crate::output::Output;

/// Whose outputs are in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Of instances that have not failed and were not cancelled.
    Standing,
    /// Of all that have done their work, whatever became of it.
    Worked,
}

pub(super) fn list(desk: &Desk<'_>, group: (TaskNo, u32)) -> Result<Answer, Stop> {
    let list = composed(desk, group, Of::Standing)?;
    Ok(Answer::Value(desk.outputs.keep(desk.around.run, list)?))
}

pub(super) fn composed(desk: &Desk<'_>, (no, count): (TaskNo, u32), of: Of) -> Result<Json, Stop> {
    let is_in = |fact| of == Of::Worked || !matches!(fact, Fact::Failed | Fact::Cancelled);
    let mut text = String::from("[");
    let mut next = 0;
    loop {
        let page = desk.outputs.instances(desk.around.key, no, next)?;
        if page.is_empty() {
            break;
        }
        for InstanceOutput { index, fact, output } in page {
            nulls(&mut text, index.saturating_sub(next));
            match is_in(fact) {
                true => add(desk, &mut text, &output)?,
                false => nulls(&mut text, 1),
            }
            next = index + 1;
        }
    }
    nulls(&mut text, count.saturating_sub(next));
    if text.ends_with(',') {
        text.pop();
    }
    text.push(']');
    if depth(&text) > DOCUMENT_DEPTH_MAX {
        return Err(Stop::logic(format!(
            "the list of what its instances put out nests more than {DOCUMENT_DEPTH_MAX} deep: an \
             instance may put out {} levels",
            DOCUMENT_DEPTH_MAX - 1
        )));
    }
    Ok(Json::composed(text))
}

fn add(desk: &Desk<'_>, text: &mut String, output: &Output) -> Result<(), Stop> {
    match output {
        Output::Inline(json) => text.push_str(json.as_str()),
        Output::Blob(blob) => text.push_str(desk.outputs.load(desk.around.run, blob)?.as_str()),
    }
    text.push(',');
    match text.len() > OUTPUT_BYTES_MAX {
        false => Ok(()),
        true => Err(Stop::logic(format!(
            "the outputs of its instances together are more than {OUTPUT_BYTES_MAX} bytes. Put \
             large data into files, and their paths into the outputs"
        ))),
    }
}

fn nulls(text: &mut String, count: u32) {
    for _ in 0..count {
        text.push_str("null,");
    }
}
