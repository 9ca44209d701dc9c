//! Swapping of whole records against the published algorithm, written down record by record.

use std::collections::HashMap;

use crate::common::{differ, rng};
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::meaning::{Meaning, Tree};
use nominym_core::stats::joint::counts;
use nominym_core::swap::{Swapped, dynamic, records};
use nominym_core::taxonomy::Taxonomy;
use nominym_core::taxonomy::measure::Measure;
use nominym_core::tuples::Attribute;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha20Rng;

/// Columns with their distances. Distances are whole, so that the naive sums are exact.
struct Table {
    columns: Vec<Vec<u32>>,
    matrices: Vec<Vec<f64>>,
    missing: Option<u32>,
}

impl Table {
    fn new(columns: &[&[u32]], matrix: &[f64], missing: Option<u32>) -> Self {
        let columns: Vec<Vec<u32>> = columns.iter().map(|c| c.to_vec()).collect();
        Self { matrices: vec![matrix.to_vec(); columns.len()], columns, missing }
    }

    fn attributes(&self) -> Vec<Attribute<'_>> {
        let each = self.columns.iter().zip(&self.matrices);
        each.map(|(codes, distances)| {
            let categories = distances.len().isqrt();
            Attribute { codes, meaning: Meaning::matrix(distances, categories).unwrap(), missing: self.missing }
        })
        .collect()
    }

    fn swap(&self, k: usize, rng: &mut ChaCha20Rng) -> Vec<Swapped> {
        records::swap(&self.attributes(), k, rng, &Control::new()).unwrap()
    }

    /// Several times the distance of two records.
    fn distance(&self, a: usize, b: usize) -> f64 {
        let each = self.attributes();
        each.iter().map(|x| x.meaning.distance(x.codes[a], x.codes[b])).sum()
    }
}

/// SRS-3: one cluster for each reference; every value not swapped changes places inside it; go to the farthest.
fn naive(table: &Table, k: usize, rng: &mut ChaCha20Rng) -> Vec<(Vec<u32>, Vec<usize>)> {
    let n = table.columns[0].len();
    let mut swapped: Vec<Vec<bool>> =
        table.columns.iter().map(|c| c.iter().map(|&x| Some(x) == table.missing).collect()).collect();
    let mut out: Vec<(Vec<u32>, Vec<usize>)> = table.columns.iter().map(|c| (c.clone(), vec![])).collect();
    let all: Vec<usize> = (0..n).collect();
    let mut left: Vec<usize> = all.iter().copied().filter(|&i| swapped.iter().any(|s| !s[i])).collect();
    let sum = |&i: &usize| all.iter().map(|&j| table.distance(i, j)).sum::<f64>();
    let mut reference = farthest(&left, sum, rng);
    loop {
        let mut order: Vec<usize> = all.iter().copied().filter(|&i| i != reference).collect();
        order.shuffle(rng);
        order.sort_by(|&a, &b| table.distance(reference, a).total_cmp(&table.distance(reference, b)));
        order.truncate(k);
        for ((codes, (out, candidates)), swapped) in table.columns.iter().zip(&mut out).zip(&mut swapped) {
            if swapped[reference] {
                continue;
            }
            let open: Vec<usize> = order.iter().copied().filter(|&i| !swapped[i]).collect();
            candidates.push(open.len());
            swapped[reference] = true;
            if let Some(&partner) = open.choose(rng) {
                swapped[partner] = true;
                (out[reference], out[partner]) = (codes[partner], codes[reference]);
            }
        }
        left.retain(|&i| swapped.iter().any(|s| !s[i]));
        if left.is_empty() {
            return out;
        }
        reference = farthest(&left, |&i| table.distance(reference, i), rng);
    }
}

fn farthest(left: &[usize], how_far: impl Fn(&usize) -> f64, rng: &mut ChaCha20Rng) -> usize {
    let far: Vec<f64> = left.iter().map(how_far).collect();
    let most = far.iter().copied().fold(f64::MIN, f64::max);
    let tied: Vec<usize> = (0..left.len()).filter(|&i| far[i] == most).collect();
    left[*tied.choose(rng).unwrap()]
}

type Outcome = Vec<(Vec<u32>, Vec<usize>)>;

/// The numbers of candidates in ascending order.
fn outcome(swapped: Vec<Swapped>) -> Outcome {
    let numbers = |found: &[u64]| (0..found.len()).flat_map(|c| vec![c; found[c] as usize]).collect();
    swapped.into_iter().map(|s| (s.codes, numbers(&s.candidates))).collect()
}

/// Runs both over many seeds and compares the distribution of (columns, sorted numbers of candidates).
fn same_law(
    one: impl Fn(&mut ChaCha20Rng) -> Outcome + Sync + Send,
    other: impl Fn(&mut ChaCha20Rng) -> Outcome + Sync + Send,
) {
    // Tables of six records are not worth waking threads for.
    let (a, b) = threads(1).install(|| outcomes(one, other));
    // A standardised chi-square beyond 5 happens less than once in a hundred thousand runs; seeds are fixed.
    let difference = differ(&a, &b);
    assert!(difference < 5.0, "{difference} over {} outcomes", a.len());
}

fn threads(number: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(number).build().unwrap()
}

/// How often each outcome occurs.
fn outcomes(
    one: impl Fn(&mut ChaCha20Rng) -> Outcome,
    other: impl Fn(&mut ChaCha20Rng) -> Outcome,
) -> (HashMap<Outcome, f64>, HashMap<Outcome, f64>) {
    let (mut a, mut b) = (HashMap::new(), HashMap::new());
    for seed in 0..8_000 {
        *a.entry(one(&mut rng(seed))).or_insert(0.0) += 1.0;
        let mut found = other(&mut rng(1_000_000 + seed));
        for numbers in found.iter_mut().map(|x| &mut x.1) {
            numbers.sort_unstable();
        }
        *b.entry(found).or_insert(0.0) += 1.0;
    }
    (a, b)
}

/// Five categories on a line and a fork, with ties among their distances.
fn fork() -> Vec<f64> {
    let distance = |i: u32, j: u32| f64::from(u32::from(i != j) * (1 + (i + j) % 3));
    (0..25).map(|cell| distance(cell / 5, cell % 5)).collect()
}

/// Five categories on a line, the first two at the same point.
fn line() -> Vec<f64> {
    let at = [0.0f64, 0.0, 1.0, 2.0, 4.0];
    (0..25).map(|cell: usize| (at[cell / 5] - at[cell % 5]).abs()).collect()
}

#[test]
fn the_published_law() {
    let tables = [
        Table::new(&[&[0, 1, 2, 3, 4, 1]], &fork(), None),
        Table::new(&[&[0, 1, 2, 3, 4], &[1, 1, 3, 3, 2]], &fork(), None),
        Table::new(&[&[0, 0, 0, 1, 2, 2, 0], &[1, 1, 1, 2, 2, 2, 1]], &fork(), None),
        Table::new(&[&[0, 1, 1, 2, 3, 4], &[1, 0, 0, 1, 4, 4]], &line(), None),
        Table::new(&[&[0, 1, 4, 4, 2, 3], &[4, 0, 4, 1, 1, 4]], &fork(), Some(4)),
        Table::new(&[&[0, 1, 2, 3], &[3, 3, 0, 1], &[2, 0, 2, 4]], &line(), Some(3)),
        Table::new(&[&[0, 1, 0, 1, 2], &[1, 0, 1, 1, 0], &[2, 0, 2, 1, 0]], &fork(), None),
        Table::new(&[&[2, 2, 2, 2, 2, 2, 2, 0], &[1, 1, 1, 1, 1, 1, 1, 1]], &fork(), None),
    ];
    for table in tables {
        for k in [1, 2, 3, 10] {
            same_law(|rng| outcome(table.swap(k, rng)), |rng| naive(&table, k, rng));
        }
    }
}

#[test]
fn the_published_law_of_mixed_columns() {
    let positions = [0.0, 1.5, f64::NAN, 4.0, 1.5];
    let taxonomy = Taxonomy::new(7, &[1, 2, 3, 4, 5, 6], &[0, 0, 1, 1, 2, 5]).unwrap();
    let concepts = Tree::new(&taxonomy, &[3, 4, nominym_core::MISSING, 6, 2], &Measure::Path).unwrap();
    let meanings = [Meaning::line(&positions).unwrap(), Meaning::Equality(&[7, 7, 1, 0, 2]), Meaning::Tree(&concepts)];
    let columns_of: [&[u32]; 3] = [&[0, 1, 4, 3, 2, 1], &[0, 1, 3, 2, 2, 4], &[0, 1, 3, 3, 2, 4]];
    for chosen in [&[0, 1][..], &[0, 2], &[1, 2], &[0, 1, 2]] {
        let columns: Vec<&[u32]> = chosen.iter().map(|&i| columns_of[i]).collect();
        let attribute = |&i: &usize| Attribute { codes: columns_of[i], meaning: meanings[i], missing: Some(2) };
        let attributes: Vec<Attribute<'_>> = chosen.iter().map(attribute).collect();
        // The definition, by matrices.
        let mut table = Table::new(&columns, &fork(), Some(2));
        for (matrix, &i) in table.matrices.iter_mut().zip(chosen) {
            *matrix = (0..25).map(|cell| meanings[i].distance(cell / 5, cell % 5)).collect();
        }
        for k in [1, 2, 3, 10] {
            let swap = |rng: &mut ChaCha20Rng| records::swap(&attributes, k, rng, &Control::new()).unwrap();
            same_law(|rng| outcome(swap(rng)), |rng| naive(&table, k, rng));
        }
    }
}

#[test]
fn one_attribute_is_dynamic_swapping() {
    for codes in [&[0, 0, 1, 2, 3, 3, 4][..], &[1, 0, 4, 2, 3], &[2, 4, 0, 4, 4]] {
        let table = Table::new(&[codes], &fork(), None);
        let n = counts(codes, 5, &Control::new()).unwrap();
        for k in [1, 2, 3] {
            let other = |rng: &mut ChaCha20Rng| {
                dynamic::swap(codes, Meaning::matrix(&fork(), n.len()).unwrap(), &n, k, rng, &Control::new()).unwrap()
            };
            same_law(|rng| outcome(table.swap(k, rng)), |rng| outcome(vec![other(rng)]));
        }
    }
}

/// Numbers of links between the youngest nodes of a random tree.
fn tree(d: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let parent: Vec<usize> = (0..3 * d).map(|i| if i == 0 { 0 } else { rng.random_range(i / 4..i) }).collect();
    let mut up = vec![vec![0]];
    for i in 1..3 * d {
        let mut path = up[parent[i]].clone();
        path.push(i);
        up.push(path);
    }
    let links = |a: &[usize], b: &[usize]| {
        let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        (a.len() + b.len() - 2 * shared) as f64
    };
    (0..d * d).map(|cell| links(&up[2 * d + cell / d], &up[2 * d + cell % d])).collect()
}

fn random_table(n: usize, m: usize, d: usize, missing: Option<u32>, rng: &mut ChaCha20Rng) -> Table {
    let matrices = (0..m).map(|_| tree(d, rng)).collect();
    let skewed = |rng: &mut ChaCha20Rng| (rng.random::<f64>().powi(2) * d as f64) as u32;
    let columns = (0..m).map(|_| (0..n).map(|_| skewed(rng)).collect()).collect();
    Table { columns, matrices, missing }
}

#[test]
fn summaries_agree_with_the_naive_ones() {
    let mut draw = rng(3);
    for (m, k, missing) in [(2, 5, None), (3, 2, Some(0)), (3, 30, None)] {
        let table = random_table(200, m, 25, missing, &mut draw);
        let seeds = 120;
        // Mean square distance, share without partner and mean number of candidates of the first attribute.
        let summary = |(codes, numbers): &(Vec<u32>, Vec<usize>)| {
            let a = table.attributes()[0];
            let squares: f64 = codes.iter().zip(a.codes).map(|(&x, &y)| a.meaning.distance(x, y).powi(2)).sum();
            let references = numbers.len() as f64;
            let alone = numbers.iter().filter(|&&c| c == 0).count() as f64;
            [squares / codes.len() as f64, alone / references, numbers.iter().sum::<usize>() as f64 / references]
        };
        let fast: Vec<[f64; 3]> = (0..seeds).map(|s| summary(&outcome(table.swap(k, &mut rng(s)))[0])).collect();
        let slow: Vec<[f64; 3]> = (0..seeds).map(|s| summary(&naive(&table, k, &mut rng(10_000 + s))[0])).collect();
        for figure in 0..3 {
            let mean = |x: &[[f64; 3]]| x.iter().map(|s| s[figure]).sum::<f64>() / seeds as f64;
            let variance = |x: &[[f64; 3]]| x.iter().map(|s| (s[figure] - mean(x)).powi(2)).sum::<f64>() / seeds as f64;
            let error = ((variance(&fast) + variance(&slow)) / seeds as f64).sqrt();
            let (a, b) = (mean(&fast), mean(&slow));
            assert!((a - b).abs() < 4.0 * error + 1e-12, "m {m}, k {k}, figure {figure}: {a} and {b}, error {error}");
        }
    }
}

#[test]
fn values_are_kept_and_missing_ones_stay() {
    let mut draw = rng(1);
    let table = random_table(5_000, 3, 60, Some(2), &mut draw);
    for k in [1, 20, 300] {
        let found = table.swap(k, &mut draw);
        for (column, swapped) in table.columns.iter().zip(&found) {
            let n = |codes: &[u32]| counts(codes, 60, &Control::new()).unwrap();
            assert_eq!(n(column), n(&swapped.codes));
            assert!(column.iter().zip(&swapped.codes).all(|(a, b)| (*a == 2) == (*b == 2)));
            assert_ne!(column, &swapped.codes);
            // Each value that is there is swapped as a reference's or as a partner's, or stays for want of one.
            let present = column.iter().filter(|&&c| c != 2).count() as u64;
            let references: u64 = swapped.candidates.iter().sum();
            assert_eq!(2 * references - swapped.candidates[0], present);
            assert!(swapped.candidates.len() <= k + 1);
        }
    }
}

#[test]
fn extremes() {
    let one = Table::new(&[&[3], &[0]], &fork(), None);
    let found = one.swap(5, &mut rng(1));
    assert_eq!(outcome(found), [(vec![3], vec![0]), (vec![0], vec![0])]);

    let same = Table::new(&[&[3; 50], &[1; 50]], &fork(), None);
    for k in [3, 49, 1_000] {
        let found = same.swap(k, &mut rng(2));
        assert!(found.iter().zip(&same.columns).all(|(s, c)| s.codes == *c));
    }

    let d = 40;
    let codes: Vec<u32> = (0..d).collect();
    let distances: Vec<f64> = (0..d * d).map(|cell| f64::from((cell / d).abs_diff(cell % d))).collect();
    let distinct = Table::new(&[&codes, &codes], &distances, None);
    // Everybody is in every cluster, and their number is even: every reference finds somebody.
    let found = distinct.swap(1_000, &mut rng(3));
    assert!(found.iter().all(|s| s.candidates[0] == 0 && s.codes.iter().zip(&codes).all(|(a, b)| a != b)));

    let none = Table::new(&[&[], &[]], &fork(), None);
    let gaps = Table::new(&[&[4, 4], &[4, 4]], &fork(), Some(4));
    for table in [none, gaps] {
        let failed = records::swap(&table.attributes(), 2, &mut rng(1), &Control::new());
        assert!(matches!(failed, Err(Error::Parameter(_))));
    }
    let failed = records::swap(&one.attributes(), 0, &mut rng(1), &Control::new());
    assert!(matches!(failed, Err(Error::Parameter(_))));
    let many = Table::new(&[&[0, 1][..]; 65], &fork(), None);
    assert!(matches!(records::swap(&many.attributes(), 2, &mut rng(1), &Control::new()), Err(Error::Parameter(_))));
    let most = Table::new(&[&[0, 1][..]; 64], &fork(), None);
    assert!(most.swap(2, &mut rng(1)).iter().all(|s| s.codes == [1, 0]));
}

#[test]
fn threads_make_no_difference_and_a_stop_is_obeyed() {
    let table = random_table(20_000, 3, 80, None, &mut rng(4));
    let with = |number| threads(number).install(|| table.swap(20, &mut rng(5)));
    assert_eq!(with(1), with(2));
    let control = Control::new();
    let done = records::swap(&table.attributes(), 20, &mut rng(5), &control);
    assert!(done.is_ok());
    let (units, total) = control.progress();
    assert!(units <= total && units * 10 > total * 9, "{units} of {total}");
    control.stop();
    assert_eq!(records::swap(&table.attributes(), 20, &mut rng(5), &control), Err(Error::Stopped));
}
