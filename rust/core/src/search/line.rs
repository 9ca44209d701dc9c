//! Numbers on a line, whose distance is their difference: no matrix is needed, however many there are.

use super::scale::{Distance, common_multiple, denominator};
use crate::error::{Error, Result};

/// Rounding errors of a number that was computed in a step or two, relative to it.
const ERROR: f64 = 1.0 / (1u64 << 51) as f64;
/// Whole numbers up to this have no such errors.
const WHOLE: f64 = (1u64 << 53) as f64;
/// Errors of a difference that are put down to rounding.
const SLACK: f64 = 4.0;

/// The distinct numbers of a line, counted from the smallest, before they have a unit.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// Ascending, beginning with 0.
    values: Vec<f64>,
    /// Rank of each code among them; their number, where the code stands for what is missing.
    ranks: Vec<u32>,
    /// By how much a value may be wrong.
    errors: Errors,
    /// A number by which all values become whole, if they are fractions.
    pub multiple: Option<u64>,
}

impl Numbers {
    /// Ranks the position of each code; NaN stands for what is missing.
    pub fn new(positions: &[f64]) -> Result<Self> {
        let mut known: Vec<f64> = positions.iter().copied().filter(|x| !x.is_nan()).collect();
        known.sort_unstable_by(f64::total_cmp);
        known.dedup();
        let (low, high) = (known.first().copied().unwrap_or(0.0), known.last().copied().unwrap_or(0.0));
        if !(high - low).is_finite() {
            return Err(Error::Parameter(format!("positions from {low} to {high} on one line")));
        }
        let rank = |x: &f64| known.partition_point(|y| y < x) as u32;
        let each = positions.iter().map(|x| if x.is_nan() { known.len() as u32 } else { rank(x) });
        let ranks = each.collect();
        let largest = f64::max(-low, high);
        let whole = largest <= WHOLE && known.iter().all(|x| x.fract() == 0.0);
        let errors =
            if whole { Errors { origin: 0.0, share: 0.0 } } else { Errors { origin: low.abs(), share: ERROR } };
        let values: Vec<f64> = known.iter().map(|x| x - low).collect();
        let multiple = if whole { Some(1) } else { multiple(&values, errors) };
        Ok(Self { values, ranks, errors, multiple })
    }

    /// By how much the largest value may be wrong.
    pub fn error(&self) -> f64 {
        self.errors.of(self.largest())
    }

    /// The distance of a missing value from every other: the largest on the line, or 1.
    pub fn largest(&self) -> f64 {
        self.values.last().copied().filter(|&x| x > 0.0).unwrap_or(1.0)
    }

    /// The line in a unit of which there are `scale` in 1.
    pub fn scaled(self, scale: f64) -> Line {
        let mut positions: Vec<Distance> = Vec::with_capacity(self.values.len());
        let mut before = None;
        for &value in &self.values {
            let position = (value * scale).round() as Distance;
            // Numbers that differ stay apart, however near they are.
            let least = match (before, positions.last()) {
                (Some(x), Some(&last)) => last + Distance::from(value - x > SLACK * self.errors.of(value)),
                _ => 0,
            };
            positions.push(position.max(least));
            before = Some(value);
        }
        let gap = positions.last().copied().filter(|&x| x > 0).unwrap_or(scale.round() as Distance);
        Line { positions, gap, ranks: self.ranks }
    }
}

/// Rounding errors of values that are differences from the smallest number.
#[derive(Debug, Clone, Copy)]
struct Errors {
    /// Size of the smallest number.
    origin: f64,
    /// Error of a number, relative to it.
    share: f64,
}

impl Errors {
    fn of(self, value: f64) -> f64 {
        (self.origin + value) * self.share
    }
}

/// A line in a common unit. Its categories are the ranks of the numbers; one more stands for what is missing.
#[derive(Debug)]
pub(crate) struct Line {
    /// Position of each rank, ascending.
    pub positions: Vec<Distance>,
    /// Distance of what is missing from all else: no less than any other.
    pub gap: Distance,
    /// Category of each code.
    pub ranks: Vec<u32>,
}

/// A number by which all values become whole, if they are fractions up to their errors.
fn multiple(values: &[f64], errors: Errors) -> Option<u64> {
    let is_whole = |&multiple: &u64| {
        let by = multiple as f64;
        let fits = |&x: &f64| (x * by - (x * by).round()).abs() <= SLACK * errors.of(x) * by;
        // Errors have to be small beside the unit for it to be more than a guess.
        let largest = values.last().map_or(0.0, |&x| errors.of(x));
        SLACK * largest * by < 0.05 && values.iter().all(fits)
    };
    // Small denominators are seen in each value by itself, the size of a range in all of them only.
    let small = common_multiple(values, 1).filter(is_whole);
    small.or_else(|| {
        let step = step(values, errors)?;
        // Of all steps from 0 to 1 there may be a fraction: all values are even, or the like.
        let steps = denominator(1.0 / step).unwrap_or(1) as f64 / step;
        Some(steps.round() as u64).filter(|multiple| *multiple > 0 && is_whole(multiple))
    })
}

/// The largest number of which all values are multiples, up to their errors: Euclid's algorithm, value after value.
///
/// A step found from small values is uncertain; each larger value that is a multiple makes it more exact.
fn step(values: &[f64], errors: Errors) -> Option<f64> {
    let mut step = *values.get(1)?;
    let mut uncertain = errors.of(step);
    for &value in &values[1..] {
        let error = errors.of(value);
        let rest = (value - (value / step).round() * step).abs();
        let uncertain_rest = error + value / step * uncertain;
        if rest > SLACK * uncertain_rest {
            let (mut a, mut b) = (step, rest);
            while b > SLACK * (step / b) * uncertain_rest {
                (a, b) = (b, (a - (a / b).round() * b).abs());
            }
            (step, uncertain) = (a, step / a * uncertain_rest);
        }
        let times = (value / step).round();
        if error + times * uncertain > 0.25 * step {
            return None;
        }
        (step, uncertain) = (value / times, error / times);
    }
    Some(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::ordered::Ordered;

    #[test]
    fn fractions_of_a_large_range_are_recognised() {
        for range in [1u64, 7, 1_000, 32_094, 1_234_567, 99_999_989, 3_000_000_019] {
            let whole = (0..500u64).map(|i| i * i * i % (range + 1)).chain([0, range]);
            let positions: Vec<f64> = whole.clone().map(|x| x as f64 / range as f64).collect();
            let numbers = Numbers::new(&positions).unwrap();
            let multiple = numbers.multiple.unwrap_or_else(|| panic!("{range}"));
            let line = Ordered::line(numbers.scaled(multiple as f64));
            let whole: Vec<u64> = whole.collect();
            for (i, &x) in whole.iter().enumerate() {
                let found = line.distance(line.categories[0], line.categories[i]);
                assert_eq!(found * range, x * multiple, "{x} of {range}");
            }
        }
    }

    #[test]
    fn whole_and_decimal_numbers() {
        let multiple = |positions: &[f64]| Numbers::new(positions).unwrap().multiple;
        assert_eq!(multiple(&[3.0, -2.0, f64::NAN, 9e15]), Some(1));
        assert_eq!(multiple(&[0.1, 0.25, 17.5, 1e6 + 0.01]), Some(100));
        assert_eq!(multiple(&[0.5, 0.5 + 1.0 / 3.0, 7.5]), Some(3));
        assert_eq!(multiple(&[5.0 / 100_003.0, 9.0 / 100_003.0]), Some(100_003));
        assert_eq!(multiple(&[]), Some(1));
        let logarithms: Vec<f64> = (1..200).map(|i| f64::from(i).ln()).collect();
        assert_eq!(multiple(&logarithms), None);
    }

    #[test]
    fn missing_is_as_far_as_the_farthest() {
        let line = Ordered::line(Numbers::new(&[2.0, f64::NAN, 7.0, 2.5]).unwrap().scaled(10.0));
        assert_eq!(line.categories, [0, 3, 2, 1]);
        assert_eq!((line.distance(3, 0), line.distance(3, 3), line.distance(1, 2)), (50, 0, 45));
        let flat = Ordered::line(Numbers::new(&[2.0, f64::NAN]).unwrap().scaled(10.0));
        assert_eq!(flat.distance(0, 1), 10);
    }

    #[test]
    fn near_numbers_stay_apart() {
        let line = Numbers::new(&[0.0, 1e-9, 2e-9, 1e12]).unwrap().scaled(1.0);
        assert_eq!(line.positions, [0, 1, 2, 1_000_000_000_000]);
    }

    #[test]
    fn no_line_is_endless() {
        assert!(Numbers::new(&[0.0, f64::INFINITY]).is_err());
        assert!(Numbers::new(&[f64::MIN, f64::MAX]).is_err());
    }
}
