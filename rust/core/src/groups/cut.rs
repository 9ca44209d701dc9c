//! An order of members, cut into groups at least cost.

use std::ops::{Add, Range, RangeInclusive};

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::memory;

/// Members that are cut by themselves: pieces share the work out and do not depend on threads.
const PIECE: usize = 1 << 14;

/// What groups cost that end at one place of an order.
pub(super) trait GroupCosts {
    type Cost: Copy + Default + PartialOrd + Add<Output = Self::Cost>;

    /// Bytes that are kept for each grain.
    const END: usize;

    /// Writes the costs of the groups of 1, 2, … grains that end with grain `end`. Called for 1, 2, … in turn.
    fn of_end(&mut self, end: usize, costs: &mut [Self::Cost]);
}

/// Largest size of a group in the first partition.
///
/// Annealing does better from many groups with hardly more than `k` members than from the cheapest ones: members easily change
/// places, but a new group does not come about. Descent alone starts from the cheapest, so that it can only gain.
pub(super) fn longest(k: usize, many: bool) -> usize {
    if many { (k + k / 8 + 1).min(2 * k - 1) } else { 2 * k - 1 }
}

/// Sizes of the groups into which to cut at least `k` members, each of `k` to `longest`, at the least sum of costs.
///
/// A *grain* is a number of members that stay together, so that there are few sizes to choose from. `group_costs` is asked for
/// the costs of a piece and of groups of up to so many grains. Where sizes do not fit a piece, it is cut evenly.
pub(super) fn cut<C: GroupCosts>(
    members: usize,
    k: usize,
    longest: usize,
    grain: usize,
    group_costs: impl Fn(Range<usize>, usize) -> C + Sync,
    control: &Control,
) -> Result<Vec<u32>> {
    let pieces = (members / PIECE.max(16 * k)).max(1);
    memory::require(needs::<C>(members, pieces, k, grain), "cutting an order into groups")?;
    let bound = |piece: usize| members * piece / pieces;
    let sizes = (0..pieces).into_par_iter().map(|piece| {
        let piece = bound(piece)..bound(piece + 1);
        let length = piece.len();
        // What is left over at the end must fit into the last group.
        let allowed = k.div_ceil(grain)..=(longest + 1 - grain) / grain;
        let costs = group_costs(piece, *allowed.end());
        let mut sizes = match cheapest(length / grain, allowed, costs, control)? {
            Some(grains) => grains.into_iter().map(|size| size * grain as u32).collect(),
            None => even(length, k),
        };
        let left_over = length as u32 - sizes.iter().sum::<u32>();
        if let Some(last) = sizes.last_mut() {
            *last += left_over;
        }
        control.advance(length as u64)?;
        Ok(sizes)
    });
    Ok(sizes.collect::<Result<Vec<_>>>()?.concat())
}

/// Bytes that [`cut`] takes for the pieces that are cut at once: what leads to each end, and what `group_costs` keep of it.
fn needs<C: GroupCosts>(members: usize, pieces: usize, k: usize, grain: usize) -> usize {
    let ends = members.div_ceil(pieces) / grain + 1;
    let end = size_of::<Option<C::Cost>>() + size_of::<u32>() + C::END;
    pieces.min(rayon::current_num_threads()) * ends * end + 3 * size_of::<u32>() * members / k
}

/// As many groups as there can be, of sizes as equal as can be.
fn even(n: usize, k: usize) -> Vec<u32> {
    let groups = n / k;
    (0..groups).map(|g| (n * (g + 1) / groups - n * g / groups) as u32).collect()
}

/// The cheapest of the allowed sizes, or nothing where they cannot sum up to `n`. Dynamic programming over the ends of groups.
fn cheapest<C: GroupCosts>(
    n: usize,
    allowed: RangeInclusive<usize>,
    mut group_costs: C,
    control: &Control,
) -> Result<Option<Vec<u32>>> {
    let mut costs = vec![C::Cost::default(); (*allowed.end()).min(n)];
    // The least cost of groups up to each end, and the size of the last of them.
    let mut best = vec![None; n + 1];
    let mut last = vec![0u32; n + 1];
    best[0] = Some(C::Cost::default());
    for end in 1..=n {
        control.check()?;
        let costs = &mut costs[..(*allowed.end()).min(end)];
        group_costs.of_end(end, costs);
        for size in *allowed.start()..=costs.len() {
            let Some(before) = best[end - size] else { continue };
            let total = before + costs[size - 1];
            // Of equal cuts the one with the shorter group is kept: more groups leave more to the search.
            if best[end].is_none_or(|least| total < least) {
                (best[end], last[end]) = (Some(total), size as u32);
            }
        }
    }
    if best[n].is_none() {
        return Ok(None);
    }
    let mut sizes = Vec::new();
    let mut end = n;
    while end > 0 {
        sizes.push(last[end]);
        end -= last[end] as usize;
    }
    sizes.reverse();
    Ok(Some(sizes))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::{Stream, Streams};

    /// Any costs, of groups by end and size; those of ends beyond come again.
    struct Table<'a>(&'a [Vec<u64>]);

    impl GroupCosts for Table<'_> {
        type Cost = u64;
        const END: usize = 0;

        fn of_end(&mut self, end: usize, costs: &mut [u64]) {
            costs.iter_mut().zip(self.0[end % self.0.len()].iter().cycle()).for_each(|(cost, &known)| *cost = known);
        }
    }

    /// The smallest cost over all ways to cut what is before `end`, tried one after another.
    fn brute_force(table: &[Vec<u64>], end: usize, allowed: &RangeInclusive<usize>) -> Option<u64> {
        if end == 0 {
            return Some(0);
        }
        let sizes = allowed.clone().filter(|&size| size <= end);
        sizes.filter_map(|size| Some(brute_force(table, end - size, allowed)? + table[end][size - 1])).min()
    }

    #[test]
    fn no_cut_is_cheaper() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(0), 0);
        for case in 0..300 {
            let n = rng.random_range(1..18);
            let table: Vec<Vec<u64>> = (0..=n).map(|_| (0..n).map(|_| rng.random_range(0..20)).collect()).collect();
            let k = rng.random_range(1..=n.min(6));
            let longest = rng.random_range(k..2 * k);
            let sizes = cut(n, k, longest, 1, |_, _| Table(&table), &Control::new()).unwrap();
            assert_eq!(sizes.iter().sum::<u32>(), n as u32);
            let ends = sizes.iter().scan(0, |end, &size| {
                *end += size as usize;
                Some((*end, size as usize))
            });
            match brute_force(&table, n, &(k..=longest)) {
                Some(best) => {
                    assert_eq!(ends.map(|(end, size)| table[end][size - 1]).sum::<u64>(), best, "case {case}");
                }
                None => {
                    assert!(sizes.iter().all(|&size| (k..2 * k).contains(&(size as usize))), "case {case}: {sizes:?}");
                }
            }
        }
    }

    #[test]
    fn pieces_and_grains_have_allowed_sizes() {
        let table: Vec<Vec<u64>> = (0..97u64).map(|end| (0..31).map(|size| end * size % 23).collect()).collect();
        for (k, longest) in [(1, 1), (2, 3), (9, 11), (513, 1025), (777, 900), (24_000, 30_000), (50_000, 99_999)] {
            for grain in [k / 256, k / 64].map(|grain| grain.max(1)) {
                let sizes = cut(50_000, k, longest, grain, |_, _| Table(&table), &Control::new()).unwrap();
                assert_eq!(sizes.iter().sum::<u32>(), 50_000);
                assert!(sizes.iter().all(|&size| (k..2 * k).contains(&(size as usize))), "{k}: {sizes:?}");
            }
        }
    }
}
