//! Orders of item sets: the worked example, brute force, odd data, and the same result on any number of threads.

use crate::common::{sets, streams};
use nominym_core::control::Control;
use nominym_core::error::{Error, Result};
use nominym_core::itemsets::Itemsets;
use nominym_core::itemsets::order::{best_order, gray_order, gray_tsp_order, tour_length, tree_order};
use nominym_core::rng::Stream;
use proptest::prelude::*;
use rand::RngExt;

/// Noisy copies of some prototypes of `values` values for each of `attributes` attributes.
fn clusters(n: usize, attributes: u32, values: u32, prototypes: usize) -> Itemsets {
    let mut rng = streams(77).generator(Stream::Synthetic(0), 0);
    let mut random = |count: u32| rng.random_range(0..count);
    let models: Vec<Vec<u32>> = (0..prototypes).map(|_| (0..attributes).map(|_| random(values)).collect()).collect();
    let mut row = || {
        let model = &models[random(prototypes as u32) as usize];
        let value = |(a, &v): (u32, &u32)| a * values + if random(5) == 0 { random(values) } else { v };
        (0..attributes).zip(model).map(value).collect::<Vec<u32>>()
    };
    sets(attributes * values, &(0..n).map(|_| row()).collect::<Vec<_>>())
}

fn gray_tsp(sets: &Itemsets, segment: (usize, usize), seed: u64) -> Vec<u32> {
    gray_tsp_order(sets, segment, &streams(seed), &Control::new()).unwrap()
}

fn best(sets: &Itemsets, k: usize, seed: u64) -> Vec<u32> {
    best_order(sets, k, &streams(seed), &Control::new()).unwrap()
}

fn assert_permutation(order: &[u32], n: usize) {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..n as u32).collect::<Vec<_>>());
}

/// Expected error of the ring by its definition, for rows of one size and without ties.
fn error(sets: &Itemsets, order: &[u32], k: usize) -> f64 {
    assert_eq!(k % 2, 1);
    let n = order.len();
    let (mut wrong, mut held) = (0, 0);
    for place in 0..n {
        let rows: Vec<&[u32]> = (0..k).map(|back| sets.row(order[(place + n - back) % n])).collect();
        let mut counts = std::collections::HashMap::new();
        for &item in rows.iter().copied().flatten() {
            *counts.entry(item).or_insert(0) += 1;
        }
        held += rows.iter().map(|row| row.len()).sum::<usize>();
        wrong += counts.values().map(|&count: &usize| count.min(k - count)).sum::<usize>();
    }
    wrong as f64 / held as f64
}

#[test]
fn the_worked_example() {
    // Tables 1 to 4 of the paper: 1100, 0110, 1101, 0111, 1110, 1011
    let rows = [vec![0, 1], vec![1, 2], vec![0, 1, 3], vec![1, 2, 3], vec![0, 1, 2], vec![0, 2, 3]];
    let sets = sets(4, &rows);
    let control = Control::new();
    assert_eq!(tour_length(&sets, &[0, 1, 2, 3, 4, 5], true), 14);
    let gray = gray_order(&sets, None, &control).unwrap();
    assert_eq!(gray, [1, 3, 0, 2, 4, 5]);
    assert_eq!(tour_length(&sets, &gray, true), 12);
    assert_eq!(tour_length(&sets, &gray, false), 9);
    assert_eq!(tour_length(&sets, &[1, 3, 2, 0, 4, 5], true), 10);
    for seed in 0..5 {
        let order = gray_tsp(&sets, (300, 350), seed);
        assert_eq!((order[0], order[5], tour_length(&sets, &order, true)), (1, 5, 10));
        assert!(tour_length(&sets, &best(&sets, 3, seed), true) <= 10);
    }
}

#[test]
fn few_and_odd_records() {
    let all = [vec![], vec![0], vec![], vec![0], vec![0, 1, 2], vec![2], vec![2], vec![], vec![0, 2], vec![1], vec![1]];
    for n_items in [3, 100_000] {
        for n in 0..=all.len() {
            let sets = sets(n_items, &all[..n]);
            for k in [1, 2, 3, 50] {
                assert_permutation(&best(&sets, k, 1), n);
            }
            for segment in [(1, 1), (1, 2), (2, 3), (4, 4), (300, 350)] {
                assert_permutation(&gray_tsp(&sets, segment, 1), n);
            }
        }
    }
    let one_item = sets(1, &vec![vec![0]; 40]);
    assert_permutation(&best(&one_item, 4, 1), 40);
    let no_item = sets(0, &vec![vec![]; 40]);
    assert_permutation(&best(&no_item, 4, 1), 40);
    assert_permutation(&gray_tsp(&no_item, (3, 5), 1), 40);
    assert_eq!(tour_length(&no_item, &[], true), 0);
    assert_eq!(tour_length(&one_item, &[7], true), 0);
}

#[test]
fn nested_and_repeated_records() {
    // More than are compared pair by pair; the ends of all Gray orders are the same.
    let nested = |i: u32| (0..i % 2500 / 50).collect::<Vec<u32>>();
    let pairs = |i: u32| vec![i % 50, 50 + i / 50];
    for (n, rows) in [(5000, &nested as &dyn Fn(u32) -> Vec<u32>), (2600, &pairs)] {
        let sets = sets(110, &(0..n).map(rows).collect::<Vec<_>>());
        for k in [2, 16] {
            assert_permutation(&best(&sets, k, 1), n as usize);
        }
    }
    let line: Vec<Vec<u32>> = (0..2300).map(|i| (0..i / 10).chain(std::iter::once(230 + i % 10)).collect()).collect();
    assert_permutation(&best(&sets(240, &line), 4, 1), 2300);
}

#[test]
fn segments_keep_their_ends_and_get_shorter() {
    let sets = clusters(2000, 12, 6, 30);
    let gray = gray_order(&sets, None, &Control::new()).unwrap();
    let order = gray_tsp(&sets, (50, 50), 3);
    assert_permutation(&order, 2000);
    for (before, after) in gray.chunks(50).zip(order.chunks(50)) {
        assert_eq!((before[0], before[49]), (after[0], after[49]));
        assert!(tour_length(&sets, after, false) <= tour_length(&sets, before, false));
        let (mut before, mut after) = (before.to_vec(), after.to_vec());
        before.sort_unstable();
        after.sort_unstable();
        assert_eq!(before, after);
    }
    let lengths = [&gray, &order, &gray_tsp(&sets, (300, 350), 3)].map(|order| tour_length(&sets, order, true));
    assert!(lengths[0] > lengths[1] && lengths[1] > lengths[2], "{lengths:?}");
}

#[test]
fn better_orders_have_smaller_errors() {
    let sets = clusters(2500, 20, 8, 60);
    let gray = gray_order(&sets, None, &Control::new()).unwrap();
    let tsp = gray_tsp(&sets, (300, 350), 1);
    for k in [3, 9, 25] {
        let best = best(&sets, k, 1);
        assert_permutation(&best, 2500);
        let errors = [&gray, &tsp, &best].map(|order| error(&sets, order, k));
        assert!(errors[0] > errors[1] && errors[1] > errors[2], "k = {k}: {errors:?}");
    }
}

#[test]
fn a_tree_keeps_clusters_together() {
    // Records of a prototype differ from it in few values, so hardly any neighbours are of two prototypes.
    let sets = clusters(2500, 20, 8, 60);
    let tree = tree_order(&sets, &streams(1), &Control::new()).unwrap();
    assert_permutation(&tree, 2500);
    let gray = gray_order(&sets, None, &Control::new()).unwrap();
    let tsp = gray_tsp(&sets, (300, 350), 1);
    assert!(error(&sets, &tree, 25) < error(&sets, &tsp, 25).min(error(&sets, &gray, 25)));
}

#[test]
fn progress_begins_once() {
    let n = 2_500;
    let sets = clusters(n, 20, 8, 60);
    for k in [3, 9, 25] {
        let control = Control::new();
        best_order(&sets, k, &streams(1), &control).unwrap();
        let (done, total) = control.progress();
        assert_eq!(done, total, "k = {k}");
        assert!(total > 20 * n as u64, "k = {k}: {total} units are those of a part");
    }
    let control = Control::new();
    tree_order(&sets, &streams(1), &control).unwrap();
    assert_eq!(control.progress(), (20 * n as u64, 20 * n as u64));
}

#[test]
fn sizes_out_of_range_are_refused() {
    let sets = sets(2, &[vec![0], vec![1]]);
    for segment in [(0, 3), (5, 4), (300, 100_000)] {
        let refused = gray_tsp_order(&sets, segment, &streams(1), &Control::new());
        assert!(matches!(refused, Err(Error::Parameter(_))));
    }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let sets = clusters(2200, 15, 5, 40);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let tree = || tree_order(&sets, &streams(9), &Control::new()).unwrap();
        pool.install(|| (gray_tsp(&sets, (100, 130), 9), best(&sets, 3, 9), best(&sets, 16, 9), tree()))
    };
    let one = on(1);
    assert!(on(3) == one);
    assert_ne!(gray_tsp(&sets, (100, 130), 10), one.0);
}

#[test]
fn work_stops_when_asked() {
    let sets = clusters(500, 5, 4, 5);
    let control = Control::new();
    control.stop();
    let stopped: Result<Vec<u32>> = Err(Error::Stopped);
    assert_eq!(gray_tsp_order(&sets, (30, 50), &streams(1), &control), stopped);
    assert_eq!(best_order(&sets, 4, &streams(1), &control), stopped);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn orders_are_permutations(
        rows in prop::collection::vec(prop::collection::btree_set(0u32..12, 0..8), 0..90),
        low in 1usize..20, more in 0usize..9, k in 1usize..30,
    ) {
        let rows: Vec<Vec<u32>> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        let sets = sets(12, &rows);
        let gray = gray_order(&sets, None, &Control::new()).unwrap();
        let tsp = gray_tsp(&sets, (low, low + more), 4);
        assert_permutation(&tsp, rows.len());
        assert_permutation(&best(&sets, k, 4), rows.len());
        assert_permutation(&tree_order(&sets, &streams(4), &Control::new()).unwrap(), rows.len());
        prop_assert!(tour_length(&sets, &tsp, true) <= tour_length(&sets, &gray, true));
    }
}
