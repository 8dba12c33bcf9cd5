//! Several measurements of one thing.

/// The middle and the ends of what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// At least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let median = f64::midpoint(values[last / 2], values[values.len() / 2]);
        Self { median, min: values[0], max: values[last] }
    }
}

/// A figure and its floor, taken one right after the other.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub figure: f64,
    pub floor: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        let spread = |values: &[f64]| Spread::of(values.iter().copied());
        assert_eq!(spread(&[3.0, 1.0, 2.0]), Spread { median: 2.0, min: 1.0, max: 3.0 });
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]).median, 2.5);
        assert_eq!(spread(&[4.0]).median, 4.0);
    }
}
