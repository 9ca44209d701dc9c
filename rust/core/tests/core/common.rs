//! Seeded randomness, random taxonomies, and answers by brute force.

use nominym_core::itemsets::Itemsets;
use std::collections::HashMap;
use std::hash::Hash;

use nominym_core::rng::{Stream, Streams};
use nominym_core::taxonomy::Taxonomy;
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

/// The streams of a seed.
pub fn streams(seed: u64) -> Streams {
    Streams::new(Some(seed)).unwrap()
}

/// A generator of its own for every seed.
pub fn rng(seed: u64) -> ChaCha20Rng {
    streams(seed).generator(Stream::Synthetic(0), 0)
}

/// The numbers 0..n in a random order.
pub fn shuffled(n: usize, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.shuffle(&mut rng(seed));
    order
}

/// Records with these items.
pub fn sets(n_items: u32, rows: &[Vec<u32>]) -> Itemsets {
    let mut starts = vec![0];
    for row in rows {
        starts.push(starts[starts.len() - 1] + row.len());
    }
    Itemsets::new(n_items, starts, rows.concat()).unwrap()
}

/// Two-sample chi-square of whole outcomes, standardised; rare outcomes are put together.
pub fn differ<K: Eq + Hash>(a: &HashMap<K, f64>, b: &HashMap<K, f64>) -> f64 {
    let mut cells: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
        let pair = (a.get(key).copied().unwrap_or(0.0), b.get(key).copied().unwrap_or(0.0));
        if pair.0 + pair.1 < 20.0 {
            cells[0].0 += pair.0;
            cells[0].1 += pair.1;
        } else {
            cells.push(pair);
        }
    }
    cells.retain(|c| c.0 + c.1 > 0.0);
    let chi_square: f64 = cells.iter().map(|(a, b)| (a - b).powi(2) / (a + b)).sum();
    let freedom = cells.len() as f64 - 1.0;
    (chi_square - freedom) / (2.0 * freedom.max(1.0)).sqrt()
}

/// Links of a random rooted DAG: every concept but the first takes parents among the earlier ones.
pub fn links(max: usize) -> impl Strategy<Value = (usize, Vec<u32>, Vec<u32>)> {
    let node = prop::collection::vec(any::<prop::sample::Index>(), 1..4);
    prop::collection::vec(node, 0..max).prop_map(|nodes| {
        let (mut child, mut parent) = (vec![], vec![]);
        for (i, above) in nodes.iter().enumerate() {
            for p in above {
                child.push(i as u32 + 1);
                parent.push(p.index(i + 1) as u32);
            }
        }
        (nodes.len() + 1, child, parent)
    })
}

/// All upward path lengths from `c`, by the concept at which they end, one entry a path.
pub fn paths(taxonomy: &Taxonomy, c: u32) -> Vec<(u32, u32)> {
    let mut found = vec![(c, 0)];
    for &p in taxonomy.parents(c) {
        found.extend(paths(taxonomy, p).into_iter().map(|(end, links)| (end, links + 1)));
    }
    found
}

/// Shortest upward path, if there is one.
pub fn shortest(taxonomy: &Taxonomy, c: u32, above: u32) -> Option<u32> {
    paths(taxonomy, c).into_iter().filter(|x| x.0 == above).map(|x| x.1).min()
}

/// Depth of the deepest common subsumer and the smallest path sum over subsumers of that depth.
pub fn best_subsumer(taxonomy: &Taxonomy, a: u32, b: u32) -> (u32, u32, u32) {
    let all = 0..taxonomy.len() as u32;
    let common = all.filter_map(|c| Some((c, shortest(taxonomy, a, c)? + shortest(taxonomy, b, c)?)));
    let best = common.min_by_key(|&(c, sum)| (std::cmp::Reverse(taxonomy.depth(c)), sum, c)).unwrap();
    (best.0, taxonomy.depth(best.0), best.1)
}
