//! Places in lists, opaque to callers: hexadecimal, so that they need no escaping.

use crate::problem::{Code, Problem};
use mainspring_core::ids::{RunId, RunKey, TaskNo, TaskRef};
use mainspring_core::kernel::wait::ApprovalPlace;
use mainspring_core::time::Timestamp;

fn refused() -> Problem {
    Problem::new(Code::BadCursor, "use `next_cursor` of the page before, as it was given")
}

pub fn encode_run(at: Timestamp, id: RunId) -> String {
    let mut bytes = at.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(id.as_bytes());
    encode(&bytes)
}

pub fn decode_run(cursor: &str) -> Result<(Timestamp, RunId), Problem> {
    let bytes = decode(cursor).filter(|bytes| bytes.len() == 24).ok_or_else(refused)?;
    let (at, id) = bytes.split_at(8);
    let at = i64::from_be_bytes(at.try_into().map_err(|_| refused())?);
    let id = RunId::from_bytes(id.try_into().map_err(|_| refused())?);
    Ok((Timestamp(at), id))
}

pub fn encode_approval(place: ApprovalPlace) -> String {
    let ApprovalPlace { since, run, task } = place;
    let index = task.index.map_or(-1, i64::from);
    let mut bytes = since.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(&run.0.to_be_bytes());
    bytes.extend_from_slice(&task.no.0.to_be_bytes());
    bytes.extend_from_slice(&index.to_be_bytes());
    encode(&bytes)
}

pub fn decode_approval(cursor: &str) -> Result<ApprovalPlace, Problem> {
    let bytes = decode(cursor).filter(|bytes| bytes.len() == 28).ok_or_else(refused)?;
    let long = |at: usize| {
        let part = bytes[at..at + 8].try_into().map(i64::from_be_bytes);
        part.map_err(|_| refused())
    };
    let no = bytes[16..20].try_into().map(u32::from_be_bytes).map_err(|_| refused())?;
    // Any number is a place in the list, be it before or after all there are.
    let index = long(20)?;
    let index = (index >= 0).then(|| u32::try_from(index).unwrap_or(u32::MAX));
    let task = TaskRef { no: TaskNo(no), index };
    Ok(ApprovalPlace { since: Timestamp(long(0)?), run: RunKey(long(8)?), task })
}

pub fn encode_name(name: &str) -> String {
    encode(name.as_bytes())
}

pub fn decode_name(cursor: &str) -> Result<String, Problem> {
    decode(cursor).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(refused)
}

pub fn encode_number(number: u64) -> String {
    encode(&number.to_be_bytes())
}

pub fn decode_number(cursor: &str) -> Result<u64, Problem> {
    let bytes = decode(cursor).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
    bytes.map(u64::from_be_bytes).ok_or_else(refused)
}

pub fn encode(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_come_back_and_rubbish_does_not() {
        let (at, id) = (Timestamp(-5), RunId::from_bytes([7; 16]));
        assert_eq!(decode_run(&encode_run(at, id)), Ok((at, id)));
        assert_eq!(decode_name(&encode_name("größe")), Ok("größe".to_owned()));
        assert_eq!(decode_number(&encode_number(9)), Ok(9));
        for index in [None, Some(0), Some(u32::MAX)] {
            let task = TaskRef { no: TaskNo(7), index };
            let place = ApprovalPlace { since: at, run: RunKey(9), task };
            assert_eq!(decode_approval(&encode_approval(place)), Ok(place));
        }
        for rubbish in ["", "0", "zz", "00", "é", &"0".repeat(50)] {
            assert!(decode_run(rubbish).is_err(), "{rubbish}");
            assert!(decode_approval(rubbish).is_err(), "{rubbish}");
            assert!(rubbish.is_empty() || decode_number(rubbish).is_err(), "{rubbish}");
        }
        assert!(decode_name("ff").is_err());
    }
}
