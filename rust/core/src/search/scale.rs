//! Distances as whole numbers, so that sums over attributes are exact and equal sums are equal numbers.
//!
//! Distances such as Wu–Palmer's or path lengths are fractions with small denominators: all are multiplied by the least
//! common multiple of these. Where some distance is no such fraction (logarithmic measures, measured distances), or the
//! multiple is too large, all are rounded to a grid of 2^-48 of the largest sum: a sum then does not depend on the order
//! of the attributes, but sums that are equal only by an identity between logarithms may differ in the last digit, as
//! they would in floating point. Differences on lines of fractions are whole on that grid too.

use rayon::prelude::*;

use super::line::{Line, Numbers};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::tuples::Attribute;

/// A distance between categories, or a sum of such over the attributes, in a unit common to all attributes.
pub(crate) type Distance = u64;

/// Largest denominator that is recognised. Larger ones would make accidental fractions of arbitrary numbers.
const DENOMINATOR: u64 = 4096;
/// How far a distance may be from the fraction it stands for, relative to it.
const TOLERANCE: f64 = 1e-14;
/// Sums of distances stay below this where they are whole: larger products are not rounded to the right number.
const LARGEST: f64 = (1u64 << 51) as f64;
/// Steps of the grid that the largest sum has where distances are no fractions.
const GRID: f64 = (1u64 << 48) as f64;

/// The categories of an attribute that occur, numbered anew without gaps, and their distances.
#[derive(Debug)]
pub(crate) struct Space {
    distances: Vec<Distance>,
    /// Records of each category.
    pub counts: Vec<u64>,
    /// The code that each category had.
    pub codes: Vec<u32>,
}

impl Space {
    /// Number of categories.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Distances from each category to all, category after category.
    pub fn distances(&self) -> &[Distance] {
        &self.distances
    }

    /// Distances from one category to all.
    #[inline]
    pub fn row(&self, category: u32) -> &[Distance] {
        &self.distances[category as usize * self.len()..][..self.len()]
    }

    /// The category of each code, of so many; 0 for those that do not occur.
    pub fn renumbered(&self, codes: usize) -> Vec<u32> {
        let mut renumbered = vec![0; codes];
        for (category, &code) in (0u32..).zip(&self.codes) {
            renumbered[code as usize] = category;
        }
        renumbered
    }

    /// Whether different categories lie at distance 0.
    pub fn has_twins(&self) -> bool {
        (0..self.len()).any(|a| self.row(a as u32).iter().enumerate().any(|(b, &x)| x == 0 && a != b))
    }
}

/// The spaces of all attributes, in a common unit, given how many records each category has.
pub(crate) fn spaces(attributes: &[Attribute<'_>], counts: Vec<Vec<u64>>, control: &Control) -> Result<Vec<Space>> {
    Ok(measured(attributes, counts, Vec::new(), control)?.spaces)
}

/// Attributes in a common unit.
pub(crate) struct Measured {
    pub spaces: Vec<Space>,
    pub lines: Vec<Line>,
    /// Units in a distance of 1.
    pub scale: f64,
}

/// The spaces of attributes with matrices, given how many records each category has, and the lines of others.
pub(crate) fn measured(
    attributes: &[Attribute<'_>],
    counts: Vec<Vec<u64>>,
    lines: Vec<Numbers>,
    control: &Control,
) -> Result<Measured> {
    let present: Vec<Vec<u32>> = counts
        .iter()
        .map(|counts| (0..counts.len() as u32).filter(|&code| counts[code as usize] > 0).collect())
        .collect();
    let squares = || present.iter().map(|codes| codes.len() * codes.len());
    // Distances between the categories that occur, and, of one attribute after another, which of them are different.
    let distances = size_of::<Distance>() * (squares().sum::<usize>() + squares().max().unwrap_or(0));
    memory::require(distances, "distances between categories")?;
    let mut levels = Vec::new();
    let mut largest_sum = 0.0;
    for (attribute, codes) in attributes.iter().zip(&present) {
        let found = distinct(attribute, codes, control)?;
        largest_sum += found.last().copied().unwrap_or(0.0);
        levels.extend(found);
    }
    let scale = unit(&levels, largest_sum, &lines);
    let lines = lines.into_iter().map(|numbers| numbers.scaled(scale)).collect();
    let mut spaces = Vec::with_capacity(attributes.len());
    for ((attribute, codes), counts) in attributes.iter().zip(present).zip(counts) {
        let mut distances = vec![0; codes.len() * codes.len()];
        distances.par_chunks_mut(codes.len().max(1)).zip(&codes).try_for_each(|(scaled, &code)| {
            for (cell, &other) in scaled.iter_mut().zip(&codes) {
                *cell = (attribute.meaning.distance(code, other) * scale).round() as Distance;
            }
            control.check()
        })?;
        let counts = codes.iter().map(|&code| counts[code as usize]).collect();
        spaces.push(Space { distances, counts, codes });
    }
    Ok(Measured { spaces, lines, scale })
}

/// How many units a distance of 1 has, given the distances by matrices and the largest sum of these.
fn unit(levels: &[f64], largest_sum: f64, lines: &[Numbers]) -> f64 {
    let all = largest_sum + lines.iter().map(Numbers::largest).sum::<f64>();
    let of_lines = lines.iter().try_fold(1, |multiple, line| common(multiple, line.multiple?));
    // Rounding puts right what the level and the product lost only while a unit is more than they lost.
    let lost = lines.iter().map(Numbers::error).fold(largest_sum * TOLERANCE, f64::max);
    let is_small = |multiple: &f64| multiple * all < LARGEST && multiple * lost < 0.25;
    let whole = of_lines.and_then(|first| common_multiple(levels, first)).map(|multiple| multiple as f64);
    whole.filter(is_small).unwrap_or_else(|| {
        let grid = GRID / f64::max(all, f64::MIN_POSITIVE);
        match of_lines {
            Some(multiple) if !lines.is_empty() && grid >= multiple as f64 => grid - grid % multiple as f64,
            _ => grid,
        }
    })
}

/// The distinct distances between some categories, ascending.
fn distinct(attribute: &Attribute<'_>, codes: &[u32], control: &Control) -> Result<Vec<f64>> {
    let rows = codes.par_iter().map(|&code| {
        control.check()?;
        let mut levels: Vec<f64> = codes.iter().map(|&other| attribute.meaning.distance(code, other)).collect();
        if let Some(wrong) = levels.iter().find(|x| !x.is_finite() || **x < 0.0) {
            return Err(Error::Parameter(format!("a distance of {wrong} between categories")));
        }
        sort(&mut levels);
        Ok(levels)
    });
    rows.try_reduce(Vec::new, |mut a, mut b| {
        a.append(&mut b);
        sort(&mut a);
        Ok(a)
    })
}

fn sort(levels: &mut Vec<f64>) {
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
}

/// A multiple of the first number by which all levels become whole, if they are fractions.
pub(super) fn common_multiple(levels: &[f64], first: u64) -> Option<u64> {
    levels.iter().try_fold(first, |multiple, &level| common(multiple, denominator(level)?))
}

/// The least common multiple of two numbers.
fn common(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b)
}

/// The denominator of the simplest fraction that a number stands for, by continued fractions.
pub(super) fn denominator(x: f64) -> Option<u64> {
    let tolerance = TOLERANCE * x;
    let (mut before, mut q) = (0u64, 1u64);
    let mut rest = x;
    loop {
        if ((x * q as f64).round() / q as f64 - x).abs() <= tolerance {
            return Some(q);
        }
        rest = 1.0 / (rest - rest.floor());
        if !rest.is_finite() || rest >= DENOMINATOR as f64 {
            return None;
        }
        (before, q) = (q, rest as u64 * q + before);
        if q > DENOMINATOR {
            return None;
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::Meaning;

    fn scaled(matrices: &[Vec<f64>]) -> Vec<Space> {
        let codes: Vec<Vec<u32>> = matrices.iter().map(|m| (0..m.len().isqrt() as u32).collect()).collect();
        let attributes: Vec<Attribute<'_>> = matrices
            .iter()
            .zip(&codes)
            .map(|(distances, codes)| Attribute {
                codes,
                meaning: Meaning::matrix(distances, codes.len()).unwrap(),
                missing: None,
            })
            .collect();
        let counts = codes.iter().map(|c| vec![1; c.len()]).collect();
        spaces(&attributes, counts, &Control::new()).unwrap()
    }

    #[test]
    fn fractions_become_whole() {
        let first = [0.0, 1.0 / 3.0, 1.0 / 3.0, 0.0].to_vec();
        let second = [0.0, 3.0 / 11.0, 1.0 / 6.0, 3.0 / 11.0, 0.0, 0.5, 1.0 / 6.0, 0.5, 0.0].to_vec();
        let found = scaled(&[first, second]);
        assert_eq!(found[0].row(0), [0, 22]);
        assert_eq!(found[1].row(0), [0, 18, 11]);
        assert_eq!(found[0].row(0)[1] + found[1].row(0)[2], found[1].row(1)[2]);
    }

    #[test]
    fn every_small_fraction_is_recognised() {
        for q in 1..200u64 {
            for p in 0..3 * q {
                let found = denominator(p as f64 / q as f64);
                assert_eq!(found, Some(q / gcd(p, q)), "{p}/{q}");
            }
        }
        assert_eq!(denominator(std::f64::consts::LN_2), None);
    }

    #[test]
    fn other_numbers_keep_their_order() {
        let x = std::f64::consts::LN_2;
        let found = scaled(&[[0.0, x, x, 0.0].to_vec(), [0.0, x * (1.0 + 1e-9), x * (1.0 + 1e-9), 0.0].to_vec()]);
        assert!(found[0].row(0)[1] < found[1].row(0)[1]);
    }

    #[test]
    fn impossible_distances_are_refused() {
        let distances = [0.0, f64::NAN, f64::NAN, 0.0];
        let attribute = Attribute { codes: &[0, 1], meaning: Meaning::matrix(&distances, 2).unwrap(), missing: None };
        assert!(spaces(&[attribute], vec![vec![1, 1]], &Control::new()).is_err());
    }
}
