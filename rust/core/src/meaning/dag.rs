//! Concepts of a taxonomy in which some have several parents.
//!
//! Of every concept that is used, the list of its subsumers is kept, the deepest first; two lists are gone through side by
//! side, and mostly no farther than to the first that both have.

use rayon::prelude::*;

use super::tree::Formula;
use crate::control::Control;
use crate::error::Result;
use crate::lists::Lists;
use crate::memory;
use crate::taxonomy::Taxonomy;
use crate::taxonomy::closure::Closure;
use crate::taxonomy::graph::{Marks, reach};
use crate::taxonomy::measure::{Measure, feature};
use crate::taxonomy::sweep::{LANES, Rows};

/// What needs memory here.
const WHAT: &str = "the subsumers of a column";

/// The slot of what is missing.
const NOWHERE: u32 = u32::MAX;

/// Categories that are concepts of a taxonomy.
pub struct Dag {
    /// Number of each category's concept among those that are used.
    slot: Vec<u32>,
    /// Subsumers of each of these, by rank: deeper ones first, of equally deep ones the lower concept;
    above: Lists,
    /// and the links up to each.
    links: Lists,
    /// Depth of each rank.
    depth: Vec<u32>,
    /// Information content of each rank and of each slot, where the measure takes it.
    content: Vec<f64>,
    own: Vec<f64>,
    formula: Formula,
    /// All distances, a few rows at a time.
    rows: Rows<f64>,
    /// Distance of what is missing from everything else.
    gap: f64,
}

impl std::fmt::Debug for Dag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dag")
            .field("categories", &self.slot.len())
            .field("formula", &self.formula)
            .finish_non_exhaustive()
    }
}

impl Dag {
    /// The concept of each category, [`crate::MISSING`] for what is missing. O(subsumers of all that are used), and where
    /// something is missing O(distances of all pairs), for the largest.
    pub fn new(taxonomy: &Taxonomy, concepts: &[u32], measure: &Measure, control: &Control) -> Result<Self> {
        memory::require(40 * taxonomy.len() + 16 * concepts.len(), WHAT)?;
        let mut used: Vec<u32> = concepts.iter().copied().filter(|&c| c != crate::MISSING).collect();
        used.sort_unstable();
        used.dedup();
        let slot_of = |&c: &u32| if c == crate::MISSING { NOWHERE } else { used.partition_point(|&x| x < c) as u32 };
        let slot: Vec<u32> = concepts.iter().map(slot_of).collect();
        let closure = Closure::new(taxonomy, used.iter().copied())?;
        let mut by_rank: Vec<u32> = (0..closure.len() as u32).collect();
        let depth_of = |node: u32| closure.depth[node as usize];
        by_rank.sort_unstable_by_key(|&node| (std::cmp::Reverse(depth_of(node)), closure.concept[node as usize]));
        let mut rank = vec![0; by_rank.len()];
        for (place, &node) in (0..).zip(&by_rank) {
            rank[node as usize] = place;
        }
        let (mut marks, mut queue) = (Marks::new(closure.len()), Vec::new());
        let (mut above, mut links) = (Lists::builder(used.len(), 0), Lists::builder(used.len(), 0));
        let mut list: Vec<(u32, u32)> = Vec::new();
        let (mut ranks, mut steps) = (Vec::new(), Vec::new());
        for &concept in &used {
            control.check()?;
            reach(&closure.parents, closure.node(concept), &mut marks, &mut queue);
            list.clear();
            list.extend(queue.iter().map(|&(node, path)| (rank[node as usize], path)));
            list.sort_unstable();
            ranks.clear();
            steps.clear();
            ranks.extend(list.iter().map(|x| x.0));
            steps.extend(list.iter().map(|x| x.1));
            above.try_push(&ranks, WHAT)?;
            links.try_push(&steps, WHAT)?;
        }
        let (formula, contents) = Formula::of(measure, taxonomy);
        let content_of = |&node: &u32| contents.map(|of| of[closure.concept[node as usize] as usize]);
        let content = by_rank.iter().filter_map(content_of).collect();
        let own = used.iter().filter_map(|&c| contents.map(|of| of[c as usize])).collect();
        let depth = by_rank.iter().map(|&node| depth_of(node)).collect();
        let rows = Rows::new(taxonomy, &used, &used, measure, 0)?;
        let mut dag = Self { slot, above, links, depth, content, own, formula, rows, gap: 1.0 };
        if concepts.contains(&crate::MISSING) {
            let largest = dag.of_rows(control, |_, row| row.iter().copied().fold(0.0, f64::max))?;
            dag.gap = largest.into_iter().reduce(f64::max).filter(|&x| x > 0.0).unwrap_or(1.0);
        }
        Ok(dag)
    }

    /// Number of categories.
    pub fn categories(&self) -> usize {
        self.slot.len()
    }

    /// The distance of what is missing from everything else.
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// The distance of two categories. O(their subsumers).
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> f64 {
        let (a, b) = (self.slot[a as usize], self.slot[b as usize]);
        if a == b {
            0.0
        } else if a == NOWHERE || b == NOWHERE {
            self.gap
        } else {
            self.between(a as usize, b as usize)
        }
    }

    fn between(&self, a: usize, b: usize) -> f64 {
        let (first, second) = (self.above.of(a), self.above.of(b));
        let (up, down) = (self.links.of(a), self.links.of(b));
        let (mut i, mut j, mut shared) = (0, 0, 0);
        // Rank of the best subsumer, and links over it.
        let mut best: Option<(usize, u32)> = None;
        while i < first.len() && j < second.len() {
            match first[i].cmp(&second[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    let (rank, path) = (first[i] as usize, up[i] + down[j]);
                    match best {
                        Some((deepest, _)) if self.formula.deepest() && self.depth[rank] < self.depth[deepest] => break,
                        Some((_, shortest)) if path >= shortest => {}
                        _ => best = Some((rank, path)),
                    }
                    (i, j, shared) = (i + 1, j + 1, shared + 1);
                }
            }
        }
        // Everything is below the root.
        let (rank, path) = best.unwrap_or((self.depth.len() - 1, 0));
        match self.formula {
            Formula::Edges(edges) => edges.distance(i64::from(self.depth[rank]), i64::from(path)),
            Formula::Feature => feature((first.len() + second.len()) as u32 - shared, shared),
            Formula::Content(content) => content.distance(self.own[a] + self.own[b], self.content[rank]),
        }
    }

    /// Mean squared distance between two random records, given some categories and how often each occurs. O(all pairs).
    pub fn spread(&self, counted: &[(u32, u64)], control: &Control) -> Result<f64> {
        memory::require(16 * self.above.len(), WHAT)?;
        let mut counts = vec![0.0; self.above.len()];
        let mut missing = 0.0;
        for &(category, count) in counted {
            match self.slot[category as usize] {
                NOWHERE => missing += count as f64,
                slot => counts[slot as usize] += count as f64,
            }
        }
        let known: f64 = counts.iter().sum();
        let of_row = |slot: usize, row: &[f64]| {
            counts[slot] * row.iter().zip(&counts).map(|(x, count)| count * x * x).sum::<f64>()
        };
        // Summed up one after another, so that the sum does not depend on threads.
        let sum: f64 = self.of_rows(control, of_row)?.iter().sum();
        Ok((sum + 2.0 * known * missing * self.gap * self.gap) / (known + missing).powi(2))
    }

    /// What `work` makes of the distances from each used concept to all.
    fn of_rows(&self, control: &Control, work: impl Fn(usize, &[f64]) -> f64 + Sync) -> Result<Vec<f64>> {
        let d = self.above.len();
        let lanes = LANES.min(d);
        memory::require(8 * lanes * d * rayon::current_num_threads() + 32 * d, WHAT)?;
        let starts: Vec<usize> = (0..d).step_by(LANES).collect();
        let blocks = starts.par_iter().map_init(Vec::new, |cells: &mut Vec<f64>, &first| {
            control.check()?;
            let rows = LANES.min(d - first);
            cells.resize(rows * d, 0.0);
            self.rows.fill(first, cells);
            Ok((first..).zip(cells.chunks(d)).map(|(slot, row)| work(slot, row)).collect::<Vec<f64>>())
        });
        Ok(blocks.collect::<Result<Vec<_>>>()?.concat())
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::meaning::Meaning;
    use crate::rng::{Stream, Streams};
    use crate::taxonomy::distance::matrix;
    use crate::taxonomy::information::Information;

    #[test]
    fn distances_are_those_of_the_matrix() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(0), 0);
        let control = Control::new();
        for (n, span) in [(2u32, 1u32), (7, 3), (60, 4), (300, 9), (300, 300)] {
            let mut links = Vec::new();
            for child in 1..n {
                for _ in 0..rng.random_range(1..4) {
                    links.push((child, rng.random_range(child.saturating_sub(span)..child)));
                }
            }
            links.sort_unstable();
            links.dedup();
            let (child, parent): (Vec<u32>, Vec<u32>) = links.into_iter().unzip();
            let taxonomy = Taxonomy::new(n as usize, &child, &parent).unwrap();
            let seco = || Information::seco(&taxonomy, &control).unwrap();
            let measures = [
                Measure::Path,
                Measure::LeacockChodorow,
                Measure::WuPalmer,
                Measure::TaxonomicFeature,
                Measure::Resnik(seco()),
                Measure::Lin(seco()),
                Measure::JiangConrath(seco()),
            ];
            let concepts: Vec<u32> = (0..n.min(120)).map(|_| rng.random_range(0..n)).collect();
            let d = concepts.len();
            let with_missing = [&concepts[..], &[crate::MISSING]].concat();
            for measure in &measures {
                let mut cells = vec![0.0; d * d];
                matrix(&taxonomy, &concepts, measure, &mut cells, &control).unwrap();
                let dag = Dag::new(&taxonomy, &with_missing, measure, &control).unwrap();
                for (a, b) in (0..d).flat_map(|a| (0..d).map(move |b| (a, b))) {
                    assert_eq!(dag.distance(a as u32, b as u32), cells[a * d + b], "{measure:?}: {n} {span} {a} {b}");
                }
                let largest = cells.iter().copied().fold(0.0, f64::max);
                assert_eq!(dag.gap(), if largest > 0.0 { largest } else { 1.0 });
                assert_eq!((dag.distance(0, d as u32), dag.distance(d as u32, d as u32)), (dag.gap(), 0.0));
                let codes: Vec<u32> = (0..500).map(|_| rng.random_range(0..=d as u32)).collect();
                let pairs = codes.iter().flat_map(|&a| codes.iter().map(move |&b| (a, b)));
                let naive = pairs.map(|(a, b)| dag.distance(a, b).powi(2)).sum::<f64>() / 250_000.0;
                let found = Meaning::Dag(&dag).spread(&codes, &control).unwrap();
                assert!((found - naive).abs() <= 1e-9 * naive, "{measure:?}: {found} {naive}");
            }
        }
    }
}
