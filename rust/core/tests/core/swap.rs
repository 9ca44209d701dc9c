//! Swapping against the published algorithms, written down record by record.

use std::collections::HashMap;

use crate::common::{differ, rng};
use nominym_core::MISSING;
use nominym_core::control::Control;
use nominym_core::meaning::{Meaning, Tree};
use nominym_core::stats::joint::counts;
use nominym_core::swap::{Swapped, dynamic, ranked};
use nominym_core::taxonomy::{Measure, Taxonomy};
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha20Rng;

/// A small set of categories on a line and a fork, with ties among their distances.
fn distances(d: usize) -> Vec<f64> {
    (0..d * d)
        .map(|cell| (cell / d, cell % d))
        .map(|(i, j)| f64::from(u32::from(i != j) * (1 + (i + j) as u32 % 3)))
        .collect()
}

fn known(cells: &[f64]) -> Meaning<'_> {
    Meaning::matrix(cells, cells.len().isqrt()).unwrap()
}

/// The most distant value: uniformly one of the records with the largest sum of distances.
fn most_distant(codes: &[u32], distance: &dyn Fn(u32, u32) -> f64, rng: &mut ChaCha20Rng) -> usize {
    let sums: Vec<f64> = codes.iter().map(|&a| codes.iter().map(|&b| distance(a, b)).sum()).collect();
    let largest = sums.iter().copied().fold(f64::MIN, f64::max);
    let tied: Vec<usize> = (0..codes.len()).filter(|&i| sums[i] > largest - 1e-9).collect();
    *tied.choose(rng).unwrap()
}

/// SRS-1 and its kin: rank the records, ties in random order; swap with one of the unswapped among the next k.
fn naive_ranked(codes: &[u32], rank: &dyn Fn(u32) -> f64, k: usize, rng: &mut ChaCha20Rng) -> (Vec<u32>, Vec<usize>) {
    let mut order: Vec<usize> = (0..codes.len()).collect();
    order.shuffle(rng);
    order.sort_by(|&a, &b| rank(codes[a]).total_cmp(&rank(codes[b])));
    let (mut out, mut swapped, mut candidates) = (codes.to_vec(), vec![false; codes.len()], vec![]);
    for i in 0..order.len() {
        if swapped[i] {
            continue;
        }
        let open: Vec<usize> = (i + 1..order.len().min(i + k + 1)).filter(|&j| !swapped[j]).collect();
        candidates.push(open.len());
        swapped[i] = true;
        if let Some(&j) = open.choose(rng) {
            swapped[j] = true;
            (out[order[i]], out[order[j]]) = (codes[order[j]], codes[order[i]]);
        }
    }
    (out, candidates)
}

/// SRS-2: the k nearest of all records, ties at the boundary at random; swap with an unswapped one; go to the farthest.
fn naive_dynamic(
    codes: &[u32],
    distance: &dyn Fn(u32, u32) -> f64,
    k: usize,
    rng: &mut ChaCha20Rng,
) -> (Vec<u32>, Vec<usize>) {
    let n = codes.len();
    let (mut out, mut swapped, mut candidates) = (codes.to_vec(), vec![false; n], vec![]);
    let mut reference = most_distant(codes, distance, rng);
    loop {
        let mut order: Vec<usize> = (0..n).filter(|&i| i != reference).collect();
        order.shuffle(rng);
        order.sort_by(|&a, &b| distance(codes[reference], codes[a]).total_cmp(&distance(codes[reference], codes[b])));
        let open: Vec<usize> = order.into_iter().take(k).filter(|&i| !swapped[i]).collect();
        candidates.push(open.len());
        swapped[reference] = true;
        if let Some(&partner) = open.choose(rng) {
            swapped[partner] = true;
            (out[reference], out[partner]) = (codes[partner], codes[reference]);
        }
        let left: Vec<usize> = (0..n).filter(|&i| !swapped[i]).collect();
        if left.is_empty() {
            return (out, candidates);
        }
        let far = |i: usize| distance(codes[reference], codes[i]);
        let most = left.iter().map(|&i| far(i)).fold(f64::MIN, f64::max);
        let tied: Vec<usize> = left.into_iter().filter(|&i| far(i) == most).collect();
        reference = *tied.choose(rng).unwrap();
    }
}

/// Runs both over many seeds and compares the distribution of (column, sorted numbers of candidates).
fn same_law(fast: impl Fn(&mut ChaCha20Rng) -> Swapped, naive: impl Fn(&mut ChaCha20Rng) -> (Vec<u32>, Vec<usize>)) {
    let (mut a, mut b) = (HashMap::new(), HashMap::new());
    for seed in 0..40_000 {
        let found = fast(&mut rng(seed));
        let numbers = (0..found.candidates.len()).flat_map(|c| vec![c; found.candidates[c] as usize]).collect();
        *a.entry((found.codes, numbers)).or_insert(0.0) += 1.0;
        let (codes, mut numbers) = naive(&mut rng(1_000_000 + seed));
        numbers.sort_unstable();
        *b.entry((codes, numbers)).or_insert(0.0) += 1.0;
    }
    // A standardised chi-square beyond 5 happens less than once in a hundred thousand runs; seeds are fixed.
    let difference = differ(&a, &b);
    assert!(difference < 5.0, "{difference} over {} outcomes", a.len());
}

const COLUMNS: [&[u32]; 4] = [&[0, 1, 2, 3, 4, 1], &[0, 0, 1, 1, 2, 2], &[0, 0, 0, 1, 2, 3, 3], &[1, 0, 4, 2, 3]];

#[test]
fn dynamic_has_the_published_law() {
    let matrix = distances(5);
    for codes in COLUMNS {
        let n = counts(codes, 5, &Control::new()).unwrap();
        for k in 1..4 {
            same_law(
                |rng| dynamic::swap(codes, known(&matrix), &n, k, rng, &Control::new()).unwrap(),
                |rng| naive_dynamic(codes, &|a, b| matrix[(a * 5 + b) as usize], k, rng),
            );
        }
    }
}

#[test]
fn dynamic_has_the_published_law_where_many_categories_are_equally_far() {
    let codes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9];
    let matrix: Vec<f64> = (0..100).map(|cell| f64::from(u8::from(cell / 10 != cell % 10))).collect();
    let n = counts(&codes, 10, &Control::new()).unwrap();
    same_law(
        |rng| dynamic::swap(&codes, known(&matrix), &n, 1, rng, &Control::new()).unwrap(),
        |rng| naive_dynamic(&codes, &|a, b| matrix[(a * 10 + b) as usize], 1, rng),
    );
}

#[test]
fn without_a_matrix_the_law_is_the_same() {
    // Ties at the ends and on both sides.
    let positions = [2.0, 0.0, 4.0, 1.0, 3.0];
    let taxonomy = Taxonomy::new(7, &[1, 2, 3, 4, 5, 6], &[0, 0, 1, 1, 2, 4]).unwrap();
    let tree = Tree::new(&taxonomy, &[6, 3, 1, 2, 5], &Measure::WuPalmer).unwrap();
    let meanings = [Meaning::line(&positions).unwrap(), Meaning::Equality(&[3, 1, 4, 0, 1]), Meaning::Tree(&tree)];
    for meaning in meanings {
        let distance = |a, b| meaning.distance(a, b);
        for codes in [COLUMNS[0], COLUMNS[2]] {
            let n = counts(codes, 5, &Control::new()).unwrap();
            same_law(
                |rng| dynamic::swap(codes, meaning, &n, 2, rng, &Control::new()).unwrap(),
                |rng| naive_dynamic(codes, &distance, 2, rng),
            );
            same_law(
                |rng| {
                    let ranks = ranked::ranks_from_the_farthest(meaning, &n, rng).unwrap();
                    let order = ranked::ranking(codes, &ranks, rng).unwrap();
                    ranked::swap(codes, &order, 2, rng, &Control::new()).unwrap()
                },
                |rng| {
                    let reference = codes[most_distant(codes, &distance, rng)];
                    naive_ranked(codes, &|c| distance(reference, c), 2, rng)
                },
            );
        }
    }
}

#[test]
fn fixed_has_the_published_law() {
    let matrix = distances(5);
    for codes in COLUMNS {
        let n = counts(codes, 5, &Control::new()).unwrap();
        for k in [1, 3, 10] {
            same_law(
                |rng| {
                    let ranks = ranked::ranks_from_the_farthest(known(&matrix), &n, rng).unwrap();
                    let order = ranked::ranking(codes, &ranks, rng).unwrap();
                    ranked::swap(codes, &order, k, rng, &Control::new()).unwrap()
                },
                |rng| {
                    let reference = codes[most_distant(codes, &|a, b| matrix[(a * 5 + b) as usize], rng)];
                    naive_ranked(codes, &|c| matrix[(reference * 5 + c) as usize], k, rng)
                },
            );
        }
    }
}

#[test]
fn distributional_ranks_by_frequency() {
    for codes in COLUMNS {
        let n = counts(codes, 5, &Control::new()).unwrap();
        same_law(
            |rng| {
                let order = ranked::ranking(codes, &ranked::ranks_by_frequency(&n).unwrap(), rng).unwrap();
                ranked::swap(codes, &order, 2, rng, &Control::new()).unwrap()
            },
            |rng| naive_ranked(codes, &|c| n[c as usize] as f64, 2, rng),
        );
    }
}

#[test]
fn random_pairs_everybody() {
    let codes = [0, 1, 2, 3];
    let mut seen = HashMap::new();
    for seed in 0..6_000 {
        let found = ranked::random(&codes, &mut rng(seed), &Control::new()).unwrap();
        *seen.entry(found.codes).or_insert(0) += 1;
    }
    // Three ways to pair four records, each a third of the time (standard deviation 37).
    assert_eq!(seen.len(), 3);
    assert!(seen.values().all(|&n: &i32| (n - 2_000).abs() < 190), "{seen:?}");
}

#[test]
fn missing_values_stay_and_values_are_kept() {
    let mut draw = rng(1);
    let codes: Vec<u32> =
        (0..5_000).map(|_| draw.random_range(0..60)).map(|c: u32| if c == 59 { MISSING } else { c }).collect();
    let matrix = distances(59);
    let n = counts(&codes, 59, &Control::new()).unwrap();
    let control = Control::new();
    let order = ranked::ranking(&codes, &ranked::ranks_by_frequency(&n).unwrap(), &mut draw).unwrap();
    for found in [
        dynamic::swap(&codes, known(&matrix), &n, 200, &mut draw, &control).unwrap(),
        ranked::swap(&codes, &order, 200, &mut draw, &control).unwrap(),
        ranked::random(&codes, &mut draw, &control).unwrap(),
    ] {
        assert_eq!(counts(&found.codes, 59, &control).unwrap(), n);
        assert!(codes.iter().zip(&found.codes).all(|(a, b)| (*a == MISSING) == (*b == MISSING)));
        assert_ne!(found.codes, codes);
    }
    assert!(dynamic::swap(&codes, known(&matrix), &n, 0, &mut draw, &control).is_err());
    assert!(dynamic::swap(&[], known(&[]), &[], 1, &mut draw, &control).is_err());
}
