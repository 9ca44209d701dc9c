//! Clusters and far ends against brute force.

use std::collections::{HashMap, HashSet};

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::nearest::Range;
use super::*;
use crate::meaning::{self, Meaning};
use crate::rng::{Stream, Streams};
use crate::search::lanes::LANES;
use crate::taxonomy::Taxonomy;
use crate::taxonomy::information::Information;
use crate::taxonomy::measure::Measure;

fn rng(seed: u64) -> ChaCha20Rng {
    Streams::new(Some(seed)).unwrap().generator(Stream::Synthetic(0), 0)
}

/// Wu–Palmer distances between the youngest nodes of a random tree.
fn tree(d: usize, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let mut up = vec![vec![0]];
    for i in 1..3 * d {
        let mut path = up[rng.random_range(i / 4..i)].clone();
        path.push(i);
        up.push(path);
    }
    let distance = |a: &[usize], b: &[usize]| {
        let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        1.0 - (2 * shared) as f64 / (a.len() + b.len()) as f64
    };
    (0..d * d).map(|cell| distance(&up[2 * d + cell / d], &up[2 * d + cell % d])).collect()
}

/// Symmetric distances without any order, `levels` of them; 0 occurs between different categories too.
fn random(d: usize, levels: u32, rng: &mut ChaCha20Rng) -> Vec<f64> {
    let mut matrix = vec![0.0; d * d];
    for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
        matrix[i * d + j] = f64::from(rng.random_range(0..levels)) / 7.0;
        matrix[j * d + i] = matrix[i * d + j];
    }
    matrix
}

/// What the categories of a column mean.
enum Owned {
    Matrix(Vec<f64>),
    Line(Vec<f64>),
    Equality(Vec<u32>),
    Tree(meaning::Tree),
}

impl Owned {
    fn meaning(&self) -> Meaning<'_> {
        match self {
            Self::Matrix(distances) => Meaning::matrix(distances, distances.len().isqrt()).unwrap(),
            Self::Line(positions) => Meaning::line(positions).unwrap(),
            Self::Equality(numbers) => Meaning::Equality(numbers),
            Self::Tree(tree) => Meaning::Tree(tree),
        }
    }
}

/// Columns with a meaning each.
struct Sample {
    columns: Vec<Vec<u32>>,
    meanings: Vec<Owned>,
    /// Whether there are matrices of all that has few categories.
    few: Few,
}

impl Sample {
    fn new(n: usize, matrices: Vec<Vec<f64>>, rng: &mut ChaCha20Rng) -> Self {
        Self::of(n, matrices.into_iter().map(Owned::Matrix).collect(), Few::USUAL, rng)
    }

    fn of(n: usize, meanings: Vec<Owned>, few: Few, rng: &mut ChaCha20Rng) -> Self {
        let skewed = |d: usize, rng: &mut ChaCha20Rng| (rng.random::<f64>().powi(2) * d as f64) as u32;
        let mut column = |m: &Owned| (0..n).map(|_| skewed(m.meaning().categories(), rng)).collect();
        Self { columns: meanings.iter().map(&mut column).collect(), meanings, few }
    }

    fn attributes(&self) -> Vec<Attribute<'_>> {
        let each = self.columns.iter().zip(&self.meanings);
        each.map(|(codes, meaning)| Attribute { codes, meaning: meaning.meaning(), missing: None }).collect()
    }

    fn table(&self, leaf: usize) -> Table<'_> {
        Table::new(&self.attributes(), leaf, self.few, &Control::new()).unwrap()
    }

    fn distance(&self, a: u32, b: u32) -> f64 {
        self.attributes().iter().map(|x| x.meaning.distance(x.codes[a as usize], x.codes[b as usize])).sum()
    }
}

/// Concepts of a random tree in which each is below one of the `span` before it, or that is shallow, if there is no span;
/// some twice, the last one missing.
fn concepts(d: usize, span: usize, measure: &dyn Fn(&Taxonomy) -> Measure, rng: &mut ChaCha20Rng) -> Owned {
    let child: Vec<u32> = (1..2 * d as u32).collect();
    let above = |i: u32| if span == 0 { i / 4..i.div_ceil(2) } else { i.saturating_sub(span as u32)..i };
    let parent: Vec<u32> = child.iter().map(|&i| rng.random_range(above(i))).collect();
    let taxonomy = Taxonomy::new(2 * d, &child, &parent).unwrap();
    let mut used: Vec<u32> = (1..d).map(|_| rng.random_range(0..2 * d as u32)).collect();
    used.push(crate::MISSING);
    Owned::Tree(meaning::Tree::new(&taxonomy, &used, &measure(&taxonomy)).unwrap())
}

/// Numbers, some twice, the last one missing.
fn numbers(d: usize, number: impl Fn(f64) -> f64, rng: &mut ChaCha20Rng) -> Owned {
    let mut positions: Vec<f64> = (1..d).map(|_| number(rng.random_range(0.0..d as f64))).collect();
    positions.push(f64::NAN);
    Owned::Line(positions)
}

/// Values that are equal or not, some twice.
fn values(d: usize, rng: &mut ChaCha20Rng) -> Owned {
    Owned::Equality((0..d).map(|_| rng.random_range(0..2 * d as u32)).collect())
}

/// Samples with attributes that need no matrix, with matrices all the same and without.
fn samples_without_matrices() -> Vec<Sample> {
    let mut draw = rng(12);
    let information = |taxonomy: &Taxonomy| Information::seco(taxonomy, &Control::new()).unwrap();
    let wu_palmer = |_: &Taxonomy| Measure::WuPalmer;
    let path = |_: &Taxonomy| Measure::Path;
    let feature = |_: &Taxonomy| Measure::TaxonomicFeature;
    let resnik = |taxonomy: &Taxonomy| Measure::Resnik(information(taxonomy));
    let lin = |taxonomy: &Taxonomy| Measure::Lin(information(taxonomy));
    let mut samples = Vec::new();
    for few in [Few { on_a_line: 0, others: 0 }, Few::USUAL] {
        let draw = &mut draw;
        let all = vec![
            (500, vec![numbers(300, f64::round, draw)]),
            (700, vec![numbers(400, |x| (x * 4.0).round() / 4.0, draw), Owned::Matrix(tree(30, draw))]),
            (700, vec![numbers(700, |x| x.sqrt() * 10.0, draw), numbers(20, f64::floor, draw), values(9, draw)]),
            (400, vec![values(200, draw)]),
            (600, vec![values(40, draw), values(5, draw), Owned::Matrix(random(20, 6, draw))]),
            (500, vec![concepts(300, 30, &wu_palmer, draw)]),
            // Fractions of two deep trees would have no common unit.
            (900, vec![concepts(90, 0, &wu_palmer, draw), concepts(400, 0, &wu_palmer, draw)]),
            (600, vec![concepts(200, 40, &path, draw), numbers(100, f64::round, draw), values(12, draw)]),
            (500, vec![concepts(300, 2, &path, draw), values(3, draw)]),
            // Of two columns, sums of logarithms may be equal by an identity, which neither side would see.
            (500, vec![concepts(100, 20, &feature, draw), values(20, draw)]),
            (500, vec![concepts(100, 20, &resnik, draw), values(9, draw)]),
            (500, vec![concepts(200, 9, &lin, draw), numbers(50, f64::round, draw)]),
        ];
        for (n, meanings) in all {
            samples.push(Sample::of(n, meanings, few, draw));
        }
    }
    samples
}

/// Samples of all kinds: trees and arbitrary matrices, few and many duplicates.
fn samples() -> Vec<Sample> {
    let mut draw = rng(8);
    let mut samples = Vec::new();
    for (n, m, d) in [(300, 1, 40), (2_000, 2, 40), (700, 3, 12), (900, 3, 80)] {
        let trees = (0..m).map(|_| tree(d, &mut draw)).collect();
        samples.push(Sample::new(n, trees, &mut draw));
        let others = (0..m).map(|_| random(d, 6, &mut draw)).collect();
        samples.push(Sample::new(n, others, &mut draw));
    }
    let mixed = vec![tree(30, &mut draw), random(20, 1_000, &mut draw)];
    samples.push(Sample::new(600, mixed, &mut draw));
    // Distances that are no fractions, which need more bits than a lane has.
    let levels: Vec<f64> = (0..30).map(|level| if level == 0 { 0.0 } else { draw.random() }).collect();
    let mut uneven = |d| random(d, 30, &mut draw).iter().map(|x| levels[(7.0 * x).round() as usize]).collect();
    let wide = vec![uneven(25), uneven(9), uneven(14)];
    samples.push(Sample::new(800, wide, &mut draw));
    samples.extend(samples_without_matrices());
    samples
}

fn sorted(ranges: &[Range], records: &[u32]) -> Vec<u32> {
    let mut found: Vec<u32> = places(ranges).map(|place| records[place as usize]).collect();
    found.sort_unstable();
    found
}

#[test]
fn every_cluster_is_that_of_brute_force() {
    for (number, sample) in samples().into_iter().enumerate() {
        let n = sample.columns[0].len();
        // Distances from each record to all, and those to the others by size.
        let measured = |reference: u32| {
            let far: Vec<f64> = (0..n as u32).map(|other| sample.distance(reference, other)).collect();
            let mut order = far.clone();
            order.remove(reference as usize);
            order.sort_by(f64::total_cmp);
            (far, order)
        };
        let every: Vec<(Vec<f64>, Vec<f64>)> = (0..n as u32).map(measured).collect();
        for (k, leaf) in [(1, 4), (7, 16), (20, LEAF), (31, LEAF), (32, LEAF), (n, LEAF)] {
            let table = sample.table(leaf);
            let search = table.search(k).unwrap();
            let clusters = Clusters::new(&search, &Control::new()).unwrap();
            let mut room = Room::default();
            for tuple in 0..table.len() {
                let reference = table.records[table.starts[tuple] as usize];
                let (far, order) = &every[reference as usize];
                let limit = order[k.min(n - 1) - 1] + 1e-9;
                let inside = order.iter().filter(|&&x| x < limit - 2e-9).count();
                let tied = order.iter().filter(|&&x| (x - limit).abs() < 2e-9).count();
                search.find(&[tuple as u32], &mut room, &Control::new()).unwrap();
                let found = clusters.of(tuple).unwrap_or(room.cluster(0));
                assert_eq!(room.cluster(0), found);
                let nearer = |bound: f64| (0..n as u32).filter(|&i| far[i as usize] < bound).collect::<Vec<u32>>();
                if inside + tied <= k {
                    // Nobody has to be drawn; whether the reference is listed makes no difference.
                    assert_eq!(sorted(found.inside, &table.records), nearer(limit), "sample {number}");
                    assert_eq!(found.drawn, 0);
                } else {
                    let mut all = sorted(found.boundary, &table.records);
                    all.extend(sorted(found.inside, &table.records));
                    all.sort_unstable();
                    assert_eq!(all, nearer(limit), "sample {number}");
                    assert_eq!(sorted(found.inside, &table.records), nearer(limit - 2e-9));
                    assert_eq!(found.drawn, k - inside);
                }
            }
        }
    }
}

#[test]
fn batches_make_no_difference() {
    let mut draw = rng(10);
    for sample in samples() {
        for (k, leaf) in [(3, 8), (20, LEAF)] {
            let table = sample.table(leaf);
            let search = table.search(k).unwrap();
            let (mut one, mut several) = (Room::default(), Room::default());
            for lanes in 1..=LANES {
                // Neighbours, across the borders of leaves, and tuples from anywhere, also twice the same.
                let start = draw.random_range(0..table.len().saturating_sub(lanes).max(1));
                let near = (start..table.len()).take(lanes).map(|tuple| tuple as u32).collect();
                let far: Vec<u32> = (0..lanes).map(|_| draw.random_range(0..table.len() as u32)).collect();
                for batch in [near, far] {
                    search.find(&batch, &mut several, &Control::new()).unwrap();
                    for (lane, &tuple) in batch.iter().enumerate() {
                        search.find(&[tuple], &mut one, &Control::new()).unwrap();
                        assert_eq!(several.cluster(lane), one.cluster(0));
                    }
                }
            }
        }
    }
}

#[test]
fn every_next_reference_is_farthest() {
    // Short bounds of distances that are too long for them are not exact.
    references_are_farthest::<u32>();
    references_are_farthest::<i16>();
}

fn references_are_farthest<T: Bound>() {
    let mut draw = rng(9);
    for sample in samples() {
        let table = sample.table(LEAF);
        let search = table.search(1).unwrap();
        let mut left: Vec<u32> = (0..table.records.len() as u32).filter(|place| place % 7 != 0).collect();
        let mut ends: Ends<'_, T> = Ends::new(table.places(&search), |place| place % 7 != 0).unwrap();
        let mut from = 0u32;
        while !left.is_empty() {
            assert_eq!(ends.len(), left.len());
            let record = |place: u32| table.records[place as usize];
            let next = ends.draw(table.tuples[from as usize] as usize, &mut draw).unwrap();
            let far = |&place: &u32| sample.distance(record(from), record(place));
            let most = left.iter().map(far).fold(0.0, f64::max);
            assert!(left.contains(&next) && far(&next) > most - 1e-9, "{} of {most}", far(&next));
            // Besides the reference, others that happen to be done.
            let other = left[draw.random_range(0..left.len())];
            for done in [next, other] {
                if let Some(i) = left.iter().position(|&place| place == done) {
                    left.swap_remove(i);
                    ends.remove(done);
                }
            }
            from = next;
        }
    }
}

#[test]
fn the_first_reference_is_farthest_from_all() {
    for sample in samples() {
        let table = sample.table(LEAF);
        let search = table.search(1).unwrap();
        let ends: Ends<'_, u32> = Ends::new(table.places(&search), |place| place % 3 != 1).unwrap();
        let n = table.records.len() as u32;
        let sum = |record: u32| (0..n).map(|other| sample.distance(record, other)).sum::<f64>();
        let left = (0..n).filter(|place| place % 3 != 1).map(|place| sum(table.records[place as usize]));
        let most = left.fold(0.0, f64::max);
        let first = table.farthest_from_all(&ends, &mut rng(1), &Control::new()).unwrap();
        let found = sum(table.records[first as usize]);
        assert!(first % 3 != 1 && found >= most * (1.0 - 1e-9), "{found} of {most}");
    }
}

/// By how much two distributions differ: a chi-square, standardised.
fn differ(a: &HashMap<Vec<Vec<u32>>, f64>, b: &HashMap<Vec<Vec<u32>>, f64>) -> f64 {
    let keys: HashSet<_> = a.keys().chain(b.keys()).collect();
    let times = |of: &HashMap<Vec<Vec<u32>>, f64>, key| of.get(key).copied().unwrap_or(0.0);
    let cells = keys.iter().map(|key| (times(a, *key), times(b, *key)));
    let sum: f64 = cells.map(|(a, b)| (a - b).powi(2) / (a + b)).sum();
    let free = keys.len() as f64 - 1.0;
    (sum - free) / (2.0 * free).sqrt().max(1.0)
}

#[test]
fn without_matrices_the_law_is_the_same() {
    let mut draw = rng(31);
    let wu_palmer = |_: &Taxonomy| Measure::WuPalmer;
    let draw = &mut draw;
    let tables = [
        (6, vec![numbers(5, f64::round, draw), Owned::Matrix(tree(4, draw))]),
        (6, vec![values(3, draw), numbers(4, f64::round, draw)]),
        (6, vec![concepts(6, 4, &wu_palmer, draw), values(3, draw)]),
        (5, vec![concepts(5, 5, &wu_palmer, draw), numbers(4, f64::floor, draw), values(2, draw)]),
        (7, vec![concepts(6, 6, &wu_palmer, draw)]),
    ];
    for (n, meanings) in tables {
        let sample = Sample::of(n, meanings, Few::USUAL, draw);
        let mut attributes = sample.attributes();
        for attribute in &mut attributes {
            attribute.missing = Some(attribute.categories() as u32 - 1);
        }
        for k in [1, 2, 3, 9] {
            let [with, without] =
                [(Few::USUAL, 0), (Few { on_a_line: 0, others: 0 }, 1_000_000)].map(|(few, first)| {
                    let mut times: HashMap<Vec<Vec<u32>>, f64> = HashMap::new();
                    for seed in first..first + 1_500 {
                        let found = swap_with(&attributes, k, few, &mut rng(seed), &Control::new()).unwrap();
                        *times.entry(found.into_iter().map(|swapped| swapped.codes).collect()).or_default() += 1.0;
                    }
                    times
                });
            let difference = differ(&with, &without);
            assert!(difference < 5.0, "{difference} over {} outcomes, k = {k}", with.len());
        }
    }
}
