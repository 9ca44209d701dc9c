//! Groups of item sets, against brute force and on the edges of what is possible.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::common::{sets, shuffled, streams};
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::groups::Effort;
use nominym_core::groups::itemsets::{diverse, error, partition, usual_effort};
use nominym_core::itemsets::Itemsets;
use nominym_core::lists::Lists;
use nominym_core::rng::Stream;
use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;

const SEARCH: Effort = Effort::new(20, 3);
const DESCENT: Effort = Effort::new(0, 3);

/// Records around some centres, of unequal lengths.
fn clustered(n: usize, n_items: u32, centres: usize, seed: u64) -> Itemsets {
    let mut rng = streams(seed).generator(Stream::Synthetic(0), 0);
    let centres: Vec<Vec<bool>> = (0..centres)
        .map(|_| {
            let share = rng.random_range(0.05..0.6);
            (0..n_items).map(|_| rng.random_bool(share)).collect()
        })
        .collect();
    let rows: Vec<Vec<u32>> = (0..n)
        .map(|_| {
            let centre = &centres[rng.random_range(0..centres.len())];
            (0..n_items).filter(|&item| centre[item as usize] != rng.random_bool(0.15)).collect()
        })
        .collect();
    sets(n_items, &rows)
}

/// The mean error, bit by bit over all items.
fn naive_error(sets: &Itemsets, groups: &Lists) -> f64 {
    let frequencies = sets.frequencies().unwrap();
    let mut sum = 0.0;
    for group in (0..groups.len()).map(|g| groups.of(g)) {
        for item in 0..sets.n_items() {
            let holds = |&&record: &&u32| sets.row(record).contains(&item);
            let votes = group.iter().filter(holds).count();
            let set = 2 * votes > group.len()
                || (2 * votes == group.len() && 2 * frequencies[item as usize] as usize > sets.n());
            let flipped = group.iter().filter(|record| holds(record) != set);
            sum += flipped.map(|&record| 1.0 / sets.row(record).len().max(1) as f64).sum::<f64>();
        }
    }
    sum / sets.n() as f64
}

fn assert_partition(n: usize, groups: &Lists, least: usize) {
    let mut seen = HashSet::new();
    for group in (0..groups.len()).map(|g| groups.of(g)) {
        assert!((least..2 * least).contains(&group.len()), "a group of {}, {least} at least", group.len());
        assert!(group.iter().all(|&record| (record as usize) < n && seen.insert(record)));
    }
    assert_eq!(seen.len(), n);
}

fn assert_diverse(labels: &[u32], groups: &Lists, l: usize) {
    assert_partition(labels.len(), groups, l);
    for group in (0..groups.len()).map(|g| groups.of(g)) {
        let distinct: HashSet<u32> = group.iter().map(|&record| labels[record as usize]).collect();
        assert_eq!(distinct.len(), group.len());
    }
}

fn cut(sets: &Itemsets, order: &[u32], k: usize, effort: Effort) -> Lists {
    partition(sets, order, k, effort, &streams(3), &Control::new()).unwrap()
}

/// Rows, an order and a size of groups.
fn cases(max: usize) -> impl Strategy<Value = (Itemsets, Vec<u32>, usize)> {
    (1..max, 1u32..90, 1usize..6, any::<u64>()).prop_flat_map(|(n, items, centres, seed)| {
        let data = clustered(n, items, centres, seed);
        (Just(data), Just(shuffled(n, seed)), 1..=n.min(9))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn search_gains_and_keeps_the_promise((sets, order, k) in cases(150)) {
        let before = cut(&sets, &order, k, Effort::NONE);
        assert_partition(sets.n(), &before, k);
        prop_assert!((error(&sets, &before) - naive_error(&sets, &before)).abs() < 1e-9);
        let after = cut(&sets, &order, k, DESCENT);
        assert_partition(sets.n(), &after, k);
        prop_assert!(error(&sets, &after) <= error(&sets, &before) + 1e-7);
        let annealed = cut(&sets, &order, k, SEARCH);
        assert_partition(sets.n(), &annealed, k);
        prop_assert!((error(&sets, &annealed) - naive_error(&sets, &annealed)).abs() < 1e-9);
    }

    /// Labels dealt so that the most frequent ones are on as many records as can be.
    #[test]
    fn eligible_labels_always_complete((sets, order, l) in cases(120), tight in 0usize..9, seed in any::<u64>()) {
        let n = sets.n();
        let mut rng = streams(seed).generator(Stream::Synthetic(2), 0);
        let most = n / l;
        let mut labels: Vec<u32> = (0..tight.min(l) as u32).flat_map(|label| vec![label; most]).collect();
        let mut left = vec![most; n];
        while labels.len() < n {
            let bound = rng.random_range(1..=n);
            let label = rng.random_range(0..bound);
            if left[label] > 0 {
                left[label] -= 1;
                labels.push(1000 + label as u32);
            }
        }
        labels.shuffle(&mut rng);
        for effort in [Effort::NONE, SEARCH] {
            let groups = diverse(&sets, &labels, &order, l, effort, &streams(1), &Control::new()).unwrap();
            assert_diverse(&labels, &groups, l);
        }
        // Labels in blocks along the order, where nearest records all share one.
        let mut sorted = labels.clone();
        sorted.sort_unstable();
        let mut blocks = vec![0; n];
        for (&record, label) in order.iter().zip(sorted) {
            blocks[record as usize] = label;
        }
        let groups = diverse(&sets, &blocks, &order, l, SEARCH, &streams(1), &Control::new()).unwrap();
        assert_diverse(&blocks, &groups, l);
    }
}

#[test]
fn tight_labels() {
    for l in 1usize..=6 {
        for n in [l, l + 1, 2 * l - 1, 2 * l, 7 * l, 7 * l + 1, 7 * l + l / 2, 8 * l - 1, 40 * l + l - 1] {
            let most = n / l;
            for tight in 0..=l.min(4) {
                for reversed in [false, true] {
                    // As few records as there may be have labels of their own.
                    let mut labels: Vec<u32> = (0..tight as u32).flat_map(|label| vec![label; most]).collect();
                    labels.extend(100..100 + (n - labels.len()) as u32);
                    let mut order: Vec<u32> = (0..n as u32).collect();
                    if reversed {
                        order.reverse();
                    }
                    let data = clustered(n, 20, 3, n as u64);
                    let groups = diverse(&data, &labels, &order, l, SEARCH, &streams(1), &Control::new()).unwrap();
                    assert_diverse(&labels, &groups, l);
                }
            }
        }
    }
}

#[test]
fn a_label_too_frequent_is_named() {
    let data = clustered(10, 8, 2, 1);
    let labels = [7, 7, 7, 7, 1, 2, 3, 4, 5, 6];
    let go = |l| diverse(&data, &labels, &shuffled(10, 1), l, SEARCH, &streams(1), &Control::new());
    assert!(go(2).is_ok());
    let Err(Error::Parameter(message)) = go(3) else { panic!("4 of 10 records in groups of 3") };
    assert!(message.contains("label 7") && message.contains("4 of 10"), "{message}");
    assert!(diverse(&data, &labels[1..], &shuffled(10, 1), 2, SEARCH, &streams(1), &Control::new()).is_err());
    // Everybody in one group needs ten labels.
    let distinct: Vec<u32> = (0..10).collect();
    let groups = diverse(&data, &distinct, &shuffled(10, 1), 10, SEARCH, &streams(1), &Control::new()).unwrap();
    assert_eq!((groups.len(), groups.total()), (1, 10));
}

#[test]
fn wrong_arguments_are_refused() {
    let data = clustered(10, 8, 2, 1);
    let go = |order: &[u32], k| partition(&data, order, k, SEARCH, &streams(1), &Control::new());
    let order = shuffled(10, 1);
    for k in [0, 11] {
        assert!(matches!(go(&order, k), Err(Error::Parameter(_))));
    }
    assert!(go(&order[..9], 2).is_err() && go(&[0; 10], 2).is_err() && go(&[10; 10], 2).is_err());
    assert!(partition(&sets(3, &[]), &[], 2, SEARCH, &streams(1), &Control::new()).is_err());
}

#[test]
fn one_group_where_there_is_room_for_one() {
    for (n, k) in [(1, 1), (5, 5), (9, 5), (7, 4)] {
        let data = clustered(n, 12, 2, 1);
        let groups = cut(&data, &shuffled(n, 1), k, SEARCH);
        assert_eq!((groups.len(), groups.total()), (1, n));
    }
}

#[test]
fn groups_of_one_have_no_error() {
    let data = clustered(50, 12, 2, 1);
    assert_eq!(error(&data, &cut(&data, &shuffled(50, 1), 1, SEARCH)), 0.0);
}

#[test]
fn empty_and_equal_rows() {
    let data = sets(5, &vec![vec![]; 40]);
    let groups = cut(&data, &shuffled(40, 1), 3, SEARCH);
    assert_partition(40, &groups, 3);
    assert_eq!(error(&data, &groups), 0.0);
    let data = sets(5, &vec![vec![1, 3]; 40]);
    assert_eq!(error(&data, &cut(&data, &shuffled(40, 1), 3, SEARCH)), 0.0);
    // Empty ones and equal ones part.
    let rows: Vec<Vec<u32>> = (0..40).map(|i| if i % 2 == 0 { vec![] } else { vec![0, 2, 4] }).collect();
    let data = sets(5, &rows);
    let groups = cut(&data, &shuffled(40, 1), 4, SEARCH);
    assert_eq!(error(&data, &groups), 0.0);
}

#[test]
fn hidden_clusters_are_found() {
    // Thirty clusters of eight; in a random order, neighbours are strangers.
    let mut rng = streams(8).generator(Stream::Synthetic(0), 0);
    let rows: Vec<Vec<u32>> = (0..240u32)
        .map(|i| {
            let mut row: Vec<u32> = (0..5).map(|j| i % 30 * 5 + j).collect();
            row.remove(rng.random_range(0..5));
            row
        })
        .collect();
    let data = sets(150, &rows);
    let order = shuffled(240, 2);
    assert!(error(&data, &cut(&data, &order, 8, Effort::NONE)) > 0.8);
    let found = cut(&data, &order, 8, usual_effort(240));
    for group in (0..found.len()).map(|g| found.of(g)) {
        assert!(group.iter().all(|&record| record % 30 == group[0] % 30), "{group:?}");
    }
}

#[test]
fn threads_do_not_matter() {
    let data = clustered(3000, 70, 20, 4);
    let (order, labels) = (shuffled(3000, 1), (0..3000u32).map(|i| i * i % 97).collect::<Vec<_>>());
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let groups = cut(&data, &order, 5, SEARCH);
            let apart = diverse(&data, &labels, &order, 5, SEARCH, &streams(2), &Control::new()).unwrap();
            (groups.into_items(), apart.into_items())
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn stops_when_asked_and_when_time_is_up() {
    let data = clustered(20_000, 80, 50, 4);
    let order = shuffled(20_000, 1);
    for k in [4, 1500] {
        let control = Control::new();
        let effort = Effort::new(100_000, 0);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| partition(&data, &order, k, effort, &streams(1), &control));
            std::thread::sleep(Duration::from_millis(700));
            control.stop();
            let asked = Instant::now();
            assert_eq!(worker.join().unwrap().err(), Some(Error::Stopped));
            assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
        });
    }
    let effort = Effort { annealing: 100_000, descent: 2, limit: Some(Duration::from_millis(500)) };
    let begin = Instant::now();
    let groups = partition(&data, &order, 4, effort, &streams(1), &Control::new()).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(15));
    assert!(error(&data, &groups) < error(&data, &cut(&data, &order, 4, Effort::NONE)));
}
