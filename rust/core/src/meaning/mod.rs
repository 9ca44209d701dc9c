//! What the categories of a column mean: how far any two are from each other.
//!
//! Distances are given one pair at a time, so that a kernel which works on a crowd of some hundred records gathers the small
//! block that it needs: no matrix is made of the categories of a line, of a tree or of values that are only equal or not,
//! and their number does not matter.

mod dag;
mod mean;
pub(crate) mod nested;
pub mod sets;
mod sums;
mod tree;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::taxonomy::measure::Edges;

pub use dag::Dag;
pub use mean::mean;
pub use sets::Sets;
pub(crate) use sums::Sums;
pub use tree::Tree;

/// Distances between the categories of a column.
#[derive(Debug, Clone, Copy)]
pub enum Meaning<'a> {
    /// A square matrix, row after row: symmetric, not negative, 0 on the diagonal. What is missing is a row like any other.
    Matrix {
        /// Distances from each category to all.
        distances: &'a [f64],
        /// Number of categories.
        categories: usize,
    },
    /// A position for each category: the distance is the difference. NaN stands for what is missing.
    Line {
        /// Position of each category.
        positions: &'a [f64],
        /// Distance of what is missing from everything else.
        gap: f64,
    },
    /// A number for each category: those with the same number are equal, all others are at distance 1.
    Equality(&'a [u32]),
    /// Concepts of a taxonomy in which none has two parents.
    Tree(&'a Tree),
    /// Concepts of any taxonomy.
    Dag(&'a Dag),
    /// Sets of items.
    Sets(Sets<'a>),
}

impl<'a> Meaning<'a> {
    /// A matrix of distances.
    pub fn matrix(distances: &'a [f64], categories: usize) -> Result<Self> {
        if distances.len() == categories * categories {
            return Ok(Self::Matrix { distances, categories });
        }
        Err(Error::Parameter(format!("{} distances for {categories} categories", distances.len())))
    }

    /// A line. What is missing is as far from everything as the two farthest are from each other, or 1 if there are no two.
    pub fn line(positions: &'a [f64]) -> Result<Self> {
        let known = || positions.iter().copied().filter(|x| !x.is_nan());
        let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
        let gap = if low < high { high - low } else { 1.0 };
        if gap.is_finite() {
            return Ok(Self::Line { positions, gap });
        }
        Err(Error::Parameter(format!("positions from {low} to {high} on one line")))
    }

    /// Fails unless all distances are finite and none is negative.
    pub fn check(self) -> Result<()> {
        let Self::Matrix { distances, categories } = self else { return Ok(()) };
        if categories.checked_mul(categories) != Some(distances.len()) {
            return Err(Error::Parameter(format!("{} distances for {categories} categories", distances.len())));
        }
        match distances.par_iter().find_any(|d| !(d.is_finite() && **d >= 0.0)) {
            Some(distance) => Err(Error::Parameter(format!("a distance of {distance} between categories"))),
            None => Ok(()),
        }
    }

    /// Number of categories.
    pub fn categories(self) -> usize {
        match self {
            Self::Matrix { categories, .. } => categories,
            Self::Line { positions, .. } => positions.len(),
            Self::Equality(numbers) => numbers.len(),
            Self::Tree(tree) => tree.categories(),
            Self::Dag(dag) => dag.categories(),
            Self::Sets(sets) => sets.categories(),
        }
    }

    /// The distance of two categories.
    #[inline]
    pub fn distance(self, a: u32, b: u32) -> f64 {
        match self {
            Self::Matrix { distances, categories } => distances[a as usize * categories + b as usize],
            Self::Line { positions, gap } => {
                let difference = (positions[a as usize] - positions[b as usize]).abs();
                if !difference.is_nan() {
                    difference
                } else if positions[a as usize].is_nan() && positions[b as usize].is_nan() {
                    0.0
                } else {
                    gap
                }
            }
            Self::Equality(numbers) => f64::from(numbers[a as usize] != numbers[b as usize]),
            Self::Tree(tree) => tree.distance(a, b),
            Self::Dag(dag) => dag.distance(a, b),
            Self::Sets(sets) => sets.distance(a, b),
        }
    }

    /// The distances of pairs of categories.
    pub fn pairs(self, a: &[u32], b: &[u32]) -> Result<Vec<f64>> {
        if a.len() != b.len() {
            return Err(Error::Parameter(format!("{} categories and {} others", a.len(), b.len())));
        }
        let categories = self.categories();
        if let Some(code) = a.iter().chain(b).find(|&&code| code as usize >= categories) {
            return Err(Error::Parameter(format!("code {code}, but there are {categories}")));
        }
        memory::require(size_of::<f64>() * a.len(), "distances of pairs")?;
        Ok(a.iter().zip(b).map(|(&a, &b)| self.distance(a, b)).collect())
    }

    /// A distance that no two categories exceed.
    pub fn largest(self) -> f64 {
        match self {
            Self::Matrix { distances, .. } => distances.par_iter().copied().reduce(|| 0.0, f64::max),
            Self::Line { gap, .. } => gap,
            Self::Equality(_) | Self::Sets(_) => 1.0,
            Self::Tree(tree) => tree.gap(),
            Self::Dag(dag) => dag.gap(),
        }
    }

    /// Sum of the squared distances over all ordered pairs, given some categories and how often each occurs.
    ///
    /// O(c) on a line and O(c log c) for values that are equal or not; else O(c²), on a tree mostly much less.
    pub fn squares(self, counted: &[(u32, u64)]) -> f64 {
        match self {
            Self::Line { positions, gap } => {
                let known =
                    || counted.iter().map(|&(c, n)| (positions[c as usize], n as f64)).filter(|x| !x.0.is_nan());
                let (number, sum) = known().fold((0.0, 0.0), |(number, sum), (x, n)| (number + n, sum + n * x));
                let missing = counted.iter().map(|x| x.1 as f64).sum::<f64>() - number;
                // Around the mean, so that no digits are lost.
                let mean = if number > 0.0 { sum / number } else { 0.0 };
                let within: f64 = known().map(|(x, n)| n * (x - mean).powi(2)).sum();
                2.0 * (number * within + number * missing * gap * gap)
            }
            Self::Equality(numbers) => {
                let mut equal: Vec<(u32, u64)> = counted.iter().map(|&(c, n)| (numbers[c as usize], n)).collect();
                equal.sort_unstable();
                let runs = equal.chunk_by(|a, b| a.0 == b.0).map(|run| run.iter().map(|x| x.1).sum::<u64>() as f64);
                let (all, same) = runs.fold((0.0, 0.0), |(all, same), n| (all + n, same + n * n));
                all * all - same
            }
            Self::Tree(tree) if counted.len().pow(2) > tree.work() => tree.squares(counted),
            _ => {
                let to_before = |i: usize, a: u32| {
                    counted[..i].iter().map(|&(b, n)| n as f64 * self.distance(a, b).powi(2)).sum::<f64>()
                };
                2.0 * counted.iter().enumerate().map(|(i, &(a, n))| n as f64 * to_before(i, a)).sum::<f64>()
            }
        }
    }

    /// Mean squared distance between two random records, given the category of each.
    pub fn spread(self, codes: &[u32], control: &Control) -> Result<f64> {
        let nodes = if let Self::Tree(tree) = self { tree.work() } else { 0 };
        memory::require(32 * self.categories() + 16 * nodes, "the spread of a column")?;
        let mut counts = vec![0u64; self.categories()];
        for &code in codes {
            counts[code as usize] += 1;
        }
        let counted: Vec<(u32, u64)> = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
        control.check()?;
        match self {
            Self::Sets(sets) => return sets.spread(&counted, control),
            Self::Dag(dag) => return dag.spread(&counted, control),
            _ => {}
        }
        let sum = if matches!(self, Self::Matrix { .. }) {
            let of_row = |&(a, n): &(u32, u64)| {
                control.check()?;
                Ok(n as f64 * counted.iter().map(|&(b, n)| n as f64 * self.distance(a, b).powi(2)).sum::<f64>())
            };
            // Summed up one after another, so that the sum does not depend on threads.
            counted.par_iter().map(of_row).collect::<Result<Vec<f64>>>()?.iter().sum()
        } else {
            self.squares(&counted)
        };
        Ok(sum / (codes.len() as f64).powi(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition.
    fn naive(meaning: Meaning<'_>, counted: &[(u32, u64)]) -> f64 {
        let pairs = counted.iter().flat_map(|&a| counted.iter().map(move |&b| (a, b)));
        pairs.map(|((a, m), (b, n))| (m * n) as f64 * meaning.distance(a, b).powi(2)).sum()
    }

    #[test]
    fn sums_in_closed_form_are_those_of_all_pairs() {
        let positions = [0.5, 3.0, f64::NAN, -2.0, 3.0];
        let numbers = [4, 0, 4, 9, 2];
        let counted = [(0, 3), (1, 1), (2, 2), (3, 7), (4, 5)];
        let matrix: Vec<f64> = (0..25i32).map(|cell| f64::from((cell / 5 - cell % 5).abs()).sqrt()).collect();
        let meanings =
            [Meaning::line(&positions).unwrap(), Meaning::Equality(&numbers), Meaning::matrix(&matrix, 5).unwrap()];
        for meaning in meanings {
            for some in [&counted[..], &counted[2..3], &counted[1..], &[]] {
                let (found, expected) = (meaning.squares(some), naive(meaning, some));
                assert!((found - expected).abs() <= 1e-12 * expected, "{meaning:?}: {found} {expected}");
            }
            let codes: Vec<u32> = counted.iter().flat_map(|&(c, n)| std::iter::repeat_n(c, n as usize)).collect();
            let spread = meaning.spread(&codes, &Control::new()).unwrap();
            assert!((spread - naive(meaning, &counted) / 18.0 / 18.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_missing_is_as_far_as_the_farthest() {
        let line = Meaning::line(&[2.0, f64::NAN, 7.0, f64::NAN]).unwrap();
        assert_eq!(
            (line.distance(0, 1), line.distance(1, 3), line.distance(2, 0), line.largest()),
            (5.0, 0.0, 5.0, 5.0)
        );
        assert_eq!(Meaning::line(&[2.0, f64::NAN]).unwrap().distance(1, 0), 1.0);
        assert!(Meaning::line(&[0.0, f64::INFINITY]).is_err());
        assert!(Meaning::matrix(&[0.0; 5], 2).is_err());
    }
}
