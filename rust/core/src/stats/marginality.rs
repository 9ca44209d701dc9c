//! Marginality of hierarchical values (Domingo-Ferrer 2012) and the variance of their positions (Domingo-Ferrer and
//! Solanas 2008). Both are defined on trees.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::taxonomy::Taxonomy;

/// Pairs that one thread measures before it looks at the control handle.
const PAIRS: usize = 1 << 12;

/// A tree pruned to a sample: what is below every concept, and how deep the sample reaches.
struct Pruned<'a> {
    tree: &'a Taxonomy,
    /// Sample values at a concept or below it.
    below: Vec<u64>,
    /// Links from the root to the deepest sample value.
    height: u32,
}

impl<'a> Pruned<'a> {
    fn new(tree: &'a Taxonomy, counts: &[u64]) -> Result<Self> {
        if let Some(c) = (0..tree.len() as u32).find(|&c| tree.parents(c).len() > 1) {
            return Err(Error::NotATree(c));
        }
        if counts.len() != tree.len() {
            return Err(Error::Parameter(format!("{} counts for {} concepts", counts.len(), tree.len())));
        }
        // These, and two figures for each concept that come of them.
        memory::require(3 * size_of_val(counts), "the marginality of a sample")?;
        let mut below = counts.to_vec();
        for &c in tree.order().iter().rev() {
            if let Some(&p) = tree.parents(c).first() {
                below[p as usize] += below[c as usize];
            }
        }
        let used = (0..tree.len()).filter(|&c| counts[c] > 0);
        let height = used.map(|c| tree.depths()[c] - 1).max();
        let height = height.ok_or_else(|| Error::Parameter("the sample has no value".into()))?;
        Ok(Self { tree, below, height })
    }
}

/// The numerical mapping of a sample.
#[derive(Debug)]
pub struct Marginality {
    /// Sum of distances to all sample values, by concept; meaningful where the sample has values.
    ///
    /// All weights are powers of two: sums are exact below 2^53, and good to 16 digits beyond.
    pub of: Vec<f64>,
    /// Distance from the root, by concept.
    reach: Vec<f64>,
}

impl Marginality {
    /// Weighs each link from depth `i − 1` to `i` by `2^(L−i)`, `L` the depth of the pruned tree, and sums distances.
    ///
    /// O(concepts): moving from a parent to a child over a link of weight `w` brings the values below the child
    /// nearer by `w` and takes all others farther by `w`.
    pub fn new(tree: &Taxonomy, counts: &[u64]) -> Result<Self> {
        let Pruned { below, height, .. } = Pruned::new(tree, counts)?;
        if height > 1000 {
            return Err(Error::Parameter(format!("weights of 2^{height} exceed the floating-point range")));
        }
        let all = below[tree.root() as usize] as f64;
        let weight = |c: u32| 2f64.powi(height as i32 - (tree.depth(c) as i32 - 1));
        let mut reach = vec![0.0; tree.len()];
        for &c in tree.order() {
            if let Some(&p) = tree.parents(c).first() {
                reach[c as usize] = reach[p as usize] + weight(c);
            }
        }
        let mut of = vec![0.0; tree.len()];
        of[tree.root() as usize] = counts.iter().zip(&reach).map(|(&n, r)| n as f64 * r).sum();
        for &c in tree.order() {
            if let Some(&p) = tree.parents(c).first() {
                of[c as usize] = of[p as usize] + weight(c) * (all - 2.0 * below[c as usize] as f64);
            }
        }
        Ok(Self { of, reach })
    }

    /// Weighted path lengths of the pairs `(a[i], b[i])`. O(depth) each.
    pub fn distances(&self, tree: &Taxonomy, a: &[u32], b: &[u32], control: &Control) -> Result<Vec<f64>> {
        if a.len() != b.len() {
            return Err(Error::Parameter(format!("pairs of {} and {} concepts", a.len(), b.len())));
        }
        memory::require(size_of::<f64>() * a.len(), "distances of pairs")?;
        control.begin(a.len() as u64);
        let mut out = vec![0.0; a.len()];
        out.par_chunks_mut(PAIRS).zip(a.par_chunks(PAIRS)).zip(b.par_chunks(PAIRS)).try_for_each(|((out, a), b)| {
            for ((cell, &a), &b) in out.iter_mut().zip(a).zip(b) {
                *cell = self.distance(tree, a, b);
            }
            control.advance(out.len() as u64)
        })?;
        Ok(out)
    }

    fn distance(&self, tree: &Taxonomy, a: u32, b: u32) -> f64 {
        let (mut x, mut y) = (a, b);
        while x != y {
            let lower = if tree.depth(x) >= tree.depth(y) { &mut x } else { &mut y };
            *lower = tree.parents(*lower)[0];
        }
        self.reach[a as usize] + self.reach[b as usize] - 2.0 * self.reach[x as usize]
    }
}

/// Digits of the positional labels of a sample (Domingo-Ferrer and Solanas 2008), summed over its values.
#[derive(Debug, PartialEq, Eq)]
pub struct Digits {
    /// Base of the labels: the largest number of children in the tree.
    pub base: u64,
    /// Sample values.
    pub records: u64,
    /// Sum and sum of squares of the digits, least significant position first.
    pub sums: Vec<(u128, u128)>,
}

/// Labels every link of the pruned tree and sums the digits of all values at each position. O(concepts log concepts).
///
/// Children are ranked by the number of sample values below them (ties: lower index) and labelled from the middle
/// of the base outwards; labels that are too short are filled up with the middle digit.
pub fn digits(tree: &Taxonomy, counts: &[u64]) -> Result<Digits> {
    let Pruned { tree, below, height } = Pruned::new(tree, counts)?;
    let children = (0..tree.len() as u32).map(|c| tree.children(c).len()).max().unwrap_or(0);
    let base = children.max(1) as u64;
    let records = below[tree.root() as usize];
    // What reaches each depth; the rest of the values have the middle digit there.
    let mut reaching = vec![0u64; height as usize];
    let mut sums = vec![(0u128, 0u128); height as usize];
    for c in 0..tree.len() as u32 {
        let mut ranked: Vec<u32> = tree.children(c).iter().copied().filter(|&x| below[x as usize] > 0).collect();
        ranked.sort_by_key(|&x| (std::cmp::Reverse(below[x as usize]), x));
        let level = tree.depth(c) as usize - 1;
        for (rank, &child) in ranked.iter().enumerate() {
            let n = below[child as usize];
            add(&mut sums[level], label(rank as u64, base), n);
            reaching[level] += n;
        }
    }
    for (sum, reached) in sums.iter_mut().zip(reaching) {
        add(sum, label(0, base), records - reached);
    }
    sums.reverse();
    Ok(Digits { base, records, sums })
}

fn add(sum: &mut (u128, u128), digit: u64, times: u64) {
    let (digit, times) = (u128::from(digit), u128::from(times));
    sum.0 += digit * times;
    sum.1 += digit * digit * times;
}

/// The `rank`-th label of the base: the middle, then by turns to both sides (first down if odd, first up if even).
fn label(rank: u64, base: u64) -> u64 {
    let middle = (base - 1) / 2;
    let away = rank.div_ceil(2);
    let down = (rank % 2 == 1) == (base % 2 == 1);
    if down { middle - away } else { middle + away }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_run_from_the_middle_outwards() {
        let all = |base| (0..base).map(|rank| label(rank, base)).collect::<Vec<_>>();
        assert_eq!(all(5), [2, 1, 3, 0, 4]);
        assert_eq!(all(6), [2, 3, 1, 4, 0, 5]);
        assert_eq!(all(1), [0]);
        assert_eq!(all(2), [0, 1]);
    }
}
