//! Pairs for data swapping against the definition: all feasible pairs listed, one drawn, and so on.

use std::collections::HashMap;

use crate::common::rng;
use nominym_core::MISSING;
use nominym_core::coded::Coded;
use nominym_core::control::Control;
use nominym_core::swap::pairs::{Drawn, draw};
use proptest::prelude::*;

fn drawn(equal: &[Vec<u32>], unequal: &[Vec<u32>], n: usize, wanted: usize, seed: u64) -> Drawn {
    let column = |codes| Coded { codes, categories: 5 };
    let equal: Vec<Coded<'_>> = equal.iter().map(|codes| column(codes)).collect();
    let unequal: Vec<Vec<Coded<'_>>> = unequal.iter().map(|codes| vec![column(codes)]).collect();
    draw(n, &equal, &unequal, wanted, &mut rng(seed), &Control::new()).unwrap()
}

fn feasible(equal: &[Vec<u32>], unequal: &[Vec<u32>], a: usize, b: usize) -> bool {
    a != b && equal.iter().all(|c| c[a] == c[b]) && unequal.iter().all(|c| c[a] != c[b])
}

/// Chances of every sequence of pairs, by the definition.
fn law(equal: &[Vec<u32>], unequal: &[Vec<u32>], left: &[usize], wanted: usize) -> HashMap<Vec<(u32, u32)>, f64> {
    let mut pairs = vec![];
    for (i, &a) in left.iter().enumerate() {
        pairs.extend(left[i + 1..].iter().filter(|&&b| feasible(equal, unequal, a, b)).map(|&b| (a, b)));
    }
    if wanted == 0 || pairs.is_empty() {
        return HashMap::from([(vec![], 1.0)]);
    }
    let mut found = HashMap::new();
    for &(a, b) in &pairs {
        let rest: Vec<usize> = left.iter().copied().filter(|&r| r != a && r != b).collect();
        for (mut tail, chance) in law(equal, unequal, &rest, wanted - 1) {
            tail.insert(0, (a as u32, b as u32));
            *found.entry(tail).or_insert(0.0) += chance / pairs.len() as f64;
        }
    }
    found
}

fn columns(n: usize) -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<Vec<u32>>)> {
    let code = prop_oneof![4 => 0..3u32, 1 => Just(MISSING)];
    let column = move || prop::collection::vec(code.clone(), n);
    (prop::collection::vec(column(), 0..3), prop::collection::vec(column(), 0..4))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn constraints_hold_and_counts_are_right(
        (equal, unequal) in (1..40usize).prop_flat_map(columns),
        wanted in 0..25usize,
        seed in 0..1000u64,
    ) {
        let n = equal.iter().chain(&unequal).map(Vec::len).next().unwrap_or(9);
        let found = drawn(&equal, &unequal, n, wanted, seed);
        let mut used = vec![false; n];
        for &(a, b) in &found.pairs {
            prop_assert!(feasible(&equal, &unequal, a as usize, b as usize));
            for record in [a, b] {
                prop_assert!(!std::mem::replace(&mut used[record as usize], true));
            }
        }
        let partners = |a: usize| (0..n).filter(|&b| feasible(&equal, &unequal, a, b)).count();
        prop_assert_eq!(found.feasible, (0..n).map(partners).sum::<usize>() as u64 / 2);
        prop_assert_eq!(found.alone, (0..n).filter(|&a| partners(a) == 0).count() as u64);
        prop_assert!(found.pairs.len() <= wanted);
        if found.pairs.len() < wanted {
            // It stops only where nothing is left to pair.
            let left: Vec<usize> = (0..n).filter(|&r| !used[r]).collect();
            prop_assert!(left.iter().all(|&a| left.iter().all(|&b| !feasible(&equal, &unequal, a, b))));
        }
    }
}

#[test]
fn every_sequence_of_pairs_has_its_chance() {
    let (a, b, c) = (vec![0, 0, 0, 1, 1, 2, 0], vec![0, 1, 0, 1, 2, 1, 0], vec![0, 0, 0, 0, 1, 0, MISSING]);
    let cases = [
        (vec![], vec![]),
        (vec![c.clone()], vec![]),
        (vec![], vec![a.clone()]),
        (vec![c.clone()], vec![a.clone()]),
        (vec![], vec![a.clone(), b.clone()]),
        (vec![c.clone()], vec![a.clone(), b.clone()]),
        (vec![], vec![a, b, c]),
    ];
    for (case, (equal, unequal)) in cases.iter().enumerate() {
        let law = law(equal, unequal, &(0..7).collect::<Vec<_>>(), 2);
        let draws = 20_000;
        let mut seen: HashMap<Vec<(u32, u32)>, f64> = HashMap::new();
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let all: Vec<_> = alone.install(|| (0..draws).map(|seed| drawn(equal, unequal, 7, 2, seed).pairs).collect());
        for pairs in all {
            *seen.entry(pairs.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect()).or_default() += 1.0;
        }
        assert!(seen.keys().all(|sequence| law.contains_key(sequence)), "case {case}: a pair that is not feasible");
        let expected = |chance: f64| chance * draws as f64;
        let chi: f64 = law
            .iter()
            .map(|(sequence, &chance)| {
                (seen.get(sequence).copied().unwrap_or(0.0) - expected(chance)).powi(2) / expected(chance)
            })
            .sum();
        let freedom = (law.len() - 1) as f64;
        // Six standard deviations of the chi-square distribution.
        assert!(chi < freedom + 6.0 * (2.0 * freedom).sqrt(), "case {case}: chi-square {chi} with {freedom} degrees");
    }
}

/// Nearly all pairs that differ in one key agree in the other: only going through the class finds the few others.
#[test]
fn rare_pairs_are_found_and_all_alike() {
    let n = 4000;
    // Two records have a value of their own in the first key, two others in the second; all else agree in both.
    let first: Vec<u32> = (0..n).map(|i| if i < 2 { i + 1 } else { 0 }).collect();
    let second: Vec<u32> = (0..n).map(|i| if i == 0 || i == 1 || i > 3 { 0 } else { i - 1 }).collect();
    let unequal = [first, second];
    let mut seen: HashMap<(u32, u32), u32> = HashMap::new();
    for seed in 0..2000 {
        let found = drawn(&[], &unequal, n as usize, 1, seed);
        assert_eq!(found.feasible, 4);
        let (a, b) = found.pairs[0];
        *seen.entry((a.min(b), a.max(b))).or_default() += 1;
    }
    let mut pairs: Vec<_> = seen.into_iter().collect();
    pairs.sort_unstable();
    assert_eq!(pairs.iter().map(|p| p.0).collect::<Vec<_>>(), [(0, 2), (0, 3), (1, 2), (1, 3)]);
    assert!(pairs.iter().all(|&(_, times)| (400..600).contains(&times)), "{pairs:?}");
}

/// Rare pairs of records that have unequal numbers of partners: A–B, B–C and C–D, and no others.
#[test]
fn rare_pairs_are_alike_whatever_the_partners() {
    let rare: [[u32; 3]; 4] = [[1, 0, 2], [0, 1, 3], [2, 0, 4], [0, 2, 2]];
    let n = 400;
    let column = |key: usize| (0..n).map(|record| rare.get(record).map_or(0, |values| values[key])).collect();
    let unequal: Vec<Vec<u32>> = (0..3).map(column).collect();
    let mut seen: HashMap<(u32, u32), u32> = HashMap::new();
    for seed in 0..3000 {
        let found = drawn(&[], &unequal, n, 1, seed);
        assert_eq!((found.feasible, found.alone), (3, n as u64 - 4));
        let (a, b) = found.pairs[0];
        *seen.entry((a.min(b), a.max(b))).or_default() += 1;
    }
    assert!(seen.len() == 3 && seen.values().all(|times| (900..1100).contains(times)), "{seen:?}");
}

/// The frequent cells differ from each other in every key, but in no pair in all three: of a million million pairs that
/// differ in one key a few are feasible. Going through the records for each of them would take minutes.
#[test]
fn pairs_of_rare_cells_among_many_records() {
    let (many, few) = (100_000usize, 20_000usize);
    let cells = [([0, 1, 0], many), ([0, 0, 1], many), ([1, 0, 0], many), ([0, 0, 0], few), ([1, 1, 1], few)];
    let column = |key: usize| cells.iter().flat_map(|&(cell, n)| std::iter::repeat_n(cell[key], n)).collect();
    let unequal: Vec<Vec<u32>> = (0..3).map(column).collect();
    let n = unequal[0].len();
    let found = drawn(&[], &unequal, n, n / 2, 1);
    assert_eq!((found.feasible, found.alone), ((few * few) as u64, 3 * many as u64));
    assert_eq!(found.pairs.len(), few);
    // Both ends are drawn from all of their cell, in no order.
    let first = |pair: &(u32, u32)| pair.0.min(pair.1);
    let early = found.pairs[..few / 2].iter().filter(|pair| (first(pair) as usize) < 3 * many + few / 2).count();
    assert!(early.abs_diff(few / 4) < few / 50, "{early}");
}

#[test]
fn bad_input_is_refused() {
    let control = Control::new();
    let fails = |n, equal: &[Coded<'_>], unequal: &[Vec<Coded<'_>>]| {
        draw(n, equal, unequal, 1, &mut rng(0), &control).unwrap_err().to_string()
    };
    let column = Coded { codes: &[0, 7], categories: 5 };
    assert_eq!(fails(2, &[column], &[]), "code 7 in a column of 5 categories");
    assert_eq!(fails(3, &[], &[vec![column]]), "columns of 3 and 2 records");
    let fine = Coded { codes: &[0, 1], categories: 5 };
    assert!(fails(2, &[], &vec![vec![fine]; 9]).contains("8 is the most"));
    control.stop();
    assert_eq!(fails(2, &[fine], &[]), "stopped");
}
