//! Attacks on groups, on whole tables, on recodings and on linked rows, against brute force.

use std::collections::BTreeMap;

use crate::common::{rng, shuffled, streams};
use nominym_core::MISSING;
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::meaning::Meaning;
use nominym_core::risk::matching::Column;
use nominym_core::risk::recoding::Anchor;
use nominym_core::risk::{bundles, informed, matching, recoding};
use nominym_core::tuples::Codes;
use rand::RngExt;
use rand_chacha::ChaCha20Rng;

fn drawn(rng: &mut ChaCha20Rng, n: usize, categories: u32) -> Vec<u32> {
    (0..n).map(|_| rng.random_range(0..categories)).collect()
}

/// Few frequent categories, many rare ones.
fn skewed(rng: &mut ChaCha20Rng, n: usize, categories: u32) -> Vec<u32> {
    (0..n).map(|_| (f64::from(categories).powf(rng.random::<f64>()) - 1.0) as u32).collect()
}

fn coded(columns: &[Vec<u32>], categories: usize) -> Vec<Codes<'_>> {
    columns.iter().map(|codes| (&codes[..], categories)).collect()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for i in 0..n {
        let longer = |p: Vec<usize>| (0..=i).map(move |at| [&p[..at], &[i], &p[at..]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}

/// Posterior by all assignments, with naive Bayes written out: likelihoods that sum to 1 over the kept values.
fn posterior(masked: &[Vec<u32>], kept: &[Vec<u32>], d: [usize; 2], group_of: &[u32], group: u32) -> Vec<Vec<f64>> {
    let members: Vec<usize> = (0..group_of.len()).filter(|&i| group_of[i] == group).collect();
    let others: Vec<usize> = (0..group_of.len()).filter(|&i| group_of[i] != group).collect();
    let count = |test: &dyn Fn(usize) -> bool| others.iter().filter(|&&i| test(i)).count() as f64;
    let (all, x_size, v_size) = (others.len() as f64, d[0] as f64, d[1] as f64);
    let likelihood = |person: usize, row: usize| -> f64 {
        let each = kept.iter().map(|kept| {
            let fit = |v: u32| -> f64 {
                let prior = (count(&|i| kept[i] == v) + 1.0) / (all + v_size);
                let values = masked.iter().map(|masked| {
                    let x = masked[person];
                    let general = (count(&|i| masked[i] == x) + 1.0) / (all + x_size);
                    let both = count(&|i| masked[i] == x && kept[i] == v);
                    (both + x_size * general) / (count(&|i| kept[i] == v) + x_size)
                });
                prior * values.product::<f64>()
            };
            fit(kept[row]) / (0..d[1] as u32).map(fit).sum::<f64>()
        });
        each.product()
    };
    let size = members.len();
    let matrix: Vec<Vec<f64>> =
        members.iter().map(|&person| members.iter().map(|&row| likelihood(person, row)).collect()).collect();
    let mut found = vec![vec![0.0; size]; size];
    let mut whole = 0.0;
    for assignment in permutations(size) {
        let weight: f64 = assignment.iter().enumerate().map(|(person, &row)| matrix[person][row]).product();
        whole += weight;
        assignment.iter().enumerate().for_each(|(person, &row)| found[person][row] += weight);
    }
    found.iter_mut().flatten().for_each(|p| *p /= whole);
    found
}

#[test]
fn the_informed_adversary_believes_what_bayes_says() {
    for seed in 0..30 {
        let mut rng = rng(seed);
        let (n, d) = (42, [4, 3]);
        let mut masked: Vec<Vec<u32>> = (0..2).map(|_| drawn(&mut rng, n, d[0])).collect();
        let mut kept: Vec<Vec<u32>> = (0..2).map(|_| drawn(&mut rng, n, d[1])).collect();
        // Kept values go with masked ones, and one group has equal people.
        (0..n).filter(|i| i % 2 == 0).for_each(|i| kept[0][i] = masked[0][i] % d[1]);
        let group_of: Vec<u32> = shuffled(n, seed).iter().map(|&i| i / 6).collect();
        for codes in &mut masked {
            (0..n).filter(|&i| group_of[i] == 3).for_each(|i| codes[i] = 1);
        }
        let d = d.map(|d| d as usize);
        let found =
            informed::attack(&coded(&masked, d[0]), &coded(&kept, d[1]), &group_of, None, &Control::new()).unwrap();
        for group in 0..7 {
            let members: Vec<usize> = (0..n).filter(|&i| group_of[i] == group).collect();
            let naive = posterior(&masked, &kept, d, &group_of, group);
            for (place, &record) in members.iter().enumerate() {
                let best = naive[place].iter().copied().fold(0.0, f64::max);
                let tied = naive[place].iter().filter(|&&p| p > best - 1e-9).count() as f64;
                let own = naive[place][place];
                let hit = if own > best - 1e-9 { 1.0 / tied } else { 0.0 };
                assert!((found.best[record] - best).abs() < 1e-9, "{} {best}", found.best[record]);
                assert!((found.own[record] - own).abs() < 1e-9);
                assert!((found.hit[record] - hit).abs() < 1e-9);
            }
        }
        let some =
            informed::attack(&coded(&masked, d[0]), &coded(&kept, d[1]), &group_of, Some(&[2, 2]), &Control::new());
        for (record, own) in some.unwrap().own.into_iter().enumerate() {
            assert!(if group_of[record] == 2 { own == found.own[record] } else { own.is_nan() });
        }
    }
}

#[test]
fn the_approximation_is_nearer_than_sinkhorn() {
    let mut rng = rng(1);
    for (size, spread, most) in [(8, 2.0, 0.002), (10, 5.0, 0.005), (10, 20.0, 0.015), (13, 5.0, 0.004)] {
        let ones = vec![1.0; size];
        let (mut plain, mut corrected) = (0.0, 0.0);
        for _ in 0..20 {
            let logs: Vec<f64> = (0..size * size).map(|_| spread * rng.random::<f64>()).collect();
            let exact = informed::exact(&logs, &mut [vec![], vec![]]);
            let error = |correct| -> f64 {
                let found = informed::balance(&logs, &ones, &ones, correct, &Control::new()).unwrap();
                found.iter().zip(&exact).map(|(a, b)| (a - b).abs()).sum::<f64>() / (20 * size * size) as f64
            };
            plain += error(false);
            corrected += error(true);
            for line in exact.chunks_exact(size) {
                assert!((line.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
        assert!(corrected < most && corrected < plain / 2.0, "{size} {spread}: {corrected} {plain}");
    }
}

#[test]
fn large_groups_are_attacked_too() {
    let mut rng = rng(3);
    let n = 4_000;
    let masked: Vec<Vec<u32>> = (0..2).map(|_| skewed(&mut rng, n, 60)).collect();
    let kept = vec![masked[0].iter().map(|x| x / 2).collect::<Vec<u32>>()];
    // 30 members with equal ones among them, and all the others, too many to be attacked at once.
    let group_of: Vec<u32> = (0..n).map(|i| u32::from(i >= 30) + u32::from(i >= 2_000)).collect();
    let (masked, kept) = (coded(&masked, 60), coded(&kept, 30));
    let attack = |control: &Control| informed::attack(&masked, &kept, &group_of, None, control);
    let control = Control::new();
    let found = on_threads(1, || attack(&control)).unwrap();
    assert_eq!(control.progress(), (n as u64, n as u64));
    assert_eq!(on_threads(2, || attack(&Control::new())).unwrap(), found);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    assert!(found.best.iter().zip(&found.own).all(|(best, own)| best >= own && *own >= 0.0 && *best <= 1.0));
    assert!(mean(&found.own[..30]) > 2.0 / 30.0 && mean(&found.hit[30..]) > 4.0 / 2_000.0);
    control.stop();
    assert_eq!(attack(&control), Err(Error::Stopped));
    // Nothing kept, or nothing masked: nothing to learn.
    let blind = informed::attack(&masked, &[], &group_of, None, &Control::new()).unwrap();
    assert!(blind.own[..30].iter().all(|&own| own == 1.0 / 30.0));
}

/// A case of people and rows on a line and in a matrix.
struct Tables {
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
    positions: Vec<f64>,
    matrix: Vec<f64>,
}

impl Tables {
    fn new(n: usize, d: u32, noise: i64, seed: u64) -> Self {
        let mut rng = rng(seed);
        let before: Vec<Vec<u32>> = (0..2).map(|_| drawn(&mut rng, n, d)).collect();
        let mut moved = |v: &u32| (i64::from(*v) + rng.random_range(-noise..=noise)).clamp(0, i64::from(d) - 1) as u32;
        let after = before.iter().map(|codes| codes.iter().map(&mut moved).collect()).collect();
        let mut positions: Vec<f64> = (0..d).map(f64::from).collect();
        positions[0] = f64::NAN;
        let matrix = (0..d * d).map(|cell| f64::from((cell / d).abs_diff(cell % d)) / 2.0).collect();
        Self { before, after, positions, matrix }
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let line = Meaning::line(&self.positions).unwrap();
        let matrix = Meaning::matrix(&self.matrix, self.positions.len()).unwrap();
        let meanings = [line, matrix].into_iter();
        let columns = self.before.iter().zip(&self.after).zip(meanings);
        columns.map(|((before, after), meaning)| Column { before, after, meaning }).collect()
    }

    fn distance(&self, person: usize, row: usize) -> f64 {
        let (a, b) = (self.before[0][person], self.after[0][row]);
        let line = match (a, b) {
            (0, 0) => 0.0,
            (0, _) | (_, 0) => (self.positions.len() - 2) as f64,
            _ => f64::from(a.abs_diff(b)),
        };
        line + f64::from(self.before[1][person].abs_diff(self.after[1][row])) / 2.0
    }

    fn cost(&self, rows: &[u32]) -> f64 {
        rows.iter().enumerate().map(|(person, &row)| self.distance(person, row as usize)).sum()
    }
}

#[test]
fn no_matching_is_cheaper() {
    for seed in 0..200 {
        let n = 1 + seed as usize % 7;
        let case = Tables::new(n, 5, 2, seed);
        let found = matching::attack(&case.columns(), &[], 7, None, &streams(seed), &Control::new()).unwrap();
        let all = permutations(n).into_iter();
        let least = all.map(|p| case.cost(&p.iter().map(|&row| row as u32).collect::<Vec<_>>()));
        let least = least.fold(f64::INFINITY, f64::min);
        assert!((case.cost(&found.rows) - least).abs() < 1e-6);
    }
}

#[test]
fn neither_name_nor_place_decides_a_tie() {
    // Four equal people: each matching is as likely as any other.
    let case = Tables { before: vec![vec![1; 4]; 2], after: vec![vec![1; 4]; 2], ..Tables::new(4, 3, 0, 1) };
    let mut times: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for seed in 0..4_800 {
        let found = matching::attack(&case.columns(), &[], 4, None, &streams(seed), &Control::new()).unwrap();
        *times.entry(found.rows).or_default() += 1.0;
    }
    let chi_square: f64 = times.values().map(|t| (t - 200.0).powi(2) / 200.0).sum();
    assert!(times.len() == 24 && chi_square < 49.7, "{chi_square}");
}

#[test]
fn neighbourhoods_tell_how_a_matching_of_all_would_fare() {
    let n = 900;
    let case = Tables::new(n, 150, 6, 4);
    let columns = case.columns();
    let attack = |size, targets: Option<&[u32]>, pools: &[&[u32]]| {
        matching::attack(&columns, pools, size, targets, &streams(1), &Control::new()).unwrap()
    };
    let share = |found: &matching::Matched| {
        found.people.iter().zip(&found.rows).filter(|(person, row)| person == row).count() as f64
            / found.people.len() as f64
    };
    let all = attack(n, None, &[]);
    let mut once = all.rows.clone();
    once.sort_unstable();
    assert_eq!(once, (0..n as u32).collect::<Vec<_>>());
    let near = attack(60, None, &[]);
    assert!((share(&all) - share(&near)).abs() < 0.05, "{} {}", share(&all), share(&near));
    // Targets fare as they do among all.
    let targets: Vec<u32> = (0..n as u32).step_by(9).rev().collect();
    let some = attack(60, Some(&targets), &[]);
    assert!(some.people.iter().zip(&some.rows).all(|(&person, &row)| near.rows[person as usize] == row));
    assert_eq!(some.people.len(), targets.len());
    let alone = on_threads(1, || attack(60, Some(&targets), &[]));
    assert_eq!(alone, on_threads(2, || attack(60, Some(&targets), &[])));
    // Nobody leaves a pool, large or small, and pools of one are lost.
    let pool: Vec<u32> = (0..n as u32).map(|i| if i < 500 { 7 } else { i / 10 }).collect();
    let pooled = attack(60, None, &[&pool]);
    let same = |(&person, &row): (&u32, &u32)| pool[person as usize] == pool[row as usize];
    assert!(pooled.people.iter().zip(&pooled.rows).all(same));
    let single: Vec<u32> = (0..n as u32).collect();
    assert_eq!(share(&attack(60, None, &[&pool, &single])), 1.0);
}

/// Columns, the same renamed and in another order with some cells changed, and the true names.
struct Renamed {
    before: Vec<Vec<u32>>,
    after: Vec<Vec<u32>>,
    truth: Vec<Vec<u32>>,
    anchor: [Vec<u32>; 2],
}

impl Renamed {
    fn new(n: usize, d: u32, noise: f64, rename: bool, seed: u64) -> Self {
        let mut rng = rng(seed);
        let first = skewed(&mut rng, n, d);
        let mut before = vec![first.clone()];
        for c in 1..3 {
            let free = skewed(&mut rng, n, d);
            let each = first.iter().zip(free);
            before.push(each.map(|(&a, b)| if rng.random_bool(0.5) { a * (7 + c) % d } else { b }).collect());
        }
        let order = shuffled(n, seed + 1);
        let anchor: Vec<u32> = first.iter().map(|a| if rng.random_bool(0.5) { a % 10 } else { 3 }).collect();
        let moved = order.iter().map(|&i| anchor[i as usize]).collect();
        let (mut after, mut truth) = (vec![], vec![]);
        for (c, codes) in before.iter().enumerate() {
            let names = if rename { shuffled(d as usize, seed + 2 + c as u64) } else { (0..d).collect() };
            let cells = order.iter().map(|&i| {
                let from = if rng.random_bool(noise) { rng.random_range(0..n) } else { i as usize };
                names[codes[from] as usize]
            });
            after.push(cells.collect());
            let mut inverse = vec![0; d as usize];
            (0..).zip(&names).for_each(|(category, &name)| inverse[name as usize] = category);
            truth.push(inverse);
        }
        Self { before, after, truth, anchor: [anchor, moved] }
    }

    fn attack(&self, anchored: bool, control: &Control) -> Result<Vec<Vec<u32>>, Error> {
        let d = self.truth[0].len();
        let anchor = Anchor { before: &self.anchor[0], after: &self.anchor[1], categories: 10 };
        let anchors = [anchor];
        let anchors = if anchored { &anchors[..] } else { &[] };
        recoding::attack(&coded(&self.before, d), &coded(&self.after, d), anchors, &streams(1), control)
    }

    /// The share of cells that are named rightly.
    fn right(&self, found: &[Vec<u32>]) -> f64 {
        let columns = self.after.iter().zip(found).zip(&self.truth);
        let right = columns
            .map(|((codes, found), truth)| codes.iter().filter(|&&w| found[w as usize] == truth[w as usize]).count());
        right.sum::<usize>() as f64 / (self.after.len() * self.after[0].len()) as f64
    }
}

#[test]
fn names_are_found_again() {
    for (rename, anchored, noise, least) in [
        (true, false, 0.0, 0.999),
        (true, true, 0.0, 0.999),
        (false, false, 0.0, 0.999),
        (true, false, 0.03, 0.95),
        (true, true, 0.03, 0.95),
    ] {
        let case = Renamed::new(10_000, 300, noise, rename, 5);
        let found = case.attack(anchored, &Control::new()).unwrap();
        assert!(case.right(&found) >= least, "{rename} {anchored} {noise}: {}", case.right(&found));
        // One to one, and the same on any number of threads.
        for names in &found {
            let mut once: Vec<u32> = names.iter().copied().filter(|&v| v != MISSING).collect();
            let all = once.len();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), all);
        }
        assert_eq!(on_threads(2, || case.attack(anchored, &Control::new())).unwrap(), found);
    }
    let control = Control::new();
    control.stop();
    assert_eq!(Renamed::new(100, 10, 0.1, true, 1).attack(true, &control), Err(Error::Stopped));
}

#[test]
fn many_categories_and_unequal_numbers_of_them() {
    let case = Renamed::new(12_000, 5_000, 0.01, true, 8);
    let right = case.right(&case.attack(true, &Control::new()).unwrap());
    assert!(right > 0.7, "{right}");
    // More are found where nothing else was changed, and else taken as they are.
    let more = Renamed::new(20_000, 8_000, 0.0, true, 8);
    assert!(more.right(&more.attack(true, &Control::new()).unwrap()) > 0.9);
    let changed = Renamed::new(20_000, 8_000, 0.01, true, 8).attack(true, &Control::new()).unwrap();
    assert!(changed.iter().all(|names| names.iter().zip(0..).all(|(&name, category)| name == category)));
    // A category that is gone, one that is new, and one that never was.
    let (before, after) = (vec![0, 0, 0, 1, 1, 2], vec![3, 1, 1, 1, 3]);
    let found = recoding::attack(&[(&before, 3)], &[(&after, 5)], &[], &streams(1), &Control::new()).unwrap();
    assert_eq!(found, [[MISSING, 0, MISSING, 1, MISSING]]);
    assert_eq!(recoding::attack(&[(&[], 0)], &[(&[], 2)], &[], &streams(1), &Control::new()).unwrap(), [[MISSING; 2]]);
}

#[test]
fn the_nearest_bag_is_that_of_brute_force() {
    for seed in 0..60 {
        let mut rng = rng(seed);
        let (units, d) = (30, 6u32);
        let rows = [120, 90 + seed as usize];
        let sides = rows.map(|n| ((0..2).map(|_| skewed(&mut rng, n, d)).collect::<Vec<_>>(), drawn(&mut rng, n, 30)));
        let [(before, unit_before), (after, unit_after)] = sides;
        let d = d as usize;
        let found = bundles::attack(
            &coded(&before, d),
            &coded(&after, d),
            (&unit_before, &unit_after),
            units,
            None,
            &Control::new(),
        );
        let found = found.unwrap();
        let bag = |columns: &[Vec<u32>], unit_of: &[u32], unit: u32| {
            let mut bag = vec![0i64; 2 * d];
            for (row, _) in unit_of.iter().enumerate().filter(|&(_, &u)| u == unit) {
                (0..2).for_each(|c| bag[c * d + columns[c][row] as usize] += 1);
            }
            bag
        };
        let present: Vec<u32> = (0..units as u32).filter(|unit| unit_after.contains(unit)).collect();
        let bags: Vec<Vec<i64>> = present.iter().map(|&unit| bag(&after, &unit_after, unit)).collect();
        let weights: Vec<i64> = (0..2 * d)
            .map(|value| {
                let with = bags.iter().filter(|bag| bag[value] > 0).count() as f64;
                (((present.len() as f64 + 1.0) / (with + 1.0)).ln().max(1e-3) * 65_536.0) as i64
            })
            .collect();
        for target in 0..units as u32 {
            let known = bag(&before, &unit_before, target);
            let distance = |bag: &Vec<i64>| -> i64 {
                known.iter().zip(bag).zip(&weights).map(|((a, b), weight)| (a - b).abs() * weight).sum()
            };
            let least = bags.iter().map(distance).min().unwrap();
            let nearest = present.iter().zip(&bags).filter(|(_, bag)| distance(bag) == least);
            let nearest: Vec<u32> = nearest.map(|(&unit, _)| unit).collect();
            let hit = u32::from(nearest.contains(&target));
            assert_eq!((found.ties[target as usize], found.hits[target as usize]), (nearest.len() as u32, hit));
        }
    }
}

#[test]
fn attacks_on_what_does_not_fit_together_are_refused() {
    let control = &Control::new();
    let refused = |error: Error| assert!(matches!(error, Error::Parameter(_)), "{error}");
    let (short, long): (&[u32], &[u32]) = (&[0, 1], &[0, 1, 0]);
    for (masked, kept, group_of, sampled) in [
        ((short, 2), (long, 2), long, None),
        ((long, 2), (short, 2), long, None),
        ((long, 1), (long, 2), long, None),
        ((long, 2), (long, 2), &[0, 0, 9][..], None),
        ((long, 2), (long, 2), long, Some(&[2][..])),
    ] {
        refused(informed::attack(&[masked], &[kept], group_of, sampled, control).unwrap_err());
    }
    assert_eq!(informed::attack(&[], &[], &[], None, control).unwrap().own, []);
    let line: &[f64] = &[0.0, 1.0];
    let match_all = |before, after, meaning, pools: &[&[u32]], size, targets| {
        matching::attack(&[Column { before, after, meaning }], pools, size, targets, &streams(1), control)
    };
    refused(matching::attack(&[], &[], 3, None, &streams(1), control).unwrap_err());
    for (before, after, meaning, pools, size, targets) in [
        (short, long, Meaning::line(line).unwrap(), &[][..], 3, None),
        (long, long, Meaning::line(&line[..1]).unwrap(), &[], 3, None),
        (long, long, Meaning::Matrix { distances: &[0.0, 1.0, 1.0], categories: 2 }, &[], 3, None),
        (long, long, Meaning::Matrix { distances: &[0.0, -1.0, 1.0, 0.0], categories: 2 }, &[], 3, None),
        (long, long, Meaning::line(line).unwrap(), &[short], 3, None),
        (long, long, Meaning::line(line).unwrap(), &[], 0, None),
        (long, long, Meaning::line(line).unwrap(), &[], 3, Some(&[3][..])),
    ] {
        refused(match_all(before, after, meaning, pools, size, targets).unwrap_err());
    }
    assert!(match_all(&[], &[], Meaning::line(line).unwrap(), &[], 3, None).unwrap().people.is_empty());
    let anchor = |before, after| Anchor { before, after, categories: 2 };
    for (before, after, anchors) in [
        (vec![(long, 2)], vec![], vec![]),
        (vec![(long, 1)], vec![(long, 2)], vec![]),
        (vec![(long, 2)], vec![(long, 2)], vec![anchor(short, long)]),
        (vec![(long, 2)], vec![(long, 2)], vec![anchor(long, short)]),
    ] {
        refused(recoding::attack(&before, &after, &anchors, &streams(1), control).unwrap_err());
    }
    for (before, after, units, number, targets) in [
        (vec![(long, 2)], vec![], (long, long), 2, None),
        (vec![(long, 2)], vec![(long, 3)], (long, long), 2, None),
        (vec![(long, 2)], vec![(long, 2)], (short, long), 2, None),
        (vec![(long, 2)], vec![(long, 2)], (long, long), 1, None),
        (vec![(long, 2)], vec![(long, 2)], (long, long), 2, Some(&[2][..])),
    ] {
        refused(bundles::attack(&before, &after, units, number, targets, control).unwrap_err());
    }
    let none = bundles::attack(&[(&[], 2)], &[(&[], 2)], (&[], &[]), 2, None, control).unwrap();
    assert_eq!((none.ties, none.hits), (vec![0, 0], vec![0, 0]));
}
