//! When a task is tried again: retries, losses, refused starts. Pure arithmetic.

use crate::error::ErrorClass;
use crate::limits::{LOSS_DELAY, LOSS_FACTOR, LOSSES_MAX, REFUSED_DELAY, REFUSED_DELAY_MAX};
use crate::spec::definition::{OnLost, Retries, RetryClasses};
use crate::time::Span;

/// What follows an attempt that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    After(Span),
    Never,
}

impl Retries {
    fn covers(&self, class: ErrorClass) -> bool {
        class.may_retry()
            && match &self.classes {
                RetryClasses::All => true,
                RetryClasses::Only(classes) => classes.contains(&class),
                RetryClasses::AllBut(classes) => !classes.contains(&class),
            }
    }

    /// `delay × factor^(n-1)`, capped. `n` counts failures from 1.
    fn pause(&self, n: u32) -> Span {
        let exponent = i32::try_from(n.saturating_sub(1)).unwrap_or(i32::MAX);
        let grown = self.delay.0 as f64 * self.factor.powi(exponent);
        // A float beyond u64 saturates in the cast; the cap then applies.
        Span((grown as u64).min(self.max_delay.0))
    }
}

/// After the `tries`-th counted failure. `chance` is in [0, 1).
pub fn after_failure(retries: &Retries, class: ErrorClass, tries: u32, chance: f64) -> Again {
    if tries > retries.max || !retries.covers(class) {
        return Again::Never;
    }
    let pause = retries.pause(tries);
    Again::After(if retries.jitter { Span((pause.0 as f64 * chance) as u64) } else { pause })
}

/// After the `losses`-th loss.
pub fn after_loss(on_lost: OnLost, losses: u32) -> Again {
    if on_lost == OnLost::Fail || losses > LOSSES_MAX {
        return Again::Never;
    }
    Again::After(Span(LOSS_DELAY.0 * LOSS_FACTOR.pow(losses.saturating_sub(1))))
}

/// After the `refusals`-th refused start in a row, which together took so long already.
pub fn after_refusal(start_timeout: Span, refusals: u32, refused_for: Span) -> Again {
    let left = start_timeout.0.saturating_sub(refused_for.0);
    if left == 0 {
        return Again::Never;
    }
    Again::After(Span(after_hindrance(refusals).0.min(left)))
}

/// The same for what waits for a person, without an end.
pub fn after_hindrance(times: u32) -> Span {
    let doubled = REFUSED_DELAY.0.saturating_mul(1 << times.saturating_sub(1).min(16));
    Span(doubled.min(REFUSED_DELAY_MAX.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::RETRY_DELAY_MAX_DEFAULT;

    fn retries(max: u32) -> Retries {
        Retries {
            max,
            delay: Span::from_secs(1),
            factor: 2.0,
            max_delay: RETRY_DELAY_MAX_DEFAULT,
            jitter: false,
            classes: RetryClasses::All,
        }
    }

    #[test]
    fn two_retries_make_three_tries() {
        let policy = retries(2);
        let again = |tries| after_failure(&policy, ErrorClass::Exit, tries, 0.0);
        assert_eq!(again(1), Again::After(Span::from_secs(1)));
        assert_eq!(again(2), Again::After(Span::from_secs(2)));
        assert_eq!(again(3), Again::Never);
    }

    #[test]
    fn delays_grow_to_their_cap_and_never_overflow() {
        let policy = Retries { factor: 1e6, ..retries(10_000) };
        for tries in [3, 40, 9_999] {
            let again = after_failure(&policy, ErrorClass::Exit, tries, 0.0);
            assert_eq!(again, Again::After(RETRY_DELAY_MAX_DEFAULT));
        }
    }

    #[test]
    fn jitter_is_full() {
        let policy = Retries { jitter: true, ..retries(1) };
        let again = after_failure(&policy, ErrorClass::Exit, 1, 0.25);
        assert_eq!(again, Again::After(Span::from_ms(250)));
    }

    #[test]
    fn classes_decide() {
        let only = Retries { classes: RetryClasses::Only(vec![ErrorClass::Exit]), ..retries(1) };
        assert_eq!(after_failure(&only, ErrorClass::Timeout, 1, 0.0), Again::Never);
        let but = Retries { classes: RetryClasses::AllBut(vec![ErrorClass::Exit]), ..retries(1) };
        assert_eq!(after_failure(&but, ErrorClass::Exit, 1, 0.0), Again::Never);
        let all = retries(1);
        assert_eq!(after_failure(&all, ErrorClass::Rejected, 1, 0.0), Again::Never);
    }
}
