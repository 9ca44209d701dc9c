//! l-diversity: different labels for every record whatever the labels, as long as they allow it.

use std::collections::{HashMap, HashSet};

use crate::common::{shuffled, streams};
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::itemsets::Itemsets;
use nominym_core::itemsets::assign::Graph;
use nominym_core::itemsets::cahd::{blocks, cahd};
use nominym_core::itemsets::diverse::greedy_walk;
use nominym_core::lists::Lists;
use nominym_core::rng::Stream;
use proptest::prelude::*;
use rand::RngExt;

/// Records near each other in `order` share items.
fn sets(order: &[u32]) -> Itemsets {
    let n = order.len();
    let mut rows = vec![Vec::new(); n];
    for (p, &record) in order.iter().enumerate() {
        rows[record as usize] = (p as u32 / 2..p as u32 / 2 + 5).collect();
    }
    let starts = (0..=n).map(|i| 5 * i).collect();
    Itemsets::new(n as u32 / 2 + 6, starts, rows.concat()).unwrap()
}

fn assert_diverse(labels: &[u32], assignments: &[Vec<u32>], l: usize) {
    assert_eq!(assignments.len(), l);
    for record in 0..labels.len() {
        let different: HashSet<u32> = assignments.iter().map(|a| labels[a[record] as usize]).collect();
        assert_eq!(different.len(), l, "record {record}");
    }
    // Every form once in each, and so disjoint.
    Graph::union(assignments, (0..labels.len() as u32).collect()).unwrap();
    for assignment in assignments {
        assert_eq!(assignment.iter().collect::<HashSet<_>>().len(), labels.len());
    }
}

fn assert_groups(labels: &[u32], groups: &Lists, l: usize) {
    let all: HashSet<u32> = (0..groups.len()).flat_map(|g| groups.of(g).iter().copied()).collect();
    assert_eq!((all.len(), groups.total(), groups.len()), (labels.len(), labels.len(), labels.len() / l));
    for group in (0..groups.len()).map(|g| groups.of(g)) {
        let different: HashSet<u32> = group.iter().map(|&record| labels[record as usize]).collect();
        assert!(different.len() == group.len() && group.len() >= l);
        assert!(group.len() <= labels.len().div_ceil(groups.len()));
    }
}

fn check(labels: &[u32], l: usize, seed: u64) {
    let order = shuffled(labels.len(), seed);
    let sets = sets(&order);
    let control = Control::new();
    let assignments = greedy_walk(&sets, &order, labels, l, &streams(seed), &control).unwrap();
    assert_diverse(labels, &assignments, l);
    for candidates in [1, 3] {
        assert_groups(labels, &cahd(&sets, &order, labels, l, candidates, &control).unwrap(), l);
    }
}

/// Labels of which the first few are on as many records as may be, the rest on few.
fn tight(n: usize, l: usize, labels: usize, seed: u64) -> Vec<u32> {
    let most = n / l;
    let rare = |i: usize| labels + (i - labels * most) / most.div_ceil(3);
    let codes: Vec<u32> = (0..n).map(|i| if i < labels * most { i / most } else { rare(i) } as u32).collect();
    shuffled(n, seed).into_iter().map(|i| codes[i as usize]).collect()
}

#[test]
fn labels_on_as_many_records_as_may_be() {
    for n in [24, 120, 121, 127, 403] {
        for l in [1, 2, 3, 4, 5, 7, 10] {
            for labels in 1..=l.min(4) {
                for seed in 0..3 {
                    check(&tight(n, l, labels, seed), l, seed);
                }
            }
            check(&tight(n, l, l, 9), l, 9); // no room at all where l divides n
        }
    }
}

#[test]
fn labels_in_long_runs() {
    // Along the order: only far away are there other labels.
    for (n, l, seed) in [(400, 4, 1), (401, 4, 2), (403, 7, 3), (3000, 6, 4)] {
        let order = shuffled(n, seed);
        let mut labels = vec![0; n];
        for (p, &record) in order.iter().enumerate() {
            labels[record as usize] = (p / (n / l)) as u32;
        }
        check(&labels, l, seed);
    }
}

#[test]
fn smallest_and_largest() {
    let different: Vec<u32> = (0..30).map(|i| 7 * i + 5).collect();
    for l in [1, 2, 13, 15, 16, 29, 30] {
        check(&different, l, l as u64);
    }
    check(&[4; 9], 1, 1);
    check(&[4], 1, 1);
    check(&[4, 1, 4, 1], 2, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_possible_is_done(
        n in 2usize..80, l in any::<prop::sample::Index>(), draws in prop::collection::vec(any::<prop::sample::Index>(), 80),
        kinds in 1usize..12, seed in 0u64..1000,
    ) {
        let l = l.index(n.min(12)) + 1;
        // Each record takes one of a few labels that still may be, and a new one where none may.
        let mut room: Vec<usize> = vec![n / l; kinds];
        let mut labels = Vec::new();
        for draw in &draws[..n] {
            let free: Vec<usize> = (0..room.len()).filter(|&label| room[label] > 0).collect();
            let label = if free.is_empty() { room.push(n / l); room.len() - 1 } else { free[draw.index(free.len())] };
            room[label] -= 1;
            labels.push(label as u32);
        }
        check(&labels, l, seed);
    }
}

#[test]
fn too_many_of_one_label_are_refused() {
    let order = shuffled(10, 1);
    let labels = [3, 8, 8, 8, 8, 1, 2, 5, 4, 6];
    let run = |l| greedy_walk(&sets(&order), &order, &labels, l, &streams(1), &Control::new());
    assert!(run(2).is_ok());
    let Err(Error::Parameter(message)) = run(3) else { panic!("4 of 10 is more than a third") };
    assert_eq!(message, "label 8 is on 4 of 10 records; with l = 3 at most 3 are possible");
    assert!(cahd(&sets(&order), &order, &labels, 3, 1, &Control::new()).is_err());
    for l in [0, 11] {
        assert!(run(l).is_err());
    }
    for bad in [vec![], vec![0; 9], vec![0; 10]] {
        assert!(greedy_walk(&sets(&order), &bad, &labels, 2, &streams(1), &Control::new()).is_err());
        assert!(blocks(&bad, 2).is_err());
    }
    assert!(greedy_walk(&sets(&order), &order, &labels[..9], 2, &streams(1), &Control::new()).is_err());
}

#[test]
fn picks_are_the_nearest() {
    // All labels differ: everyone gets themselves, and then a neighbour (to which the first walk leads all round the circle).
    let order = shuffled(200, 1);
    let labels: Vec<u32> = (0..200).collect();
    let position: HashMap<u32, i32> = (0..).zip(&order).map(|(p, &record)| (record, p)).collect();
    let all = greedy_walk(&sets(&order), &order, &labels, 5, &streams(1), &Control::new()).unwrap();
    assert_eq!(all[0], (0..200).collect::<Vec<u32>>());
    for (round, limit) in [(1, 1.1), (2, 1.8), (3, 2.5), (4, 3.5)] {
        let gap = |a: u32, b: u32| {
            let steps = (position[&a] - position[&b]).abs();
            f64::from(steps.min(200 - steps))
        };
        let mean = (0..200).map(|i| gap(i, all[round][i as usize])).sum::<f64>() / 200.0;
        assert!(mean < limit, "round {round}: {mean}");
    }
}

#[test]
fn same_seed_same_assignments() {
    let labels = tight(500, 4, 2, 1);
    let order = shuffled(500, 1);
    let run = |seed| greedy_walk(&sets(&order), &order, &labels, 4, &streams(seed), &Control::new()).unwrap();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn stopped_when_asked() {
    let control = Control::new();
    control.stop();
    let (order, labels) = (shuffled(100, 1), (0..100).collect::<Vec<u32>>());
    let walk = greedy_walk(&sets(&order), &order, &labels, 4, &streams(1), &control);
    assert_eq!(walk.unwrap_err(), Error::Stopped);
    assert_eq!(cahd(&sets(&order), &order, &labels, 4, 1, &control).unwrap_err(), Error::Stopped);
}

#[test]
fn groups_along_the_order() {
    // Order alone: a b a c b c d d, in pairs of different labels.
    let order: Vec<u32> = (0..8).rev().collect();
    let labels = [3, 3, 2, 1, 2, 0, 1, 0];
    let groups = cahd(&sets(&order), &order, &labels, 2, 1, &Control::new()).unwrap();
    let groups: Vec<&[u32]> = (0..groups.len()).map(|g| groups.of(g)).collect();
    assert_eq!(groups, [[7, 6], [5, 4], [3, 1], [2, 0]]);
    // Nearness: with more candidates the first is joined by a copy of itself.
    let copies = Itemsets::new(4, vec![0, 1, 2, 3, 4], vec![0, 3, 0, 3]).unwrap();
    let groups = cahd(&copies, &[0, 1, 2, 3], &[0, 1, 2, 3], 2, 2, &Control::new()).unwrap();
    assert_eq!((groups.of(0), groups.of(1)), (&[0, 2][..], &[1, 3][..]));
    let groups = blocks(&order, 3).unwrap();
    assert_eq!((groups.len(), groups.of(0), groups.of(1)), (2, &[7, 6, 5][..], &[4, 3, 2, 1, 0][..]));
}

#[test]
fn many_short_matches_are_repaired_fast() {
    // Half of the labels are as frequent as may be, and come in runs: few walks close.
    let (n, l) = (30_000, 6);
    let mut rng = streams(1).generator(Stream::Synthetic(0), 0);
    let labels: Vec<u32> =
        (0..n).map(|p| if p < n / 2 { p / (n / l) } else { 3 + rng.random_range(0..300) } as u32).collect();
    let order: Vec<u32> = (0..n as u32).collect();
    let all = greedy_walk(&sets(&order), &order, &labels, l, &streams(1), &Control::new()).unwrap();
    assert_diverse(&labels, &all, l);
}
