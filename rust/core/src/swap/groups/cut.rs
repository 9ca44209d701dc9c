//! The cheapest way to cut a sequence of tuples into groups.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::costs::Costs;
use crate::control::Control;
use crate::error::Result;
use crate::swap::tuples::Tuples;

/// Tuples that are cut by themselves: pieces share the work out and do not depend on threads.
const PIECE: usize = 1 << 14;

/// Sizes of groups that are told apart; where there are more, only every second, third, … tuple is looked at.
const SIZES: usize = 256;

/// Ends of groups between two looks at the control handle.
const STEPS: usize = 256;

/// Sizes of the groups into which to cut at least `k` tuples, each of `k` to `longest`, with the smallest sum of costs. Long
/// sequences are first cut into pieces; where the sizes do not fit a piece, it is cut evenly. O(n·k·m).
pub(super) fn cut(
    sequence: &[u32],
    k: usize,
    longest: usize,
    tuples: &Tuples,
    costs: &Costs,
    control: &Control,
) -> Result<Vec<u32>> {
    let grain = (k / SIZES).max(1);
    let pieces = (sequence.len() / PIECE.max(16 * k)).max(1);
    let bound = |piece: usize| sequence.len() * piece / pieces;
    let sizes = (0..pieces).into_par_iter().map(|piece| {
        let part = &sequence[bound(piece)..bound(piece + 1)];
        let seen: Vec<&[u32]> = part.chunks_exact(grain).map(|few| tuples.codes(few[grain / 2] as usize)).collect();
        // What is left over at the end must fit into the last group.
        let allowed = k.div_ceil(grain)..=(longest + 1 - grain) / grain;
        let Some(mut sizes) = cheapest(&seen, allowed, costs, control)? else { return Ok(even(part.len(), k)) };
        for size in &mut sizes {
            *size *= grain as u32;
        }
        if let Some(last) = sizes.last_mut() {
            *last += (part.len() % grain) as u32;
        }
        Ok(sizes)
    });
    Ok(sizes.collect::<Result<Vec<_>>>()?.concat())
}

/// As many groups as there can be, of sizes as equal as can be.
fn even(n: usize, k: usize) -> Vec<u32> {
    let groups = n / k;
    (0..groups).map(|g| (n * (g + 1) / groups - n * g / groups) as u32).collect()
}

/// The cheapest sizes, or nothing where sizes cannot sum up to the whole.
fn cheapest(
    sequence: &[&[u32]],
    allowed: RangeInclusive<usize>,
    costs: &Costs,
    control: &Control,
) -> Result<Option<Vec<u32>>> {
    let n = sequence.len();
    let longest = (*allowed.end()).min(n);
    // Sums of the costs inside the last 1, 2, … tuples. Each new tuple turns the sum over s of them into that over s + 1.
    let mut inside = vec![0.0f64; longest];
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0u32; n + 1];
    best[0] = 0.0;
    for end in 1..=n {
        if end % STEPS == 0 {
            control.check()?;
        }
        let newest = sequence[end - 1];
        let mut with_newest = 0.0;
        let mut before = 0.0;
        for (size, sum) in (1..=longest.min(end)).zip(&mut inside) {
            with_newest += f64::from(costs.between(newest, sequence[end - size]));
            (before, *sum) = (*sum, before + with_newest);
            if allowed.contains(&size) {
                let total = best[end - size] + 2.0 * *sum / size as f64;
                if total < best[end] {
                    (best[end], last[end]) = (total, size as u32);
                }
            }
        }
    }
    if best[n] == f64::INFINITY {
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
    use super::*;
    use crate::rng::Streams;
    use crate::swap::tuples::Attribute;
    use rand::RngExt;

    /// The smallest cost over all ways to cut, tried one after another.
    fn brute_force(sequence: &[u32], allowed: &RangeInclusive<usize>, cost: &dyn Fn(&[u32]) -> f64) -> f64 {
        if sequence.is_empty() {
            return 0.0;
        }
        let sizes = allowed.clone().filter(|&size| size <= sequence.len());
        sizes
            .map(|size| cost(&sequence[..size]) + brute_force(&sequence[size..], allowed, cost))
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_cut_is_cheaper() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(0, 0);
        let control = Control::new();
        let distances: Vec<f64> = (0..36i32).map(|cell| f64::from((cell / 6 - cell % 6).abs()).sqrt()).collect();
        for case in 0..300 {
            let n = rng.random_range(2..18);
            let columns: [Vec<u32>; 2] = std::array::from_fn(|_| (0..n).map(|_| rng.random_range(0..6)).collect());
            let attribute = |codes| Attribute { codes, distances: &distances, categories: 6, missing: None };
            let attributes = columns.each_ref().map(|codes| attribute(codes));
            let tuples = Tuples::new(&attributes, &Control::new()).unwrap();
            let costs = Costs::new(&attributes, &control).unwrap();
            let sequence: Vec<u32> = (0..n).map(|_| rng.random_range(0..tuples.len() as u32)).collect();
            let cost = |group: &[u32]| {
                let codes = || group.iter().map(|&t| tuples.codes(t as usize));
                let pairs = codes().flat_map(|a| codes().map(move |b| (a, b)));
                pairs.map(|(a, b)| f64::from(costs.between(a, b))).sum::<f64>() / group.len() as f64
            };
            let k = rng.random_range(2..=n.min(6));
            let longest = rng.random_range(k..2 * k);
            let sizes = cut(&sequence, k, longest, &tuples, &costs, &control).unwrap();
            let mut found = 0.0;
            let mut rest = &sequence[..];
            for &size in &sizes {
                found += cost(&rest[..size as usize]);
                rest = &rest[size as usize..];
            }
            assert!(rest.is_empty());
            let best = brute_force(&sequence, &(k..=longest), &cost);
            if best == f64::INFINITY {
                assert!(sizes.iter().all(|&size| (k..2 * k).contains(&(size as usize))), "case {case}: {sizes:?}");
            } else {
                assert!((found - best).abs() < 1e-6, "case {case}: {sizes:?} costs {found}, {best} is possible");
            }
        }
    }

    #[test]
    fn pieces_and_thinned_sequences_have_allowed_sizes() {
        let codes: Vec<u32> = (0..50_000u32).map(|i| i * 7 % 100).collect();
        let distances: Vec<f64> = (0..10_000i32).map(|cell| f64::from((cell / 100 - cell % 100).abs())).collect();
        let attributes = [Attribute { codes: &codes, distances: &distances, categories: 100, missing: None }];
        let tuples = Tuples::new(&attributes, &Control::new()).unwrap();
        let costs = Costs::new(&attributes, &Control::new()).unwrap();
        for (k, longest) in [(2, 3), (9, 11), (513, 1025), (777, 900), (24_000, 30_000), (50_000, 99_999)] {
            let sizes = cut(&codes, k, longest, &tuples, &costs, &Control::new()).unwrap();
            assert_eq!(sizes.iter().sum::<u32>(), 50_000);
            assert!(sizes.iter().all(|&size| (k..2 * k).contains(&(size as usize))), "{k}: {sizes:?}");
        }
    }
}
