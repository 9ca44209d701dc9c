//! Groups of records, and swapping.

use nominym_core::coded::Coded;
use nominym_core::control::Control;
use nominym_core::groups::attributes::{Constraint, expected_cost, partition};
use nominym_core::groups::{Effort, itemsets as sets_in_groups};
use nominym_core::itemsets::Itemsets;
use nominym_core::lists::Lists;
use nominym_core::meaning::{Meaning, Sets, Tree};
use nominym_core::rng::{Stream, Streams};
use nominym_core::swap::{dynamic, pairs, permute, ranked, records};
use nominym_core::taxonomy::{Measure, Taxonomy};
use nominym_core::tuples::{Attribute, Tuples};
use rand_chacha::ChaCha20Rng;

use super::{alone, check};

pub fn streams() -> Streams {
    Streams::new(Some(1)).unwrap()
}

fn rng() -> ChaCha20Rng {
    streams().generator(Stream::Synthetic(0), 0)
}

/// A number below `d` that looks random; the `skew`ed ones are mostly small.
pub fn some(i: usize, d: usize, skew: bool) -> u32 {
    let random = ((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / f64::from(1 << 24);
    ((if skew { random.powi(4) } else { random }) * d as f64) as u32
}

/// Columns of codes below `d`.
pub fn columns(n: usize, m: usize, d: usize, skew: bool) -> Vec<Vec<u32>> {
    (0..m).map(|c| (0..n).map(|i| some(i * m + c, d, skew)).collect()).collect()
}

/// Distances on a line, all different, or of a few levels.
pub fn matrix(d: usize, levels: usize) -> Vec<f64> {
    let place = |i: usize| i * levels / d.max(1);
    (0..d * d).map(|cell| place(cell / d).abs_diff(place(cell % d)) as f64).collect()
}

pub fn counts(codes: &[u32], d: usize) -> Vec<u64> {
    let mut counts = vec![0; d];
    for &code in codes {
        counts[code as usize] += 1;
    }
    counts
}

/// Records, columns, categories, whether a few values are frequent.
pub const SHAPES: [(usize, usize, usize, bool); 7] = [
    (300_000, 2, 20, false),
    (200_000, 4, 300, true),
    (60_000, 12, 40, false),
    (20_000, 1, 1_000, false),
    (4_000, 2, 900, true),
    (100_000, 20, 3, true),
    (40, 3, 10, false),
];

#[test]
fn tuples() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let columns = columns(n, m, d, skew);
        let codes: Vec<(&[u32], usize)> = columns.iter().map(|c| (&c[..], d)).collect();
        check(&format!("tuples of {n} × {m}, {d} values"), || Tuples::of(&codes, &Control::new()).unwrap());
    }
}

#[test]
fn columns_are_swapped() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let codes = &columns(n, m, d, skew)[0];
        let counts = counts(codes, d);
        let control = Control::new();
        for k in [2, 5_000] {
            let shape = format!("{n} records, {d} values, k = {k}");
            check(&format!("ranked, {shape}"), || {
                let ranks = ranked::ranks_by_frequency(&counts).unwrap();
                let order = ranked::ranking(codes, &ranks, &mut rng()).unwrap();
                ranked::swap(codes, &order, k, &mut rng(), &control).unwrap()
            });
            for levels in [1, 7, d] {
                let distances = matrix(d, levels);
                let meaning = Meaning::matrix(&distances, d).unwrap();
                check(&format!("fixed, {levels} distances, {shape}"), || {
                    ranked::ranks_from_the_farthest(meaning, &counts, &mut rng()).unwrap()
                });
                check(&format!("dynamic, {levels} distances, {shape}"), || {
                    dynamic::swap(codes, meaning, &counts, k, &mut rng(), &control).unwrap()
                });
            }
        }
        let positions: Vec<f64> = (0..d as u32).map(f64::from).collect();
        let every: Vec<u32> = (0..d as u32).collect();
        for meaning in [Meaning::line(&positions).unwrap(), Meaning::Equality(&every)] {
            check(&format!("fixed, {n} records, {d} values without a matrix"), || {
                ranked::ranks_from_the_farthest(meaning, &counts, &mut rng()).unwrap()
            });
            check(&format!("dynamic, {n} records, {d} values without a matrix"), || {
                dynamic::swap(codes, meaning, &counts, 5, &mut rng(), &control).unwrap()
            });
        }
        check(&format!("random, {n} records"), || ranked::random(codes, &mut rng(), &control).unwrap());
    }
}

#[test]
fn records_are_swapped() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let n = n / 10;
        let columns = columns(n, m, d, skew);
        for levels in [3, d] {
            let distances = matrix(d, levels);
            let attribute =
                |codes| Attribute { codes, meaning: Meaning::matrix(&distances, d).unwrap(), missing: Some(0) };
            let attributes: Vec<Attribute<'_>> = columns.iter().map(|c| attribute(c)).collect();
            for k in [2, 100] {
                let shape = format!("{n} × {m}, {d} values, {levels} distances, k = {k}");
                check(&shape, || records::swap(&attributes, k, &mut rng(), &Control::new()).unwrap());
            }
        }
    }
}

/// Numbers, values that are equal or not, and concepts of a tree, so many of each: no matrices are made of these.
pub struct Many {
    positions: Vec<f64>,
    numbers: Vec<u32>,
    concepts: Tree,
}

impl Many {
    pub fn new(d: usize) -> Self {
        let child: Vec<u32> = (1..d as u32).collect();
        let parent: Vec<u32> = child.iter().map(|&i| i / 7).collect();
        let taxonomy = Taxonomy::new(d, &child, &parent).unwrap();
        let concepts: Vec<u32> = (0..d as u32).collect();
        Self {
            positions: (0..d).map(|i| (i * 7919 % d) as f64 / 4.0).collect(),
            numbers: (0..d as u32).collect(),
            concepts: Tree::new(&taxonomy, &concepts, &Measure::WuPalmer).unwrap(),
        }
    }

    pub fn meaning(&self, column: usize) -> Meaning<'_> {
        match column % 3 {
            0 => Meaning::line(&self.positions).unwrap(),
            1 => Meaning::Equality(&self.numbers),
            _ => Meaning::Tree(&self.concepts),
        }
    }
}

#[test]
fn records_are_swapped_without_matrices() {
    let _alone = alone();
    for (n, m, d) in [(20_000, 1, 20_000), (4_000, 2, 30_000), (3_000, 6, 4_000), (20_000, 3, 2_500)] {
        let many = Many::new(d);
        for first in 0..3 {
            let columns = columns(n, m, d, first == 1);
            let attributes: Vec<Attribute<'_>> = columns
                .iter()
                .enumerate()
                .map(|(c, codes)| Attribute { codes, meaning: many.meaning(first + c), missing: Some(0) })
                .collect();
            check(&format!("{n} × {m}, {d} values without matrices, from {first}"), || {
                records::swap(&attributes, 10, &mut rng(), &Control::new()).unwrap()
            });
        }
    }
}

#[test]
fn records_are_paired() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let columns = columns(n, m, d, skew);
        let coded: Vec<Coded<'_>> = columns.iter().map(|codes| Coded { codes, categories: d }).collect();
        for (equal, keys) in [(0, 1), (1, 0), (1, 1), (0, 3), (1, 5)] {
            let equal = &coded[..equal.min(m - 1)];
            let keys: Vec<Vec<Coded<'_>>> = (0..keys).map(|key| vec![coded[(key + 1) % m]]).collect();
            let shape = format!("{n} × {m}, {d} values, {} equal, {} keys", equal.len(), keys.len());
            for wanted in [10, n] {
                check(&shape, || pairs::draw(n, equal, &keys, wanted, &mut rng(), &Control::new()));
            }
        }
    }
}

#[test]
fn records_are_grouped() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let n = n / 10;
        let columns = columns(n, m, d, skew);
        let distances = matrix(d, d);
        let attribute = |codes| Attribute { codes, meaning: Meaning::matrix(&distances, d).unwrap(), missing: None };
        let attributes: Vec<Attribute<'_>> = columns.iter().map(|c| attribute(c)).collect();
        let persons: Vec<u32> = (0..n as u32).map(|i| i / 3).collect();
        let labels: Vec<u32> = (0..n).map(|i| some(i, 50, false)).collect();
        let constraints = [Constraint { values: &persons, share: 2 }, Constraint { values: &labels, share: 3 }];
        for k in [2, 25, 150].into_iter().filter(|&k| k <= n) {
            // What a search takes beside hardly depends on its passes.
            for effort in if k == 25 { vec![Effort::NONE, Effort::new(1, 1)] } else { vec![Effort::new(1, 0)] } {
                for constraints in [&constraints[..0], &constraints[..1], &constraints] {
                    let shape = format!("{n} × {m}, {d} values, k = {k}, {} constraints", constraints.len());
                    check(&shape, || partition(&attributes, constraints, k, effort, &streams(), &Control::new()));
                }
            }
        }
    }
}

#[test]
fn mixed_records_are_grouped() {
    let _alone = alone();
    for (n, d) in [(3_000, 8_000), (8_000, 100), (300, 20_000), (40, 30)] {
        let columns = columns(n, 4, d, false);
        let positions: Vec<f64> = (0..d).map(|i| some(i, 1 << 20, false).into()).collect();
        let numbers: Vec<u32> = (0..d as u32).collect();
        let child: Vec<u32> = (1..d as u32).collect();
        let parent: Vec<u32> = child.iter().map(|&c| some(c as usize, c as usize, false)).collect();
        let taxonomy = Taxonomy::new(d, &child, &parent).unwrap();
        check(&format!("a tree of {d}"), || Tree::new(&taxonomy, &numbers, &Measure::WuPalmer).unwrap());
        let tree = Tree::new(&taxonomy, &numbers, &Measure::WuPalmer).unwrap();
        let rows = (0..5 * d).map(|i| (i % 5 * 1000) as u32 + some(i, 1000, false)).collect();
        let sets = Itemsets::new(5_000, (0..=d).map(|i| 5 * i).collect(), rows).unwrap();
        let meanings = [
            Meaning::line(&positions).unwrap(),
            Meaning::Equality(&numbers),
            Meaning::Tree(&tree),
            Meaning::Sets(Sets { sets: &sets, missing: false }),
        ];
        let attribute = |(codes, meaning)| Attribute { codes, meaning, missing: None };
        let attributes: Vec<_> = columns.iter().map(|c| &c[..]).zip(meanings).map(attribute).collect();
        for some in [&attributes[..1], &attributes[1..2], &attributes[2..3], &attributes[3..], &attributes] {
            for k in [2, 25].into_iter().filter(|&k| k <= n) {
                let shape = format!("{n} × {}, {d} values, k = {k}", some.len());
                check(&shape, || partition(some, &[], k, Effort::new(1, 1), &streams(), &Control::new()));
                let group_of: Vec<u32> = (0..n).map(|i| (i / k) as u32).collect();
                let groups = Lists::by_group(&group_of, None).unwrap();
                check(&format!("cost, {shape}"), || expected_cost(&groups, some, &Control::new()).unwrap());
            }
        }
    }
}

#[test]
fn records_in_groups() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let columns = columns(n, m, d, skew);
        let distances = matrix(d, d);
        let attribute = |codes| Attribute { codes, meaning: Meaning::matrix(&distances, d).unwrap(), missing: None };
        let attributes: Vec<Attribute<'_>> = columns.iter().map(|c| attribute(c)).collect();
        let codes: Vec<&[u32]> = columns.iter().map(|c| &c[..]).collect();
        for k in [1, 10, n] {
            let group_of: Vec<u32> = (0..n).map(|i| (i / k) as u32).collect();
            let groups = Lists::by_group(&group_of, None).unwrap();
            let shape = format!("{n} × {m}, k = {k}");
            if k < 20_000 {
                check(&format!("cost, {shape}"), || expected_cost(&groups, &attributes, &Control::new()).unwrap());
            }
            for joint in [false, true] {
                check(&format!("permuted, {shape}"), || {
                    permute::permute(&groups, &codes, joint, &streams(), &Control::new()).unwrap()
                });
            }
        }
    }
}

#[test]
fn item_sets_are_grouped() {
    let _alone = alone();
    for (n, items, size) in [(12_000, 500, 6), (2_000, 60_000, 30), (20_000, 40, 4), (30, 10, 2)] {
        let mut starts = vec![0];
        let mut held: Vec<u32> = vec![];
        for record in 0..n {
            let mut row: Vec<u32> = (0..size).map(|i| some(record * size + i, items, true)).collect();
            row.sort_unstable();
            row.dedup();
            held.extend(row);
            starts.push(held.len());
        }
        let sets = Itemsets::new(items as u32, starts, held).unwrap();
        let order: Vec<u32> = (0..n as u32).collect();
        let labels: Vec<u32> = (0..n as u32).map(|i| i % 1_000.min(n as u32)).collect();
        for k in [2, 20, 400].into_iter().filter(|&k| k <= n / 2) {
            for effort in [Effort::NONE, Effort::new(1, 1)] {
                let shape = format!("{n} sets of {size} of {items} items, k = {k}");
                check(&shape, || {
                    sets_in_groups::partition(&sets, &order, k, effort, &streams(), &Control::new()).unwrap()
                });
                check(&format!("{shape}, labels"), || {
                    sets_in_groups::diverse(&sets, &labels, &order, k, effort, &streams(), &Control::new())
                });
            }
        }
    }
}
