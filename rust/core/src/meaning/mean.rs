//! The semantic mean.

use rayon::prelude::*;

use super::{Meaning, Sums, Tree};
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::taxonomy::closure::Closure;
use crate::taxonomy::sweep::{LANES, Rows};
use crate::taxonomy::{Measure, Taxonomy, distance};

/// What needs memory here.
const WHAT: &str = "a semantic mean";

/// Distances up to which all are summed up as integers at once.
const FEW: usize = 1 << 22;

/// The concept of a taxonomy with the smallest sum of distances to `values`, each taken `counts` times; equal sums: the lower
/// index. O(values · concepts); in a tree, where these are many, O(concepts · the classes in all groups of a concept).
///
/// Where there are many distances, floats tell which concepts may be it, up to the last digits; integers tell which of them it is.
pub fn mean(taxonomy: &Taxonomy, values: &[u32], counts: &[u64], measure: &Measure, control: &Control) -> Result<u32> {
    if values.len().saturating_mul(taxonomy.len()) > FEW {
        let nested = if taxonomy.is_tree() { nearly(taxonomy, values, counts, measure, control)? } else { Vec::new() };
        let some = if nested.is_empty() { swept(taxonomy, values, counts, measure, control)? } else { nested };
        if some.len() <= taxonomy.len() / 8 {
            let sums = distance::Sums::of_some(taxonomy, &some, (values, counts), measure, control)?;
            return Ok(some[sums.smallest() as usize]);
        }
    }
    Ok(distance::Sums::new(taxonomy, values, counts, measure, control)?.smallest())
}

/// Concepts that may have the smallest sum, by the groups of a tree; none if there is no short way to it.
fn nearly(
    taxonomy: &Taxonomy,
    values: &[u32],
    counts: &[u64],
    measure: &Measure,
    control: &Control,
) -> Result<Vec<u32>> {
    memory::require(16 * taxonomy.len() + 16 * values.len(), WHAT)?;
    let every: Vec<u32> = (0..taxonomy.len() as u32).collect();
    let tree = Tree::new(taxonomy, &every, measure)?;
    let known = Sums::new(Meaning::Tree(&tree))?;
    if known.by_pairs() {
        return Ok(Vec::new());
    }
    control.check()?;
    memory::require(24 * values.len() + 12 * taxonomy.len() + known.needs(values.len()), WHAT)?;
    let weights: Vec<(u32, f64)> = values.iter().zip(counts).map(|(&c, &n)| (c, n as f64)).collect();
    let mut sums = vec![0.0; taxonomy.len()];
    known.fill(&weights, &mut sums);
    Ok(lowest(&every, &sums, counts, tree.gap()))
}

/// Concepts that may have the smallest sum, from all distances but those of concepts that cannot be it.
fn swept(
    taxonomy: &Taxonomy,
    values: &[u32],
    counts: &[u64],
    measure: &Measure,
    control: &Control,
) -> Result<Vec<u32>> {
    memory::require(8 * taxonomy.len() + 12 * values.len(), WHAT)?;
    let some = candidates(taxonomy, values, counts, measure)?;
    let width = some.len();
    // Each thread adds up into sums of its own, and keeps some for each time that the work was halved.
    let blocks = values.len().div_ceil(LANES);
    let threads = rayon::current_num_threads().min(blocks);
    let halvings = blocks.next_power_of_two().ilog2() as usize;
    let rows = Rows::<f64>::new(taxonomy, values, &some, measure, 8 * (1 + threads * (2 + halvings)) * width)?;
    let weights: Vec<f64> = counts.iter().map(|&n| n as f64).collect();
    control.begin(values.len() as u64);
    let none = || vec![0.0; width];
    let sums = weights
        .par_chunks(LANES)
        .enumerate()
        .try_fold(
            || (none(), Vec::new()),
            |(mut sums, mut cells), (block, weights)| {
                rows.add(block * LANES, weights, &mut cells, &mut sums);
                control.advance(weights.len() as u64)?;
                Ok((sums, cells))
            },
        )
        .map(|folded| folded.map(|(sums, _)| sums))
        .try_reduce(none, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            Ok(a)
        })?;
    Ok(lowest(&some, &sums, counts, measure.max(taxonomy.max_depth())))
}

/// Concepts of which one has the smallest sum.
///
/// A concept with one parent that subsumes no value shares with each value what its parent shares, one link farther; so the
/// parent has a smaller sum, where a measure counts links or subsumers.
fn candidates(taxonomy: &Taxonomy, values: &[u32], counts: &[u64], measure: &Measure) -> Result<Vec<u32>> {
    let by_content = matches!(measure, Measure::Resnik(_) | Measure::Lin(_) | Measure::JiangConrath(_));
    // In the order in which a pass over the taxonomy keeps them.
    if by_content || counts.iter().all(|&n| n == 0) {
        return Ok(taxonomy.order().to_vec());
    }
    let above = Closure::new(taxonomy, values.iter().copied())?;
    let may = |&&c: &&u32| above.has(c) || taxonomy.parents(c).len() > 1;
    Ok(taxonomy.order().iter().filter(may).copied().collect())
}

/// Those with the smallest sum, up to what rounding may have done to sums of distances up to `gap`.
fn lowest(concepts: &[u32], sums: &[f64], counts: &[u64], gap: f64) -> Vec<u32> {
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let most = least + 1e-9 * counts.iter().map(|&n| n as f64).sum::<f64>() * gap;
    let mut some: Vec<u32> = concepts.iter().zip(sums).filter(|&(_, &sum)| sum <= most).map(|(&c, _)| c).collect();
    some.sort_unstable();
    some
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_chacha::ChaCha20Rng;

    use super::*;
    use crate::rng::{Stream, Streams};
    use crate::taxonomy::information::Information;

    #[test]
    fn the_mean_is_that_of_all_sums() {
        const N: usize = 2_000;
        let mut rng = Streams::new(Some(3)).unwrap().generator(Stream::Synthetic(0), 0);
        let control = Control::new();
        for (span, more) in [(3usize, 0), (60, 0), (N, 0), (60, 600), (N, 1_000)] {
            let above = |i: usize, rng: &mut ChaCha20Rng| rng.random_range(i.saturating_sub(span)..i) as u32;
            let mut child: Vec<u32> = (1..N as u32).collect();
            let mut parent: Vec<u32> = (1..N).map(|i| above(i, &mut rng)).collect();
            for _ in 0..more {
                let i = rng.random_range(1..N);
                child.push(i as u32);
                parent.push(above(i, &mut rng));
            }
            let taxonomy = Taxonomy::new(N, &child, &parent).unwrap();
            child.truncate(N - 1);
            let seco = || Information::seco(&taxonomy, &control).unwrap();
            for measure in [
                Measure::Path,
                Measure::WuPalmer,
                Measure::TaxonomicFeature,
                Measure::Resnik(seco()),
                Measure::Lin(seco()),
            ] {
                let values: Vec<u32> = child.iter().copied().filter(|c| c % 5 != 0).collect();
                let counts: Vec<u64> = values.iter().map(|_| rng.random_range(0..4)).collect();
                let all = distance::Sums::new(&taxonomy, &values, &counts, &measure, &control).unwrap();
                let some = swept(&taxonomy, &values, &counts, &measure, &control).unwrap();
                assert!(some.contains(&all.smallest()), "{measure:?} {span} {more}");
                let some =
                    if more == 0 { nearly(&taxonomy, &values, &counts, &measure, &control).unwrap() } else { some };
                assert!(span == 3 || some.contains(&all.smallest()), "{measure:?} {span}");
                // By itself, and where it is chosen for the many distances.
                if !some.is_empty() {
                    let sums =
                        distance::Sums::of_some(&taxonomy, &some, (&values, &counts), &measure, &control).unwrap();
                    assert_eq!(some[sums.smallest() as usize], all.smallest(), "{measure:?} {span}");
                }
                assert_eq!(mean(&taxonomy, &values, &counts, &measure, &control).unwrap(), all.smallest());
            }
        }
    }
}
