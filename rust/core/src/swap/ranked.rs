//! Swapping along a ranking: each value changes places with one of the next `k` that has not been swapped.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use super::{STEPS, Swapped, check_k};
use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::meaning::{Meaning, Sums};
use crate::memory;

/// Draws by trial before the candidates are listed.
const TRIALS: usize = 64;

/// What needs memory here.
const WHAT: &str = "swapping a column";

/// Bytes for each category that its rank takes: a number or two, and a sort.
const RANKED: usize = 36;

/// Ranks the records with a value by the rank of their category; records of one rank are in random order. O(n + ranks).
pub fn ranking(codes: &[u32], rank_of: &[u32], rng: &mut ChaCha20Rng) -> Result<Vec<u32>> {
    let ranks = rank_of.iter().copied().max().map_or(0, |r| r as usize + 1);
    memory::require(Lists::needs(ranks, codes.len()), "a ranking of the records")?;
    let known = (0u32..).zip(codes).filter(|&(_, &c)| c != MISSING).map(|(i, &c)| (rank_of[c as usize], i));
    let mut records = Lists::group(ranks, known);
    for rank in 0..ranks {
        records.of_mut(rank).shuffle(rng);
    }
    Ok(records.into_items())
}

/// Swaps along a ranking (SRS-1, thesis algorithm 1, and numerical rank swapping). Expected O(n).
///
/// The candidates of rank `i` are the unswapped among `i+1 … i+k`. Nobody before `i` can reach rank `i+k`, so the
/// number of candidates is kept by counting; one of them is found by trial, since few of the next are swapped already.
pub fn swap(codes: &[u32], order: &[u32], k: usize, rng: &mut ChaCha20Rng, control: &Control) -> Result<Swapped> {
    check_k(k)?;
    let n = order.len();
    memory::require(Swapped::needs(codes.len(), k) + n, WHAT)?;
    let mut result = Swapped::new(codes);
    let mut swapped = vec![false; n];
    let mut candidates = 0;
    let mut window_end = 0; // ranks below it have been counted
    control.begin(n as u64);
    for i in 0..n {
        if i as u64 % STEPS == STEPS - 1 {
            control.advance(STEPS)?;
        }
        let end = n.min(i + k + 1);
        candidates += end - window_end.max(i + 1).min(end);
        if i > 0 && i < window_end && !swapped[i] {
            candidates -= 1; // rank i has left the window of its predecessors
        }
        window_end = end;
        if swapped[i] {
            continue;
        }
        result.count(candidates);
        if candidates == 0 {
            continue;
        }
        let partner = pick(&swapped, i + 1, end, candidates, rng);
        swapped[partner] = true;
        candidates -= 1;
        let (a, b) = (order[i] as usize, order[partner] as usize);
        result.codes[a] = codes[b];
        result.codes[b] = codes[a];
    }
    Ok(result)
}

/// A uniform unswapped rank in a window that has `candidates` of them.
fn pick(swapped: &[bool], start: usize, end: usize, candidates: usize, rng: &mut ChaCha20Rng) -> usize {
    for _ in 0..TRIALS {
        let rank = rng.random_range(start..end);
        if !swapped[rank] {
            return rank;
        }
    }
    let nth = rng.random_range(0..candidates);
    (start..end)
        .filter(|&rank| !swapped[rank])
        .nth(nth)
        .expect("the window holds the candidates it was counted to hold")
}

/// Swaps random pairs, whatever their values: the baseline without any restriction. O(n).
pub fn random(codes: &[u32], rng: &mut ChaCha20Rng, control: &Control) -> Result<Swapped> {
    let n = codes.len();
    memory::require(Swapped::needs(n, n) + size_of_val(codes), WHAT)?;
    let mut order = Vec::with_capacity(n);
    order.extend((0u32..).zip(codes).filter(|&(_, &c)| c != MISSING).map(|(i, _)| i));
    control.begin(order.len() as u64);
    order.shuffle(rng);
    let mut result = Swapped::new(codes);
    for (pairs, pair) in order.chunks(2).enumerate() {
        if pairs as u64 % STEPS == STEPS - 1 {
            control.advance(2 * STEPS)?;
        }
        result.count(order.len() - 1 - 2 * pairs);
        if let [a, b] = *pair {
            result.codes[a as usize] = codes[b as usize];
            result.codes[b as usize] = codes[a as usize];
        }
    }
    Ok(result)
}

/// Ranks of categories by distance from the one that is farthest from all (largest sum of distances; ties at random,
/// each record alike). O(d²) for a matrix, O(d log d) on a line, else O(d · the classes in all groups of a category).
pub fn ranks_from_the_farthest(meaning: Meaning<'_>, counts: &[u64], rng: &mut ChaCha20Rng) -> Result<Vec<u32>> {
    let reference = farthest_from_all(meaning, counts, rng)? as u32;
    memory::require(RANKED * counts.len(), WHAT)?;
    let row: Vec<f64> = (0..counts.len() as u32).map(|c| meaning.distance(reference, c)).collect();
    Ok(dense_ranks(&row))
}

/// Ranks of categories by how frequent they are: the distributional baseline.
pub fn ranks_by_frequency(counts: &[u64]) -> Result<Vec<u32>> {
    memory::require(RANKED * counts.len(), WHAT)?;
    Ok(dense_ranks(&counts.iter().map(|&c| c as f64).collect::<Vec<f64>>()))
}

/// The category with the largest sum of distances to all records; of equal ones, each record is as likely.
pub(super) fn farthest_from_all(meaning: Meaning<'_>, counts: &[u64], rng: &mut ChaCha20Rng) -> Result<usize> {
    let d = counts.len();
    if meaning.categories() != d {
        return Err(Error::Parameter(format!("distances of {} categories for {d}", meaning.categories())));
    }
    let known = Sums::new(meaning)?;
    memory::require(RANKED * d + known.needs(d), WHAT)?;
    let weights: Vec<(u32, f64)> = (0..).zip(counts).filter(|x| *x.1 > 0).map(|(c, &n)| (c, n as f64)).collect();
    let mut sums = vec![0.0; d];
    known.fill(&weights, &mut sums);
    drop((known, weights));
    let largest = (0..d).filter(|&i| counts[i] > 0).map(|i| sums[i]).fold(f64::NEG_INFINITY, f64::max);
    let tied: Vec<usize> = (0..d).filter(|&i| counts[i] > 0 && largest - sums[i] <= 1e-12 * largest.max(1.0)).collect();
    let records: u64 = tied.iter().map(|&i| counts[i]).sum();
    if records == 0 {
        return Err(Error::Parameter("the column has no value".into()));
    }
    let mut nth = rng.random_range(0..records);
    for &i in &tied {
        if nth < counts[i] {
            return Ok(i);
        }
        nth -= counts[i];
    }
    Ok(tied[0])
}

/// Ranks of numbers, equal ones alike.
fn dense_ranks(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut rank = 0;
    for pair in order.windows(2) {
        rank += u32::from(values[pair[0]] < values[pair[1]]);
        ranks[pair[1]] = rank;
    }
    ranks
}
