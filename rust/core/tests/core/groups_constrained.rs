//! Groups under constraints: always kept, found wherever one group of all keeps them, and near the best.

use std::collections::HashMap;

use crate::common::{rng, streams};
use crate::groups::{SEARCH, Table, fingerprint};
use nominym_core::control::Control;
use nominym_core::error::{Error, Result};
use nominym_core::groups::Effort;
use nominym_core::groups::attributes::{Constraint, partition};
use nominym_core::lists::Lists;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

/// Values of each record, and the share of a constraint.
type Limit = (Vec<u32>, usize);

fn attempt(table: &Table, limits: &[Limit], k: usize, effort: Effort, seed: u64) -> Result<Lists> {
    let constraints: Vec<Constraint<'_>> =
        limits.iter().map(|(values, share)| Constraint { values, share: *share }).collect();
    partition(&table.attributes(), &constraints, k, effort, &streams(seed), &Control::new())
}

/// Whether no value is on more records of a group than its share.
fn keeps(group: &[u32], limits: &[Limit]) -> bool {
    limits.iter().all(|(values, share)| {
        let mut counts = HashMap::new();
        for &record in group {
            *counts.entry(values[record as usize]).or_insert(0) += 1;
        }
        counts.values().all(|count| count * share <= group.len())
    })
}

fn assert_kept(groups: &Lists, n: usize, limits: &[Limit], k: usize, case: &str) {
    let mut seen = vec![false; n];
    for group in groups.iter() {
        assert!(group.len() >= k && keeps(group, limits), "{case}: {group:?}");
        for &record in group {
            assert!(!std::mem::replace(&mut seen[record as usize], true), "{case}: record {record} twice");
        }
    }
    assert!(seen.iter().all(|&seen| seen), "{case}: somebody is missing");
}

/// Values of which some are on as many records as can be.
fn tight(n: usize, share: usize, rng: &mut ChaCha20Rng) -> Vec<u32> {
    let most = n / share;
    let mut values = Vec::with_capacity(n);
    let mut value = 0;
    while values.len() < n {
        let count = if rng.random_bool(0.5) { most } else { rng.random_range(1..=most) };
        values.resize((values.len() + count).min(n), value);
        value += 1;
    }
    values
}

/// A constraint that one group of all keeps: tight, loose, or persons with a few records each; in a random order or along the
/// first column, so that equal values are near each other.
fn limit(table: &Table, k: usize, rng: &mut ChaCha20Rng) -> Limit {
    let n = table.len();
    let share = if rng.random() { k } else { rng.random_range(2..=k) };
    let mut values = match rng.random_range(0..3) {
        0 => tight(n, share, rng),
        1 => (0..n).map(|i| (i / rng.random_range(1..=(n / share).min(5))) as u32).collect(),
        _ => (0..n as u32).collect(),
    };
    // What chance made too frequent is told apart.
    let mut counts = HashMap::new();
    for value in &mut values {
        let count = counts.entry(*value).or_insert(0);
        *count += 1;
        if *count > n / share {
            *value = 1_000_000 + *count as u32;
        }
    }
    values.sort_unstable();
    let mut order: Vec<usize> = (0..n).collect();
    if rng.random() {
        order.sort_by_key(|&i| table.columns[0][i]);
    } else {
        order.shuffle(rng);
    }
    let mut placed = vec![0; n];
    order.into_iter().zip(values).for_each(|(i, value)| placed[i] = value);
    (placed, share)
}

#[test]
fn constraints_are_always_kept() {
    let mut rng = rng(1);
    let (mut larger, mut all) = ([0; 4], [0; 4]);
    for seed in 0..600 {
        let n = rng.random_range(4..300);
        let k = rng.random_range(2..=8.min(n / 2));
        let categories = [2, 5, 40][rng.random_range(0..3)];
        let columns = rng.random_range(1..4);
        let table = Table::random(n, columns, categories, seed);
        let limits: Vec<Limit> = (0..rng.random_range(1..4)).map(|_| limit(&table, k, &mut rng)).collect();
        let effort = [Effort::NONE, Effort::new(0, 2), Effort::new(4, 2)][rng.random_range(0..3)];
        let everybody: Vec<u32> = (0..n as u32).collect();
        let case = format!("case {seed}: n = {n}, k = {k}, {limits:?}");
        match attempt(&table, &limits, k, effort, seed) {
            Ok(groups) => {
                assert_kept(&groups, n, &limits, k, &case);
                let identical = |group: &[u32]| group.iter().all(|&i| table.tuple(i) == table.tuple(group[0]));
                let large = groups.iter().filter(|group| group.len() >= 2 * k && !identical(group));
                larger[limits.len()] += large.map(<[u32]>::len).sum::<usize>();
                all[limits.len()] += n;
            }
            Err(error) => assert!(!keeps(&everybody, &limits), "{case}: {error}"),
        }
    }
    // Measured: 0.1 %, 4 % and 13 % of the records are in groups of 2k and more, by the number of constraints. The largest are
    // where two that are tight leave no other way: shares of 5 and 6 ask for groups of 30.
    let percent: Vec<usize> = (1..4).map(|count| 100 * larger[count] / all[count]).collect();
    assert!(percent[0] < 1 && percent[1] < 6 && percent[2] < 16, "{percent:?}");
}

/// The smallest cost of any partition into groups of at least `k` that keep all limits.
fn optimum(cost: &[Option<f64>], left: usize, known: &mut [Option<f64>]) -> f64 {
    if left == 0 {
        return 0.0;
    }
    if let Some(cost) = known[left] {
        return cost;
    }
    let first = left & left.wrapping_neg();
    let others = left ^ first;
    let mut best = f64::INFINITY;
    let mut subset = others;
    loop {
        if let Some(own) = cost[subset | first] {
            best = best.min(own + optimum(cost, others ^ subset, known));
        }
        if subset == 0 {
            break;
        }
        subset = (subset - 1) & others;
    }
    known[left] = Some(best);
    best
}

#[test]
fn tiny_tables_are_grouped_nearly_as_well_as_can_be() {
    let mut rng = rng(2);
    let (mut hit, mut all, mut excess, mut cost) = (0, 0, 0.0, 0.0);
    for seed in 0..300 {
        let n = rng.random_range(4..=10);
        let k = rng.random_range(2..=3.min(n / 2));
        let table = Table::random(n, 2, 12, seed);
        let limits: Vec<Limit> = (0..rng.random_range(1..3))
            .map(|_| {
                let share = rng.random_range(2..=k);
                let values = rng.random_range(share as u32..=6);
                ((0..n).map(|_| rng.random_range(0..values)).collect(), share)
            })
            .collect();
        let weights = table.weights();
        let members = |subset: usize| (0..n as u32).filter(|i| subset >> i & 1 == 1).collect::<Vec<u32>>();
        let of_group = |group: &[u32]| (group.len() >= k && keeps(group, &limits)).then(|| table.cost(group, &weights));
        let costs: Vec<Option<f64>> = (0..1 << n).map(|subset| of_group(&members(subset))).collect();
        let best = optimum(&costs, (1 << n) - 1, &mut vec![None; 1 << n]);
        // Possible at all just where one group of all is.
        assert_eq!(best.is_finite(), costs[(1 << n) - 1].is_some());
        let found = attempt(&table, &limits, k, SEARCH, seed);
        assert_eq!(found.is_ok(), best.is_finite(), "{limits:?}");
        if let Ok(groups) = found {
            assert_kept(&groups, n, &limits, k, &format!("case {seed}"));
            let found = table.total(&groups);
            assert!(found >= best - 1e-5, "{found} is better than the optimum {best}");
            all += 1;
            hit += usize::from(found <= best + 1e-5);
            excess += found - best;
            cost += best;
        }
    }
    // Measured: 136 of 153 are optimal; all together cost 2.8 % more than the best.
    assert!(all > 100 && hit * 100 >= all * 85 && excess <= 0.05 * cost, "{hit} of {all}, {excess} of {cost}");
}

#[test]
fn neither_threads_nor_the_order_of_records_matter() {
    let table = Table::random(2_000, 2, 12, 8);
    let mut rng = rng(3);
    let persons: Vec<u32> = (0..2_000).map(|_| rng.random_range(0..900)).collect();
    let sensitive: Vec<u32> = (0..2_000).map(|_| rng.random_range(0..3)).collect();
    let limits = [(persons, 4), (sensitive, 2)];
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fingerprint(&attempt(&table, &limits, 4, SEARCH, 3).unwrap()))
    };
    assert_eq!(run(1), run(2));

    let mut rows: Vec<usize> = (0..table.len()).collect();
    rows.shuffle(&mut rng);
    let moved = |column: &Vec<u32>| -> Vec<u32> { rows.iter().map(|&row| column[row]).collect() };
    let other = Table::new(table.columns.iter().map(moved).collect(), table.categories);
    let others = limits.each_ref().map(|(values, share)| (moved(values), *share));
    let shape = |table: &Table, limits: &[Limit]| {
        let record =
            |&i: &u32| (table.tuple(i), limits.iter().map(|(values, _)| values[i as usize]).collect::<Vec<u32>>());
        let groups = attempt(table, limits, 4, SEARCH, 3).unwrap();
        let mut shape: Vec<Vec<_>> = groups.iter().map(|group| group.iter().map(record).collect()).collect();
        for group in &mut shape {
            group.sort();
        }
        shape.sort();
        shape
    };
    assert_eq!(shape(&table, &limits), shape(&other, &others));
}

#[test]
fn tight_constraints_leave_small_groups() {
    let n = 1_200;
    let mean = |table: &Table, limits: &[Limit], k| {
        let groups = attempt(table, limits, k, SEARCH, 1).unwrap();
        assert_kept(&groups, n, limits, k, "tight");
        let largest = groups.iter().map(<[u32]>::len).max().unwrap();
        (n as f64 / groups.len() as f64, largest)
    };
    let table = Table::random(n, 3, 40, 4);
    let spread = |count: usize, other: u32| {
        let mut values: Vec<u32> =
            (0..n as u32).map(|i| if (i as usize) < count { 0 } else { 1 + i % other }).collect();
        values.shuffle(&mut rng(5));
        values
    };
    // One value on nearly half, and on half; also where it is near itself.
    for count in [588, 600] {
        let (size, largest) = mean(&table, &[(spread(count, 7), 2)], 4);
        assert!(size < 5.0 && largest < 8, "{size}, {largest}");
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| table.columns[0][i]);
        let mut near = vec![0; n];
        order.iter().enumerate().for_each(|(rank, &i)| near[i] = (rank.saturating_sub(count - 1)) as u32);
        let (size, largest) = mean(&table, &[(near, 2)], 4);
        assert!(size < 5.0 && largest < 8, "{size}, {largest}");
    }
    // A person with as many records as there can be groups; many persons with a few; both, and a sensitive value as well.
    let one = spread(n / 5, 10_000);
    let few: Vec<u32> = (0..n as u32).map(|i| i / 4).collect();
    for limits in [vec![(one.clone(), 5)], vec![(few.clone(), 5)], vec![(one, 5), (few, 5), (spread(400, 3), 2)]] {
        let (size, largest) = mean(&table, &limits, 5);
        assert!(size < 6.0 && largest < 10, "{size}, {largest}");
    }
}

#[test]
fn identical_records_are_set_apart_as_far_as_constraints_permit() {
    // 100 identical ones, of which 70 share a value; and others that can take what is too many.
    let codes: Vec<u32> = [vec![0; 100], (0..100).map(|i| 8 + i % 8).collect()].concat();
    let values: Vec<u32> = (0..200).map(|i| if i < 70 { 0 } else { i }).collect();
    let table = Table::new(vec![codes], 16);
    let limits = [(values, 2)];
    for effort in [Effort::NONE, SEARCH] {
        let groups = attempt(&table, &limits, 5, effort, 1).unwrap();
        assert_kept(&groups, 200, &limits, 5, "apart");
        let free: usize = groups.iter().filter(|group| group.iter().all(|&i| i < 100)).map(<[u32]>::len).sum();
        assert!(free >= 50, "{free}");
    }
}

#[test]
fn what_cannot_be_kept_is_named() {
    let table = Table::random(10, 2, 4, 1);
    let fails = |limits: &[Limit], parts: &[&str]| match attempt(&table, limits, 2, SEARCH, 1) {
        Err(Error::Parameter(message)) => assert!(parts.iter().all(|part| message.contains(part)), "{message}"),
        other => panic!("{other:?}"),
    };
    let mut values: Vec<u32> = (0..10).collect();
    fails(&[(values.clone(), 2), (values[1..].to_vec(), 2)], &["constraint 1", "9 values", "10 records"]);
    fails(&[(values.clone(), 0)], &["constraint 0", "share of 0"]);
    fails(&[(values.clone(), 11)], &["1 of 10 records", "at most 10"]);
    values[..4].fill(7);
    fails(&[(values.clone(), 3)], &["constraint 0", "value 7", "5 of 10", "at most 2"]);
    fails(&[(values, usize::MAX)], &["value 7"]);
    // A share of one is no constraint.
    let whole = attempt(&table, &[(vec![3; 10], 1)], 2, SEARCH, 1).unwrap();
    assert_eq!(fingerprint(&whole), fingerprint(&attempt(&table, &[], 2, SEARCH, 1).unwrap()));
}
