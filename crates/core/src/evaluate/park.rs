//! What exactly a control task waits for, once its templates have their values.

use super::desk::Stop;
use super::question::Parking;
use crate::error::shorten;
use crate::expr::{Scope, Text};
use crate::limits::{APPROVAL_MESSAGE_BYTES_MAX, SIGNAL_KEY_CHARS_MAX};
use crate::spec::control::{Approval, Control, Sleep, WaitFor};
use crate::time::Timestamp;

pub(super) fn parking(control: &Control, scope: &Scope<'_>) -> Result<Parking, Stop> {
    match control {
        Control::Sleep(Sleep::For(span)) => {
            let text = rendered(span, scope, "sleep")?;
            match crate::spec::duration(&text) {
                Ok(span) => Ok(Parking::For(span)),
                Err(hint) => Err(wrong("sleep", &text, "a duration", &hint)),
            }
        }
        Control::Sleep(Sleep::Until(moment)) => {
            let text = rendered(moment, scope, "sleep.until")?;
            let hint = "write it like 2030-01-31T06:00:00Z, with its zone";
            let moment = text.trim().parse::<Timestamp>();
            moment.map(Parking::Until).map_err(|_| wrong("sleep.until", &text, "a moment", hint))
        }
        Control::Wait(WaitFor { signal, .. }) => {
            let key = rendered(signal, scope, "wait.signal")?;
            match key.chars().count() {
                1..=SIGNAL_KEY_CHARS_MAX => Ok(Parking::Signal(key.into())),
                chars => Err(Stop::logic(format!(
                    "`wait.signal` comes to {chars} characters; a key has from 1 to \
                     {SIGNAL_KEY_CHARS_MAX}"
                ))),
            }
        }
        Control::Approval(approval) => {
            let Approval { message, .. } = &**approval;
            let message = rendered(message, scope, "approval.message")?;
            const { assert!(APPROVAL_MESSAGE_BYTES_MAX >= crate::limits::ERROR_MESSAGE_BYTES_MAX) };
            Ok(Parking::Approval(shorten(message).into()))
        }
        Control::Child(_) => {
            unreachable!("whoever begins child runs asks for their workflow first")
        }
    }
}

fn rendered(text: &Text, scope: &Scope<'_>, field: &str) -> Result<String, Stop> {
    Ok(text.render(scope).map_err(|trouble| trouble.at(field))?)
}

fn wrong(field: &str, found: &str, wanted: &str, hint: &str) -> Stop {
    let found: String = found.chars().take(100).collect();
    Stop::logic(format!("`{field}` came to {found:?}, which is not {wanted}: {hint}"))
}
