//! The kernel of the measure by shared subsumers.

use super::closure::Closure;
use super::graph::{Marks, reach};
use super::measure::feature;
use super::sweep::{Cell, DISTANCES, Kernel, LANES, Pool, Work, tiles};
use crate::error::Result;
use crate::lists::Lists;
use crate::memory;

/// The pass that counts the subsumers that every node shares with 32 sources.
///
/// What a node shares is what its first parent shares, plus itself and its subsumers that are not above the first
/// parent. On a tree that is one addition per node; a second parent adds only what it brings anew.
pub(super) struct SharedSubsumers<F> {
    closure: Closure,
    targets: Vec<u32>,
    /// Subsumers of a node, itself included, that its first parent does not have.
    own: Lists,
    /// Number of subsumers of each node, itself included.
    size: Vec<u32>,
    /// Distances by shared and by all subsumers, `stride` of the latter; empty where it would be large.
    table: Vec<F>,
    stride: usize,
    pool: Pool<Counter>,
}

struct Counter {
    is_subsumer: Vec<[u8; LANES]>,
    shared: Vec<[u32; LANES]>,
    marks: Marks,
    queue: Vec<(u32, u32)>,
}

impl<F: Cell> SharedSubsumers<F> {
    pub(super) fn new(closure: Closure, targets: Vec<u32>, work: Work) -> Result<Self> {
        let v = closure.len();
        // Lists of subsumers and their sizes, marks and a queue.
        memory::require(44 * v, DISTANCES)?;
        let mut own = Lists::builder(v, 2 * v);
        let mut size = vec![0; v];
        let (mut first, mut queue) = (Marks::new(v), Vec::new());
        for node in 0..v as u32 {
            let mut new = vec![node];
            let parents = closure.parents.of(node as usize);
            if let Some((&parent, others)) = parents.split_first() {
                if !others.is_empty() {
                    reach(&closure.parents, parent, &mut first, &mut queue);
                    let mut next = 1;
                    new.extend(others.iter().filter(|&&p| first.insert(p)));
                    // Whatever is above a known subsumer is known too, so the search stays among the new ones.
                    while next < new.len() {
                        let above = closure.parents.of(new[next] as usize);
                        new.extend(above.iter().filter(|&&p| first.insert(p)));
                        next += 1;
                    }
                }
                size[node as usize] = size[parent as usize];
            }
            size[node as usize] += new.len() as u32;
            own.try_push(&new, DISTANCES)?;
        }
        let largest = size.iter().copied().max().unwrap_or(1);
        let stride = 2 * largest as usize + 1;
        let tabled = if largest < 256 { largest + 1 } else { 0 };
        // Which nodes are subsumers, and how many are shared.
        work.require(v, 5 * LANES)?;
        let mut table = Vec::with_capacity(tabled as usize * stride);
        table.extend((0..tabled).flat_map(|shared| {
            (0..stride as u32).map(move |all| F::from_f64(if all == 0 { 0.0 } else { feature(all, shared) }))
        }));
        Ok(Self { targets, own, size, table, stride, pool: Pool::new(), closure })
    }
}

impl<F: Cell> Kernel<F> for SharedSubsumers<F> {
    fn rows(&self, sources: &[u32], out: &mut [F]) {
        let v = self.closure.len();
        let make = || Counter {
            is_subsumer: vec![[0; LANES]; v],
            shared: vec![[0; LANES]; v],
            marks: Marks::new(v),
            queue: Vec::new(),
        };
        self.pool.with(make, |Counter { is_subsumer, shared, marks, queue }| {
            is_subsumer.fill([0; LANES]);
            for (lane, &source) in sources.iter().enumerate() {
                reach(&self.closure.parents, source, marks, queue);
                for &(node, _) in &*queue {
                    is_subsumer[node as usize][lane] = 1;
                }
            }
            for node in 0..v {
                let mut sum = self.closure.parents.of(node).first().map_or([0; LANES], |&p| shared[p as usize]);
                for &subsumer in self.own.of(node) {
                    for (sum, &is) in sum.iter_mut().zip(&is_subsumer[subsumer as usize]) {
                        *sum += u32::from(is);
                    }
                }
                shared[node] = sum;
            }
            tiles(sources, &self.targets, out, |source, lane, targets, cells| {
                let size = self.size[source as usize];
                for (cell, &target) in cells.iter_mut().zip(targets) {
                    let shared = shared[target as usize][lane];
                    let all = size + self.size[target as usize] - shared;
                    let known = self.table.get(shared as usize * self.stride + all as usize);
                    *cell = known.copied().unwrap_or_else(|| F::from_f64(feature(all, shared)));
                }
            });
        });
    }
}
