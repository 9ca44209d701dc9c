//! Clusters and far ends against brute force.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::nearest::Range;
use super::*;
use crate::meaning::Meaning;
use crate::rng::{Stream, Streams};
use crate::search::lanes::LANES;

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

/// Columns with a matrix each.
struct Sample {
    columns: Vec<Vec<u32>>,
    matrices: Vec<Vec<f64>>,
}

impl Sample {
    fn new(n: usize, matrices: Vec<Vec<f64>>, rng: &mut ChaCha20Rng) -> Self {
        let skewed = |d: usize, rng: &mut ChaCha20Rng| (rng.random::<f64>().powi(2) * d as f64) as u32;
        let mut column = |m: &Vec<f64>| (0..n).map(|_| skewed(m.len().isqrt(), rng)).collect();
        Self { columns: matrices.iter().map(&mut column).collect(), matrices }
    }

    fn attributes(&self) -> Vec<Attribute<'_>> {
        let each = self.columns.iter().zip(&self.matrices);
        each.map(|(codes, distances)| {
            let categories = distances.len().isqrt();
            Attribute { codes, meaning: Meaning::matrix(distances, categories).unwrap(), missing: None }
        })
        .collect()
    }

    fn distance(&self, a: u32, b: u32) -> f64 {
        self.attributes().iter().map(|x| x.meaning.distance(x.codes[a as usize], x.codes[b as usize])).sum()
    }
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
    samples
}

fn sorted(ranges: &[Range], records: &[u32]) -> Vec<u32> {
    let mut found: Vec<u32> = places(ranges).map(|place| records[place as usize]).collect();
    found.sort_unstable();
    found
}

#[test]
fn every_cluster_is_that_of_brute_force() {
    for sample in samples() {
        let n = sample.columns[0].len();
        for (k, leaf) in [(1, 4), (7, 16), (20, LEAF), (n, LEAF)] {
            let table = Table::new(&sample.attributes(), leaf, &Control::new()).unwrap();
            let search = table.search(k).unwrap();
            let clusters = Clusters::new(&search, &Control::new()).unwrap();
            let mut room = Room::default();
            for tuple in 0..table.len() {
                let reference = table.records[table.starts[tuple] as usize];
                let far: Vec<f64> = (0..n as u32).map(|other| sample.distance(reference, other)).collect();
                let mut order: Vec<f64> = far.clone();
                order.remove(reference as usize);
                order.sort_by(f64::total_cmp);
                let limit = order[k.min(n - 1) - 1] + 1e-9;
                let inside = order.iter().filter(|&&x| x < limit - 2e-9).count();
                let tied = order.iter().filter(|&&x| (x - limit).abs() < 2e-9).count();
                search.find(&[tuple as u32], &mut room, &Control::new()).unwrap();
                let found = clusters.of(tuple).unwrap_or(room.cluster(0));
                assert_eq!(room.cluster(0), found);
                let nearer = |bound: f64| (0..n as u32).filter(|&i| far[i as usize] < bound).collect::<Vec<u32>>();
                if inside + tied <= k {
                    // Nobody has to be drawn; whether the reference is listed makes no difference.
                    assert_eq!(sorted(found.inside, &table.records), nearer(limit));
                    assert_eq!(found.drawn, 0);
                } else {
                    let mut all = sorted(found.boundary, &table.records);
                    all.extend(sorted(found.inside, &table.records));
                    all.sort_unstable();
                    assert_eq!(all, nearer(limit));
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
            let table = Table::new(&sample.attributes(), leaf, &Control::new()).unwrap();
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
    let mut draw = rng(9);
    for sample in samples() {
        let table = Table::new(&sample.attributes(), LEAF, &Control::new()).unwrap();
        let mut left: Vec<u32> = (0..table.records.len() as u32).filter(|place| place % 7 != 0).collect();
        let mut ends = Ends::new(table.places(), |place| place % 7 != 0).unwrap();
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
