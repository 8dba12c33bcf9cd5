//! Fan-in: the outputs of a group's instances as one list, in index order, null where one has
//! none.

use super::desk::{Desk, Stop};
use super::question::Answer;
use crate::ids::TaskNo;
use crate::json::{Json, depth};
use crate::limits::{DOCUMENT_DEPTH_MAX, OUTPUT_BYTES_MAX};
use crate::output::Output;

pub(super) fn list(desk: &Desk<'_>, no: TaskNo, count: u32) -> Result<Answer, Stop> {
    let mut text = String::from("[");
    let mut next = 0;
    loop {
        let page = desk.outputs.instances(desk.around.key, no, next)?;
        if page.is_empty() {
            break;
        }
        for (index, output) in page {
            nulls(&mut text, index.saturating_sub(next));
            add(desk, &mut text, &output)?;
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
    Ok(Answer::Value(desk.outputs.keep(desk.around.run, Json::composed(text))?))
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
