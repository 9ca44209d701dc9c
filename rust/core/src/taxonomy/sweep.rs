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
use super::measure::{Content, Edges, Measure, feature};
use crate::error::Result;
use crate::lists::Lists;
use crate::memory;

/// Sources that go through the taxonomy side by side.
pub const LANES: usize = 32;

/// Targets whose keys are turned into distances together, few enough to stay in the first-level cache.
const TILE: usize = 128;

/// The cell type of a row: `f32` for matrices that callers keep, `f64` for statistics.
pub trait Cell: Copy + Send + Sync + Default + 'static {
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
trait Kernel<F>: Send + Sync {
    /// Writes `sources.len()` rows, one after another, each as long as there are targets.
    fn rows(&self, sources: &[u32], out: &mut [F]);
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
        let max_depth = taxonomy.max_depth();
        let kernel = match measure {
            Measure::Path => edge_kernel(closure, targets, Edges::Path, work)?,
            Measure::LeacockChodorow => edge_kernel(closure, targets, Edges::LeacockChodorow { max_depth }, work)?,
            Measure::WuPalmer => edge_kernel(closure, targets, Edges::WuPalmer, work)?,
            Measure::TaxonomicFeature => Box::new(SharedSubsumers::new(closure, targets, work)?),
            Measure::Resnik(ic) => content_kernel(closure, targets, Content::Resnik { max: ic.max }, &ic.of, work)?,
            Measure::Lin(ic) => content_kernel(closure, targets, Content::Lin, &ic.of, work)?,
            Measure::JiangConrath(ic) => content_kernel(closure, targets, Content::JiangConrath, &ic.of, work)?,
        };
        Ok(Self { kernel, sources, width })
    }

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

/// What needs memory.
const DISTANCES: &str = "distances of concepts";

/// How much is asked of a kernel.
#[derive(Clone, Copy)]
struct Work {
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
    fn require(self, v: usize, each: usize) -> Result<()> {
        memory::require(self.beside + self.threads * (self.filled + (each + 28) * v), DISTANCES)
    }
}

/// Buffers that are used again: one per thread at work, however often threads change.
struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let lock = || self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut buffer = lock().pop().unwrap_or_else(make);
        let result = work(&mut buffer);
        lock().push(buffer);
        result
    }
}

/// Goes through the rows of some sources tile by tile: `work(source, lane, targets, their cells)`.
fn tiles<F>(sources: &[u32], targets: &[u32], out: &mut [F], mut work: impl FnMut(u32, usize, &[u32], &mut [F])) {
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

impl<K: Key, F: Cell, E: Emit<K, F>> Kernel<F> for BestSubsumer<K, E> {
    fn rows(&self, sources: &[u32], out: &mut [F]) {
        let v = self.closure.len();
        let make = || Climber { state: vec![[K::NONE; LANES]; v], marks: Marks::new(v), queue: Vec::with_capacity(64) };
        self.pool.with(make, |climber| {
            self.pass(sources, climber);
            tiles(sources, &self.targets, out, |source, lane, targets, cells| {
                self.emit.emit(source, lane, &climber.state, targets, cells);
            });
        });
    }
}

/// Every possible key's distance, worked out beforehand: one load per cell.
struct Table<F>(Vec<F>);

impl<F: Cell> Emit<i16, F> for Table<F> {
    fn emit(&self, _: u32, lane: usize, state: &[[i16; LANES]], targets: &[u32], out: &mut [F]) {
        for (cell, &target) in out.iter_mut().zip(targets) {
            *cell = self.0[state[target as usize][lane] as usize];
        }
    }
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
    let largest = ranking.max(&closure);
    Ok(if largest <= <i16 as Key>::MAX {
        let table = (0..=largest).map(|key| {
            let (level, path) = ranking.level_and_path(key);
            F::from_f64(edges.distance(level, path))
        });
        let table = Table(table.collect());
        BestSubsumer::<i16, _>::new(closure, targets, ranking, table, work)?
    } else if largest <= <i32 as Key>::MAX {
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

/// The pass that counts the subsumers that every node shares with 32 sources.
///
/// What a node shares is what its first parent shares, plus itself and its subsumers that are not above the first
/// parent. On a tree that is one addition per node; a second parent adds only what it brings anew.
struct SharedSubsumers<F> {
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
    fn new(closure: Closure, targets: Vec<u32>, work: Work) -> Result<Self> {
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
