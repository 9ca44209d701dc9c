//! Votes and possible worlds, against their definitions.

use crate::common::sets;
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::itemsets::compatible::{self, Published};
use nominym_core::itemsets::vote::{self, Votes};
use nominym_core::itemsets::{Itemsets, rows};
use nominym_core::lists::Lists;
use nominym_core::rng::{Stream, Streams};
use proptest::prelude::*;
use rand::RngExt;

/// Records as bitmaps, the first item on the left.
fn bitmaps(text: &[&str]) -> Itemsets {
    let row = |bits: &&str| (0..).zip(bits.bytes()).filter(|x| x.1 == b'1').map(|x| x.0).collect();
    sets(text[0].len() as u32, &text.iter().map(row).collect::<Vec<_>>())
}

/// The votes when every node lists its preimages; errors are averaged over each record's own nodes.
fn naive(all: &Itemsets, preimages: &[Vec<u32>]) -> Votes {
    let usual = |item| 2 * all.rows().filter(|row| row.contains(&item)).count() > all.n();
    let (mut base, mut distance, mut threshold) = (vec![], vec![], vec![]);
    let mut errors = vec![vec![]; all.n()];
    for voters in preimages {
        let count = |item| voters.iter().filter(|&&i| all.row(i).contains(&item)).count();
        let items = 0..all.n_items();
        let holds = |&item: &u32| 2 * count(item) > voters.len() || 2 * count(item) == voters.len() && usual(item);
        let row: Vec<u32> = items.clone().filter(holds).collect();
        distance.push(items.clone().filter(|&item| count(item) > 0 && count(item) < voters.len()).collect());
        let differ = |i: u32| items.clone().filter(|x| row.contains(x) != all.row(i).contains(x)).count();
        threshold.push(voters.iter().map(|&i| differ(i) as u32).max().unwrap());
        for &i in voters {
            errors[i as usize].push(differ(i) as f64 / all.row(i).len().max(1) as f64);
        }
        base.push(row);
    }
    let mean = |errors: &Vec<f64>| errors.iter().sum::<f64>() / errors.len() as f64;
    let error = errors.iter().map(mean).sum::<f64>() / all.n() as f64;
    Votes { base: sets(all.n_items(), &base), distance: sets(all.n_items(), &distance), threshold, error }
}

fn ring_preimages(order: &[u32], k: usize) -> Vec<Vec<u32>> {
    let mut preimages = vec![vec![]; order.len()];
    for p in 0..order.len() {
        for step in 0..k {
            preimages[order[(p + step) % order.len()] as usize].push(order[p]);
        }
    }
    preimages
}

fn assert_same(found: &Votes, expected: &Votes) {
    assert_eq!((&found.base, &found.distance), (&expected.base, &expected.distance));
    assert_eq!(found.threshold, expected.threshold);
    assert!((found.error - expected.error).abs() < 1e-9, "{} {}", found.error, expected.error);
}

/// For each record, the rows that it could be, by the definition.
fn worlds(votes: &Votes, records: &Itemsets) -> Vec<u32> {
    let could_be = |record: &[u32], v: u32| {
        let (base, distance) = (votes.base.row(v), votes.distance.row(v));
        let differ: Vec<u32> = (0..records.n_items()).filter(|x| record.contains(x) != base.contains(x)).collect();
        differ.iter().all(|x| distance.contains(x)) && differ.len() <= votes.threshold[v as usize] as usize
    };
    records.rows().map(|record| (0..votes.base.n() as u32).filter(|&v| could_be(record, v)).count() as u32).collect()
}

fn compatible(votes: &Votes, records: &Itemsets) -> Vec<u32> {
    let published = Published { base: &votes.base, distance: &votes.distance, threshold: &votes.threshold };
    compatible::count(&published, records, &Control::new()).unwrap()
}

/// Records over a few items, and a random order of them.
fn data() -> impl Strategy<Value = (Itemsets, Vec<u32>)> {
    let rows = prop::collection::vec(prop::collection::btree_set(0u32..9, 0..9), 1..40);
    rows.prop_flat_map(|rows| {
        let rows: Vec<Vec<u32>> = rows.into_iter().map(|row| row.into_iter().collect()).collect();
        let order: Vec<u32> = (0..rows.len() as u32).collect();
        (Just(sets(9, &rows)), Just(order).prop_shuffle())
    })
}

/// Clustered records, as many as wanted.
fn clustered(n: usize, seed: u64) -> Itemsets {
    let mut rng = Streams::new(Some(seed)).unwrap().generator(Stream::Synthetic(0), 0);
    let row = |i: usize| {
        let mut row: Vec<u32> = (0..10).map(|_| (i as u32 / 8 * 7 + rng.random_range(0..14)) % 500).collect();
        row.sort_unstable();
        row.dedup();
        row
    };
    sets(500, &(0..n).map(row).collect::<Vec<_>>())
}

const EXAMPLE: [&str; 6] = ["1100", "0110", "1101", "0111", "1110", "1011"];

#[test]
fn the_published_example() {
    let all = bitmaps(&EXAMPLE);
    let order = [1, 3, 2, 0, 4, 5];
    let votes = vote::ring(&all, &order, 3, None, &Control::new()).unwrap();
    assert_eq!(votes.base, bitmaps(&["1101", "1110", "0111", "0111", "1100", "1110"]));
    assert_eq!(votes.distance, bitmaps(&["1011", "1101", "1011", "1101", "0011", "0111"]));
    assert_eq!(votes.threshold, [2, 2, 2, 2, 1, 2]);
    assert_same(&votes, &naive(&all, &ring_preimages(&order, 3)));
    assert!(compatible(&votes, &all).iter().all(|&count| count >= 3));
    assert_eq!(compatible(&votes, &all), worlds(&votes, &all));
}

proptest! {
    #[test]
    fn rings((all, order) in data(), k in any::<prop::sample::Index>()) {
        let k = k.index(all.n()) + 1;
        let votes = vote::ring(&all, &order, k, None, &Control::new()).unwrap();
        assert_same(&votes, &naive(&all, &ring_preimages(&order, k)));
        let worlds = worlds(&votes, &all);
        prop_assert!(worlds.iter().all(|&count| count as usize >= k));
        prop_assert_eq!(compatible(&votes, &all), worlds);
        // The same in other rows.
        let given = vote::ring(&all, &order, k, Some(&order), &Control::new()).unwrap();
        prop_assert_eq!(given.base.select(&order, &Control::new()).unwrap(), votes.base);
        prop_assert_eq!(given.distance.select(&order, &Control::new()).unwrap(), votes.distance);
        prop_assert!((0..).zip(&votes.threshold).all(|(v, t): (usize, _)| given.threshold[order[v] as usize] == *t));
        prop_assert!(vote::ring(&all, &order, k, Some(&[]), &Control::new()).is_err());
    }

    #[test]
    fn groups((all, order) in data(), sizes in prop::collection::vec(1usize..9, 40)) {
        let (mut groups, mut left, mut preimages) = (Lists::builder(0, 0), &order[..], vec![vec![]; all.n()]);
        for size in sizes {
            let (group, rest) = left.split_at(size.min(left.len()));
            groups.push(group.iter().copied());
            left = rest;
            for &i in group {
                preimages[i as usize] = group.to_vec();
            }
        }
        let votes = vote::groups(&all, &groups, None, &Control::new()).unwrap();
        assert_same(&votes, &naive(&all, &preimages));
        prop_assert_eq!(compatible(&votes, &all), worlds(&votes, &all));
    }

    #[test]
    fn assignments((all, order) in data(), k in any::<prop::sample::Index>()) {
        // The k shifts of a ring are disjoint assignments of it, so their votes are the ring's.
        let (n, k) = (all.n(), k.index(all.n()) + 1);
        let shift = |by: usize| {
            let mut assignment = vec![0; n];
            for p in 0..n {
                assignment[order[p] as usize] = order[(p + by) % n];
            }
            assignment
        };
        let shifts: Vec<Vec<u32>> = (0..k).rev().map(shift).collect();
        let votes = vote::assignments(&all, &shifts, None, &Control::new()).unwrap();
        assert_same(&votes, &naive(&all, &ring_preimages(&order, k)));
        let rate = |a: &Vec<u32>| vote::error_rate(&all, &votes.base, a, &Control::new()).unwrap();
        let mean = shifts.iter().map(rate).sum::<f64>() / k as f64;
        prop_assert!((mean - votes.error).abs() < 1e-9);
    }

    #[test]
    fn worlds_of_strangers((all, order) in data(), (others, _) in data()) {
        let votes = vote::ring(&all, &order, 1 + all.n() / 3, None, &Control::new()).unwrap();
        prop_assert_eq!(compatible(&votes, &others), worlds(&votes, &others));
    }
}

#[test]
fn long_orders_are_voted_in_parts_and_the_same_on_any_number_of_threads() {
    let n = 5_000;
    let all = clustered(n, 1);
    let random = rows::shuffled(n as u32, &Streams::new(Some(2)).unwrap()).unwrap();
    let in_order: Vec<u32> = (0..n as u32).collect();
    for (order, k) in [(&random, 7), (&in_order, 16), (&in_order, 300), (&in_order, n)] {
        let votes = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| vote::ring(&all, order, k, None, &Control::new()).unwrap())
        };
        let found = votes(1);
        assert_eq!(found, votes(3));
        if k == n {
            assert!(found.base.rows().all(|row| row == found.base.row(0)));
            continue;
        }
        // Counted node by node, because the definition is slow.
        let mut shifts = vec![vec![0; n]; k];
        for p in 0..n {
            for (by, shift) in shifts.iter_mut().enumerate() {
                shift[order[p] as usize] = order[(p + by) % n];
            }
        }
        assert_same(&found, &vote::assignments(&all, &shifts, None, &Control::new()).unwrap());
    }
}

#[test]
fn worlds_of_many_rows() {
    let all = clustered(9_000, 3);
    let order: Vec<u32> = (0..9_000).collect();
    let votes = vote::ring(&all, &order, 5, None, &Control::new()).unwrap();
    let found = compatible(&votes, &all);
    assert!(found.iter().all(|&count| count >= 5));
    let some: Vec<u32> = (0..9_000).step_by(450).collect();
    let sample = all.select(&some, &Control::new()).unwrap();
    let expected = worlds(&votes, &sample);
    assert_eq!(some.iter().map(|&i| found[i as usize]).collect::<Vec<_>>(), expected);
    assert_eq!(compatible(&votes, &sample), expected);
    // Groups of two: more than a block of different rows, each there twice.
    let groups = Lists::group(4_500, order.iter().map(|&i| (i / 2, i)));
    let votes = vote::groups(&all, &groups, None, &Control::new()).unwrap();
    let found = compatible(&votes, &sample);
    assert!(found.iter().all(|&count| count >= 2));
    assert_eq!(found, worlds(&votes, &sample));
}

#[test]
fn what_is_no_graph_is_refused() {
    let all = bitmaps(&EXAMPLE);
    let order: Vec<u32> = (0..6).collect();
    let control = Control::new();
    for (order, k) in
        [(&order[..], 0), (&order, 7), (&order[..5], 2), (&[0, 1, 2, 3, 4, 4], 2), (&[0, 1, 2, 3, 4, 6], 2)]
    {
        assert!(matches!(vote::ring(&all, order, k, None, &control), Err(Error::Parameter(_))));
    }
    for pairs in [vec![(0, 0)], vec![(0, 0), (0, 1), (0, 2), (1, 3), (1, 4), (1, 4)], (0..7).map(|i| (0, i)).collect()]
    {
        let groups = Lists::group(2, pairs.into_iter());
        assert!(matches!(vote::groups(&all, &groups, None, &control), Err(Error::Parameter(_))));
    }
    for assignments in [vec![], vec![vec![0; 6]], vec![order.clone(), order.clone()]] {
        assert!(matches!(vote::assignments(&all, &assignments, None, &control), Err(Error::Parameter(_))));
    }
    assert!(vote::error_rate(&all, &all, &[0, 1], &control).is_err());
    assert!(vote::error_rate(&all, &all, &[6; 6], &control).is_err());
    let published = Published { base: &all, distance: &all, threshold: &[1] };
    assert!(compatible::count(&published, &all, &control).is_err());
    control.stop();
    assert_eq!(vote::ring(&all, &order, 3, None, &control), Err(Error::Stopped));
}

#[test]
fn ties_go_with_the_majority_of_all_records() {
    // Item 0 is held by most records, item 1 by few; both are tied in the first group.
    let all = sets(2, &[vec![0, 1], vec![], vec![0], vec![0]]);
    let groups = Lists::group(2, [(0, 0), (0, 1), (1, 2), (1, 3)].into_iter());
    let votes = vote::groups(&all, &groups, None, &Control::new()).unwrap();
    assert_eq!((votes.base.row(0), votes.base.row(1), votes.distance.row(0)), (&[0][..], &[0][..], &[0, 1][..]));
    assert_eq!(votes.threshold, [1, 1, 0, 0]);
    // Half of two records, and no more than half of all: not set.
    let half = sets(1, &[vec![0], vec![]]);
    let votes = vote::ring(&half, &[0, 1], 2, None, &Control::new()).unwrap();
    assert_eq!((votes.base.row(0), votes.error), (&[][..], 0.5));
}
