//! The semantic mean.

use super::{Meaning, Sums, Tree};
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::taxonomy::{Measure, Taxonomy, distance};

/// Distances up to which all are summed up as integers at once.
const FEW: usize = 1 << 22;

/// The concept of a taxonomy with the smallest sum of distances to `values`, each taken `counts` times; equal sums: the lower
/// index. O(values · concepts); in a tree, where these are many, O(concepts · the classes in all groups of a concept).
pub fn mean(taxonomy: &Taxonomy, values: &[u32], counts: &[u64], measure: &Measure, control: &Control) -> Result<u32> {
    if taxonomy.is_tree() && values.len().saturating_mul(taxonomy.len()) > FEW {
        let some = nearly(taxonomy, values, counts, measure, control)?;
        if !some.is_empty() && some.len() <= taxonomy.len() / 8 {
            let sums = distance::Sums::of_some(taxonomy, &some, (values, counts), measure, control)?;
            return Ok(some[sums.smallest() as usize]);
        }
    }
    Ok(distance::Sums::new(taxonomy, values, counts, measure, control)?.smallest())
}

/// Concepts that may have the smallest sum, which floats tell up to the last digits; none if there is no short way to it.
fn nearly(
    taxonomy: &Taxonomy,
    values: &[u32],
    counts: &[u64],
    measure: &Measure,
    control: &Control,
) -> Result<Vec<u32>> {
    memory::require(16 * taxonomy.len() + 16 * values.len(), "a semantic mean")?;
    let every: Vec<u32> = (0..taxonomy.len() as u32).collect();
    let tree = Tree::new(taxonomy, &every, measure)?;
    let known = Sums::new(Meaning::Tree(&tree))?;
    if known.by_pairs() {
        return Ok(Vec::new());
    }
    control.check()?;
    memory::require(24 * values.len() + 12 * taxonomy.len() + known.needs(values.len()), "a semantic mean")?;
    let weights: Vec<(u32, f64)> = values.iter().zip(counts).map(|(&c, &n)| (c, n as f64)).collect();
    let mut sums = vec![0.0; taxonomy.len()];
    known.fill(&weights, &mut sums);
    let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
    let records: f64 = weights.iter().map(|w| w.1).sum();
    let most = least + 1e-9 * records * tree.gap();
    Ok(every.into_iter().filter(|&c| sums[c as usize] <= most).collect())
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::{Stream, Streams};
    use crate::taxonomy::information::Information;

    #[test]
    fn the_mean_is_that_of_all_sums() {
        let mut rng = Streams::new(Some(3)).unwrap().generator(Stream::Synthetic(0), 0);
        let control = Control::new();
        for span in [3usize, 60, 5_000] {
            let child: Vec<u32> = (1..5_000).collect();
            let parent: Vec<u32> =
                (1..5_000usize).map(|i| rng.random_range(i.saturating_sub(span)..i) as u32).collect();
            let taxonomy = Taxonomy::new(5_000, &child, &parent).unwrap();
            let seco = || Information::seco(&taxonomy, &control).unwrap();
            for measure in [Measure::Path, Measure::WuPalmer, Measure::Resnik(seco()), Measure::Lin(seco())] {
                let values: Vec<u32> = child.iter().copied().filter(|c| c % 5 != 0).collect();
                let counts: Vec<u64> = values.iter().map(|_| rng.random_range(0..4)).collect();
                let all = distance::Sums::new(&taxonomy, &values, &counts, &measure, &control).unwrap();
                let some = nearly(&taxonomy, &values, &counts, &measure, &control).unwrap();
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
