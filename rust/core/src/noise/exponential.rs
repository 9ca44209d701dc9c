//! The exponential mechanism (`McSherry` and Talwar 2007) with the score "minus distance".

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;

use super::circles::{Circles, Side};
use super::{Column, scatter};
use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::rng::{Stream, Streams};

/// Replaces each value by a concept, each with a chance in proportion to `exp(−epsilon·distance/2)`; the value itself is
/// a candidate. Distances must not exceed 1. `place` is that of the column in its table. O(d·V + n log V).
pub fn exponential(
    column: Column<'_>,
    epsilon: f64,
    streams: &Streams,
    place: u32,
    control: &Control,
) -> Result<Vec<u32>> {
    column.check()?;
    if !(epsilon.is_finite() && epsilon > 0.0) {
        return Err(Error::Parameter(format!("epsilon={epsilon}: a number above 0 is needed")));
    }
    memory::require(column.needs(), "noise")?;
    let records = column.records();
    let stream = Stream::NoiseChoice { column: place, part: 0 };
    control.begin((column.concepts.len() + records.total()) as u64);
    let work =
        |category: usize, row: &[f64], members: &[u32], rng: &mut ChaCha20Rng, found: &mut Vec<u32>, (): &mut ()| {
            let own = column.concepts[category];
            let mut circles = Circles::default();
            circles.draw(own, row, |_| Side::Level);
            // The value itself weighs 1; the circles follow.
            let mut sum = 1.0;
            let sums = circles.radii().iter().enumerate().map(|(circle, radius)| {
                sum += circles.all(circle).len() as f64 * (-epsilon * radius / 2.0).exp();
                sum
            });
            let sums: Vec<f64> = sums.collect();
            for _ in members {
                let at = rng.random::<f64>() * sum;
                let drawn = if at < 1.0 {
                    None
                } else {
                    let circle = sums.partition_point(|&s| s <= at).min(sums.len() - 1);
                    circles.all(circle).choose(rng).copied()
                };
                found.push(drawn.unwrap_or(own));
            }
        };
    let (found, _) = column.by_category(&records, streams, stream, control, work)?;
    let mut concepts = vec![MISSING; column.codes.len()];
    scatter(&records, found, &mut concepts);
    Ok(concepts)
}
