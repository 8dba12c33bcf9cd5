//! Server-sent events, from pieces of bytes to whole events.

/// Of one event; a server's are far smaller.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub data: String,
    pub id: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("an event of more than {EVENT_BYTES_MAX} bytes")]
pub struct TooLarge;

#[derive(Debug, Default)]
pub struct Parser {
    /// The beginning of a line.
    begun: Vec<u8>,
    event: Event,
    has_data: bool,
}

impl Parser {
    /// Takes a piece; gives the events that it completes.
    pub fn take(&mut self, piece: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        let mut parts = piece.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            self.begun.extend_from_slice(part);
            if parts.peek().is_some() {
                let line = std::mem::take(&mut self.begun);
                events.extend(self.line(&line));
            }
            if self.begun.len() + self.event.data.len() > EVENT_BYTES_MAX {
                return Err(TooLarge);
            }
        }
        Ok(events)
    }

    fn line(&mut self, line: &[u8]) -> Option<Event> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = String::from_utf8_lossy(line);
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "id" => self.event.id = Some(value.to_owned()),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
                self.has_data = true;
            }
            // Comments keep the connection alive; other fields are none of ours.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = ": hello\n\nevent: run\ndata: {\"a\":1}\nid: x:1\n\ndata:b\r\ndata: c\r\n\r\n\
                    retry: 1\n\nevent: unended";
        let event = |name: &str, data: &str, id: Option<&str>| Event {
            name: name.to_owned(),
            data: data.to_owned(),
            id: id.map(str::to_owned),
        };
        let expected = [event("run", "{\"a\":1}", Some("x:1")), event("", "b\nc", None)];
        for size in 1..text.len() {
            let mut parser = Parser::default();
            let mut found = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                found.extend(parser.take(piece).expect("small"));
            }
            assert_eq!(found, expected, "{size}");
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; EVENT_BYTES_MAX / 2];
        assert!(parser.take(&piece).is_ok());
        assert!(parser.take(&piece).is_ok());
        assert!(parser.take(b"x").is_err());
    }
}
