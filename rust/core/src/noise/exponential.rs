//! The exponential mechanism (`McSherry` and Talwar 2007) with the score "minus distance".

use rand::RngExt;

use super::circles::{Circles, Drawn, Row};
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
    let work = |category: usize, row: Row<'_>, circles: &mut Circles, found: &mut Vec<u32>, (): &mut ()| {
        let own = column.concepts[category];
        let mut rng = streams.generator(stream, category as u32);
        circles.draw(own, row, None);
        // The value itself weighs 1; the circles follow.
        let mut sum = 1.0;
        let some = (0..circles.radii().len()).filter(|&circle| circles.on(circle) > 0);
        let sums: Vec<(usize, f64)> = some
            .map(|circle| {
                sum += circles.on(circle) as f64 * (-epsilon * circles.radii()[circle] / 2.0).exp();
                (circle, sum)
            })
            .collect();
        let draw = |_: &u32| {
            let at = rng.random::<f64>() * sum;
            (at >= 1.0).then(|| {
                let (circle, _) = sums[sums.partition_point(|&(_, s)| s <= at).min(sums.len() - 1)];
                circles.draw_from(circle, None, &mut rng)
            })
        };
        let drawn: Vec<Option<Drawn>> = records.of(category).iter().map(draw).collect();
        circles.collect(drawn.iter().flatten().copied());
        found.extend(drawn.into_iter().map(|drawn| drawn.map_or(own, |drawn| circles.concept(drawn))));
        Ok(())
    };
    let (found, _) = column.by_category(&records, 1, control, work)?;
    let mut concepts = vec![MISSING; column.codes.len()];
    scatter(&records, found, &mut concepts);
    Ok(concepts)
}
