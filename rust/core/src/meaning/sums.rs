//! Sums of distances from each category to many.

use rayon::prelude::*;

use super::Meaning;
use super::nested::Nested;
use crate::error::Result;
use crate::memory;

/// What needs memory here.
const WHAT: &str = "sums of distances";

/// A meaning, ready to sum up distances again and again.
#[derive(Debug)]
pub(crate) struct Sums<'a> {
    meaning: Meaning<'a>,
    how: How,
}

#[derive(Debug)]
enum How {
    /// Known categories in the order of their positions.
    Line(Vec<u32>),
    Nested(Nested),
    /// Pair after pair.
    Pairs,
}

impl<'a> Sums<'a> {
    /// O(d log d) for `d` categories; for a matrix nothing.
    pub(crate) fn new(meaning: Meaning<'a>) -> Result<Self> {
        let how = match meaning {
            Meaning::Line { positions, .. } => {
                memory::require(4 * positions.len(), WHAT)?;
                let mut order = Vec::with_capacity(positions.len());
                order.extend((0..positions.len() as u32).filter(|&c| !positions[c as usize].is_nan()));
                order.par_sort_unstable_by(|&a, &b| {
                    positions[a as usize].total_cmp(&positions[b as usize]).then(a.cmp(&b))
                });
                How::Line(order)
            }
            _ => Nested::new(meaning)?.map_or(How::Pairs, How::Nested),
        };
        Ok(Self { meaning, how })
    }

    pub(crate) fn meaning(&self) -> Meaning<'a> {
        self.meaning
    }

    /// The groups of the categories, if they are nested.
    pub(crate) fn nested(&self) -> Option<&Nested> {
        if let How::Nested(nested) = &self.how { Some(nested) } else { None }
    }

    /// Whether sums go through all pairs.
    pub(crate) fn by_pairs(&self) -> bool {
        matches!(self.how, How::Pairs)
    }

    /// Bytes that [`Sums::fill`] takes, with weights for so many categories.
    pub(crate) fn needs(&self, weighted: usize) -> usize {
        match &self.how {
            How::Line(order) => 8 * order.len(),
            How::Nested(nested) => nested.needs(weighted),
            How::Pairs => 0,
        }
    }

    /// For each category, the sum of its distances to some, each times its weight.
    ///
    /// O(d) on a line, O(d · weights) for a matrix; else O(d · the classes in all groups of a category).
    pub(crate) fn fill(&self, weights: &[(u32, f64)], sums: &mut [f64]) {
        match (&self.how, self.meaning) {
            (How::Line(order), Meaning::Line { positions, gap }) => along(positions, gap, order, weights, sums),
            (How::Nested(nested), _) => nested.sums(weights, sums),
            (_, meaning) => sums.par_iter_mut().enumerate().with_min_len(256).for_each(|(c, sum)| {
                *sum = weights.iter().map(|&(other, weight)| weight * meaning.distance(c as u32, other)).sum();
            }),
        }
    }
}

fn along(positions: &[f64], gap: f64, order: &[u32], weights: &[(u32, f64)], sums: &mut [f64]) {
    let mut weight = vec![0.0; positions.len()];
    let (mut known, mut moment, mut missing) = (0.0, Total::default(), 0.0);
    let low = order.first().map_or(0.0, |&c| positions[c as usize]);
    for &(category, w) in weights {
        let at = positions[category as usize];
        if at.is_nan() {
            missing += w;
        } else {
            weight[category as usize] += w;
            known += w;
            moment.add(w * (at - low));
        }
    }
    sums.fill(known * gap);
    let (mut below, mut moment_below) = (0.0, Total::default());
    for &category in order {
        let (category, at) = (category as usize, positions[category as usize] - low);
        below += weight[category];
        moment_below.add(weight[category] * at);
        sums[category] = at * (2.0 * below - known) - 2.0 * moment_below.sum + moment.sum + missing * gap;
    }
}

/// A sum that keeps what rounding takes away (Kahan), so that sums over many values that are equal stay so.
#[derive(Default)]
struct Total {
    sum: f64,
    lost: f64,
}

impl Total {
    fn add(&mut self, term: f64) {
        let term = term - self.lost;
        let sum = self.sum + term;
        self.lost = (sum - self.sum) - term;
        self.sum = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxonomy::{Measure, Taxonomy};

    #[test]
    fn sums_are_those_of_all_pairs() {
        let positions = [0.5, 3.0, f64::NAN, -2.0, 3.0];
        let matrix: Vec<f64> = (0..25i32).map(|cell| f64::from((cell / 5 - cell % 5).abs()).sqrt()).collect();
        let taxonomy = Taxonomy::new(7, &[1, 2, 3, 4, 5, 6], &[0, 0, 1, 1, 2, 4]).unwrap();
        let trees: Vec<super::super::Tree> = [Measure::Path, Measure::WuPalmer, Measure::TaxonomicFeature]
            .iter()
            .map(|measure| super::super::Tree::new(&taxonomy, &[6, 3, crate::MISSING, 2, 6], measure).unwrap())
            .collect();
        let mut meanings = vec![
            Meaning::line(&positions).unwrap(),
            Meaning::Equality(&[4, 0, 4, 9, 2]),
            Meaning::matrix(&matrix, 5).unwrap(),
        ];
        meanings.extend(trees.iter().map(Meaning::Tree));
        for meaning in meanings {
            let sums = Sums::new(meaning).unwrap();
            for weights in [vec![(0, 3.0), (1, 1.0), (2, 2.0), (3, 7.0), (4, 5.0)], vec![(2, 4.0)], vec![]] {
                let mut found = vec![1.0; 5];
                sums.fill(&weights, &mut found);
                for (c, found) in (0..).zip(found) {
                    let naive: f64 = weights.iter().map(|&(other, w)| w * meaning.distance(c, other)).sum();
                    assert!((found - naive).abs() < 1e-12, "{meaning:?} {c}: {found} {naive}");
                }
            }
        }
    }
}
