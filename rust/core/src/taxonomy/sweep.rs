//! The kernels behind every matrix, row and sum of distances.
//!
//! Fix a source `s`. The best subsumer of `s` and a node `t` is `t` itself if `t` subsumes `s`, else the best among
//! the best subsumers of `s` and `t`'s parents, one link farther. So one pass over the nodes in topological order
//! gives the whole row of `s`. Two ideas make the pass fast:
//!
//! - The order on subsumers (deeper first, then shorter path, then lower index) becomes one integer,
//!   `((depth·M − path) << b) + tie`, so that "the best of the parents, one link farther" is `max − step`.
//! - 32 sources go through the taxonomy side by side: the state of a node is an array of 32 keys, which the
//!   compiler turns into vector instructions. 16-bit keys suffice up to depth 127.
//!
//! A row over a closure of `v` nodes and `e` links costs O(e/32) vector steps and one table look-up per target.

use std::sync::Mutex;

use super::closure::Closure;
use super::graph::{Marks, Taxonomy, reach};
use super::measure::{Content, Edges, Measure};
use super::shared::SharedSubsumers;
use crate::error::Result;
use crate::memory;

/// Sources that go through the taxonomy side by side.
pub const LANES: usize = 32;

/// Targets whose keys are turned into distances together, few enough to stay in the first-level cache.
const TILE: usize = 128;

/// The cell type of a row: `f32` for matrices that callers keep, `f64` for statistics.
pub trait Cell: Copy + Into<f64> + Send + Sync + Default + 'static {
    /// Rounds a distance.
    fn from_f64(x: f64) -> Self;
}

impl Cell for f32 {
    fn from_f64(x: f64) -> Self {
        x as Self
    }
}

impl Cell for f64 {
    fn from_f64(x: f64) -> Self {
        x
    }
}

/// Computes the rows of up to [`LANES`] sources at a time.
pub(super) trait Kernel<F>: Send + Sync {
    /// Writes `sources.len()` rows, one after another, each as long as there are targets.
    fn rows(&self, sources: &[u32], out: &mut [F]);

    /// Adds the distances of each target to all sources, each times its weight; false where only rows can do that.
    fn add(&self, _sources: &[u32], _weights: &[f64], _sums: &mut [f64]) -> bool {
        false
    }
}

/// Distances from some concepts to a fixed list of targets.
pub struct Rows<F> {
    kernel: Box<dyn Kernel<F>>,
    sources: Vec<u32>,
    width: usize,
}

impl<F: Cell> Rows<F> {
    /// Prepares the rows of `sources` over `targets`, both given as concepts.
    ///
    /// There is memory then for as many threads as there are, each with [`LANES`] rows of its own to fill, and for what the
    /// caller will take beside them.
    pub fn new(
        taxonomy: &Taxonomy,
        sources: &[u32],
        targets: &[u32],
        measure: &Measure,
        beside: usize,
    ) -> Result<Self> {
        let closure = Closure::new(taxonomy, sources.iter().chain(targets).copied())?;
        let work = Work::new::<F>(sources.len(), targets.len(), beside);
        let nodes = |concepts: &[u32]| concepts.iter().map(|&c| closure.node(c)).collect::<Vec<u32>>();
        let (sources, targets) = (nodes(sources), nodes(targets));
        let width = targets.len();
        let kernel = match (measure, Edges::of(measure, taxonomy.max_depth())) {
            (_, Some(edges)) => edge_kernel(closure, targets, edges, work)?,
            (Measure::Resnik(ic), _) => {
                content_kernel(closure, targets, Content::Resnik { max: ic.max }, &ic.of, work)?
            }
            (Measure::Lin(ic), _) => content_kernel(closure, targets, Content::Lin, &ic.of, work)?,
            (Measure::JiangConrath(ic), _) => content_kernel(closure, targets, Content::JiangConrath, &ic.of, work)?,
            _ => Box::new(SharedSubsumers::new(closure, targets, work)?),
        };
        Ok(Self { kernel, sources, width })
    }
}

impl<F> Rows<F> {
    /// Writes rows `first ..` into `out`, as many as fit; at most [`LANES`].
    pub fn fill(&self, first: usize, out: &mut [F]) {
        if let Some(rows) = out.len().checked_div(self.width) {
            self.kernel.rows(&self.sources[first..first + rows], out);
        }
    }

    /// Writes the rows of some of the sources, by their place among them; at most [`LANES`].
    pub fn fill_some(&self, which: impl Iterator<Item = usize>, out: &mut [F]) {
        let (mut some, mut rows) = ([0; LANES], 0);
        for (slot, source) in some.iter_mut().zip(which) {
            *slot = self.sources[source];
            rows += 1;
        }
        self.kernel.rows(&some[..rows], out);
    }
}

impl Rows<f64> {
    /// Adds to each target its distances to the sources from `first` on, each times a weight; at most [`LANES`].
    ///
    /// `cells` is room for rows, where rows are needed.
    pub(crate) fn add(&self, first: usize, weights: &[f64], cells: &mut Vec<f64>, sums: &mut [f64]) {
        let sources = &self.sources[first..first + weights.len()];
        if !self.kernel.add(sources, weights, sums) {
            cells.resize(weights.len() * self.width, 0.0);
            self.kernel.rows(sources, cells);
            for (row, &weight) in cells.chunks(self.width).zip(weights) {
                sums.iter_mut().zip(row).for_each(|(sum, distance)| *sum += weight * distance);
            }
        }
    }
}

impl Rows<u16> {
    /// Rows of distances by their place among all that there can be, and these, ascending.
    ///
    /// Nothing where the measure does not count links, or the taxonomy is so deep that distances are too many.
    pub(crate) fn ranked(
        taxonomy: &Taxonomy,
        sources: &[u32],
        targets: &[u32],
        measure: &Measure,
        beside: usize,
    ) -> Result<Option<(Self, Vec<f64>)>> {
        let Some(edges) = Edges::of(measure, taxonomy.max_depth()) else { return Ok(None) };
        let closure = Closure::new(taxonomy, sources.iter().chain(targets).copied())?;
        let ranking = Ranking::new(&closure, edges.deepest(), false);
        let Some(table) = tabulated(&closure, edges, &ranking) else { return Ok(None) };
        let mut radii = table.clone();
        radii.sort_unstable_by(f64::total_cmp);
        radii.dedup();
        let place = |x: &f64| radii.partition_point(|r| r < x) as u16;
        let table = Table(table.iter().map(place).collect());
        let work = Work::new::<u16>(sources.len(), targets.len(), beside);
        let nodes = |concepts: &[u32]| concepts.iter().map(|&c| closure.node(c)).collect::<Vec<u32>>();
        let (sources, targets) = (nodes(sources), nodes(targets));
        let width = targets.len();
        let kernel = BestSubsumer::<i16, _>::new(closure, targets, ranking, table, work)?;
        Ok(Some((Self { kernel, sources, width }, radii)))
    }
}

/// What needs memory.
pub(super) const DISTANCES: &str = "distances of concepts";

/// How much is asked of a kernel.
#[derive(Clone, Copy)]
pub(super) struct Work {
    threads: usize,
    /// Bytes of the rows that a thread fills at a time.
    filled: usize,
    /// Bytes of the lists of sources and targets, and what the caller takes.
    beside: usize,
}

impl Work {
    fn new<F>(sources: usize, targets: usize, beside: usize) -> Self {
        let threads = rayon::current_num_threads().min(sources.div_ceil(LANES)).max(1);
        Self {
            threads,
            filled: LANES.min(sources) * targets * size_of::<F>(),
            beside: beside + 4 * (sources + targets),
        }
    }

    /// Asks for what threads take for each of `v` nodes, and for all else that is still to be taken. A thread also has marks, and a
    /// queue that has grown to all nodes.
    pub(super) fn require(self, v: usize, each: usize) -> Result<()> {
        memory::require(self.beside + self.threads * (self.filled + (each + 28) * v), DISTANCES)
    }
}

/// Buffers that are used again: one per thread at work, however often threads change.
pub(super) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    pub(super) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut buffer = lock().pop().unwrap_or_else(make);
        let result = work(&mut buffer);
        lock().push(buffer);
        result
    }
}

/// Goes through the rows of some sources tile by tile: `work(source, lane, targets, their cells)`.
pub(super) fn tiles<F>(
    sources: &[u32],
    targets: &[u32],
    out: &mut [F],
    mut work: impl FnMut(u32, usize, &[u32], &mut [F]),
) {
    for (tile, some) in targets.chunks(TILE).enumerate() {
        for (lane, &source) in sources.iter().enumerate() {
            work(source, lane, some, &mut out[lane * targets.len() + tile * TILE..][..some.len()]);
        }
    }
}

/// An integer that ranks subsumers: larger is better.
trait Key: Copy + Ord + Send + Sync + 'static {
    const NONE: Self;
    const MAX: i64;
    fn of(x: i64) -> Self;
    fn get(self) -> i64;
    fn less(self, step: Self) -> Self;
}

macro_rules! key {
    ($($t:ty),*) => {$(
        impl Key for $t {
            const NONE: Self = Self::MIN;
            const MAX: i64 = Self::MAX as i64;
            #[inline(always)]
            fn of(x: i64) -> Self { x as Self }
            #[inline(always)]
            fn get(self) -> i64 { i64::from(self) }
            // Lanes without a source hold garbage that nobody reads; it may wrap.
            #[inline(always)]
            fn less(self, step: Self) -> Self { self.wrapping_sub(step) }
        }
    )*};
}
key!(i16, i32, i64);

/// How a subsumer becomes a key: `((level·per_level − path) << bits) + tie`.
#[derive(Clone)]
struct Ranking {
    per_level: i64,
    flat: bool,
    bits: u32,
    /// By node; larger for lower concepts' indices. Empty where ties need no telling apart.
    tie: Vec<i64>,
}

impl Ranking {
    fn new(closure: &Closure, deepest: bool, tell_ties: bool) -> Self {
        // No path sum reaches twice the greatest depth.
        let per_level = 2 * closure.depth.iter().copied().max().map_or(1, i64::from);
        if !tell_ties {
            return Self { per_level, flat: !deepest, bits: 0, tie: Vec::new() };
        }
        let bits = (closure.len() as u64).next_power_of_two().trailing_zeros();
        let mut by_concept: Vec<u32> = (0..closure.len() as u32).collect();
        by_concept.sort_unstable_by_key(|&node| closure.concept[node as usize]);
        let mut tie = vec![0; closure.len()];
        for (rank, &node) in by_concept.iter().enumerate() {
            tie[node as usize] = (1 << bits) - 1 - rank as i64;
        }
        Self { per_level, flat: !deepest, bits, tie }
    }

    fn key(&self, closure: &Closure, node: u32, path: u32) -> i64 {
        let level = if self.flat { 1 } else { i64::from(closure.depth[node as usize]) };
        let tie = self.tie.get(node as usize).copied().unwrap_or(0);
        ((level * self.per_level - i64::from(path)) << self.bits) + tie
    }

    /// The largest key there can be.
    fn max(&self, closure: &Closure) -> i64 {
        let level = if self.flat { 1 } else { closure.depth.iter().copied().max().map_or(1, i64::from) };
        ((level * self.per_level) << self.bits) + (1 << self.bits) - 1
    }

    /// Level of the subsumer and path sum over it.
    fn level_and_path(&self, key: i64) -> (i64, i64) {
        let key = key >> self.bits;
        let level = (key + self.per_level - 1) / self.per_level;
        (level, level * self.per_level - key)
    }
}

/// Turns the keys of one source (a lane) into distances.
trait Emit<K, F>: Send + Sync {
    fn emit(&self, source: u32, lane: usize, state: &[[K; LANES]], targets: &[u32], out: &mut [F]);

    /// Adds the distances of each target to all sources, each times its weight, if that takes less than rows do.
    fn add(&self, _state: &[[K; LANES]], _targets: &[u32], _weights: &[f64], _sums: &mut [f64]) -> bool {
        false
    }
}

/// The pass over the closure that finds the best subsumer of every node and 32 sources.
struct BestSubsumer<K, E> {
    closure: Closure,
    targets: Vec<u32>,
    ranking: Ranking,
    emit: E,
    pool: Pool<Climber<K>>,
}

/// What one thread needs for a pass.
struct Climber<K> {
    state: Vec<[K; LANES]>,
    marks: Marks,
    queue: Vec<(u32, u32)>,
}

impl<K: Key, E> BestSubsumer<K, E> {
    fn new(closure: Closure, targets: Vec<u32>, ranking: Ranking, emit: E, work: Work) -> Result<Box<Self>> {
        work.require(closure.len(), size_of::<[K; LANES]>())?;
        Ok(Box::new(Self { closure, targets, ranking, emit, pool: Pool::new() }))
    }

    fn pass(&self, sources: &[u32], Climber { state, marks, queue }: &mut Climber<K>) {
        state.fill([K::NONE; LANES]);
        for (lane, &source) in sources.iter().enumerate() {
            reach(&self.closure.parents, source, marks, queue);
            for &(node, path) in &*queue {
                state[node as usize][lane] = K::of(self.ranking.key(&self.closure, node, path));
            }
        }
        // A node that subsumes a source is deeper than every other common subsumer, so `max` keeps its own key.
        let step = K::of(1 << self.ranking.bits);
        for node in 1..state.len() {
            let (above, own) = state.split_at_mut(node);
            let own = &mut own[0];
            for &parent in self.closure.parents.of(node) {
                let parent = &above[parent as usize];
                for lane in 0..LANES {
                    own[lane] = own[lane].max(parent[lane].less(step));
                }
            }
        }
    }
}

impl<K: Key, E> BestSubsumer<K, E> {
    /// Gives `work` the keys of all nodes and some sources.
    fn climb<T>(&self, sources: &[u32], work: impl FnOnce(&[[K; LANES]]) -> T) -> T {
        let v = self.closure.len();
        let make = || Climber { state: vec![[K::NONE; LANES]; v], marks: Marks::new(v), queue: Vec::with_capacity(64) };
        self.pool.with(make, |climber| {
            self.pass(sources, climber);
            work(&climber.state)
        })
    }
}

impl<K: Key, F: Send + Sync, E: Emit<K, F>> Kernel<F> for BestSubsumer<K, E> {
    fn rows(&self, sources: &[u32], out: &mut [F]) {
        self.climb(sources, |state| {
            tiles(sources, &self.targets, out, |source, lane, targets, cells| {
                self.emit.emit(source, lane, state, targets, cells);
            });
        });
    }

    fn add(&self, sources: &[u32], weights: &[f64], sums: &mut [f64]) -> bool {
        // Whether there is a way is known before the pass.
        self.emit.add(&[], &[], weights, sums)
            && self.climb(sources, |state| self.emit.add(state, &self.targets, weights, sums))
    }
}

/// Every possible key's distance, worked out beforehand: one load per cell.
struct Table<F>(Vec<F>);

/// Lanes whose distances are added side by side.
const SIDE: usize = 4;

impl<F: Copy + Into<f64> + Send + Sync> Emit<i16, F> for Table<F> {
    fn emit(&self, _: u32, lane: usize, state: &[[i16; LANES]], targets: &[u32], out: &mut [F]) {
        for (cell, &target) in out.iter_mut().zip(targets) {
            *cell = self.0[state[target as usize][lane] as usize];
        }
    }

    fn add(&self, state: &[[i16; LANES]], targets: &[u32], weights: &[f64], sums: &mut [f64]) -> bool {
        for (sum, &target) in sums.iter_mut().zip(targets) {
            let mut parts = [0.0; SIDE];
            for (keys, weights) in state[target as usize].chunks_exact(SIDE).zip(weights.chunks(SIDE)) {
                for ((part, &key), weight) in parts.iter_mut().zip(keys).zip(weights) {
                    *part += weight * self.0[key as usize].into();
                }
            }
            *sum += parts.iter().sum::<f64>();
        }
        true
    }
}

/// The distance of every key that there can be, if 16 bits hold it.
fn tabulated(closure: &Closure, edges: Edges, ranking: &Ranking) -> Option<Vec<f64>> {
    let largest = ranking.max(closure);
    let distance = |key| {
        let (level, path) = ranking.level_and_path(key);
        edges.distance(level, path)
    };
    (largest <= <i16 as Key>::MAX).then(|| (0..=largest).map(distance).collect())
}

/// The formula itself, for taxonomies so deep that a table would be larger than the result.
struct Formula {
    edges: Edges,
    ranking: Ranking,
}

impl<K: Key, F: Cell> Emit<K, F> for Formula {
    fn emit(&self, _: u32, lane: usize, state: &[[K; LANES]], targets: &[u32], out: &mut [F]) {
        for (cell, &target) in out.iter_mut().zip(targets) {
            let (level, path) = self.ranking.level_and_path(state[target as usize][lane].get());
            *cell = F::from_f64(self.edges.distance(level, path));
        }
    }
}

fn edge_kernel<F: Cell>(closure: Closure, targets: Vec<u32>, edges: Edges, work: Work) -> Result<Box<dyn Kernel<F>>> {
    let ranking = Ranking::new(&closure, edges.deepest(), false);
    Ok(if let Some(table) = tabulated(&closure, edges, &ranking) {
        let table = Table(table.into_iter().map(F::from_f64).collect());
        BestSubsumer::<i16, _>::new(closure, targets, ranking, table, work)?
    } else if ranking.max(&closure) <= <i32 as Key>::MAX {
        let formula = Formula { edges, ranking: ranking.clone() };
        BestSubsumer::<i32, _>::new(closure, targets, ranking, formula, work)?
    } else {
        let formula = Formula { edges, ranking: ranking.clone() };
        BestSubsumer::<i64, _>::new(closure, targets, ranking, formula, work)?
    })
}

/// Distances from the information content of both concepts and of their subsumer, which the key names.
struct ByContent {
    content: Content,
    of_node: Vec<f64>,
    of_tie: Vec<f64>,
}

impl<K: Key, F: Cell> Emit<K, F> for ByContent {
    fn emit(&self, source: u32, lane: usize, state: &[[K; LANES]], targets: &[u32], out: &mut [F]) {
        let mask = self.of_tie.len() - 1;
        let own = self.of_node[source as usize];
        for (cell, &target) in out.iter_mut().zip(targets) {
            let subsumer = self.of_tie[state[target as usize][lane].get() as usize & mask];
            let distance = self.content.distance(own + self.of_node[target as usize], subsumer);
            *cell = F::from_f64(if source == target { 0.0 } else { distance });
        }
    }
}

fn content_kernel<F: Cell>(
    closure: Closure,
    targets: Vec<u32>,
    content: Content,
    of: &[f64],
    work: Work,
) -> Result<Box<dyn Kernel<F>>> {
    // Ties, contents by node and by tie, of which there are up to twice as many.
    memory::require(36 * closure.len(), DISTANCES)?;
    let ranking = Ranking::new(&closure, true, true);
    let of_node: Vec<f64> = closure.concept.iter().map(|&c| of[c as usize]).collect();
    let mut of_tie = vec![0.0; 1 << ranking.bits];
    for (&tie, &content) in ranking.tie.iter().zip(&of_node) {
        of_tie[tie as usize] = content;
    }
    let emit = ByContent { content, of_node, of_tie };
    Ok(if ranking.max(&closure) <= <i32 as Key>::MAX {
        BestSubsumer::<i32, _>::new(closure, targets, ranking, emit, work)?
    } else {
        BestSubsumer::<i64, _>::new(closure, targets, ranking, emit, work)?
    })
}
