//! The structure of a taxonomy.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;

/// Marks on nodes that are all wiped at once: a node is marked if it holds the current stamp.
#[derive(Debug)]
pub struct Marks {
    stamp: u32,
    of: Vec<u32>,
}

impl Marks {
    /// No node marked.
    pub fn new(n: usize) -> Self {
        Self { stamp: 1, of: vec![0; n] }
    }

    /// Wipes all marks.
    pub fn clear(&mut self) {
        if self.stamp == u32::MAX {
            self.of.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    /// Marks a node; true if it was not marked before.
    #[inline]
    pub fn insert(&mut self, node: u32) -> bool {
        let new = self.of[node as usize] != self.stamp;
        self.of[node as usize] = self.stamp;
        new
    }

    /// Whether a node is marked.
    #[inline]
    pub fn contains(&self, node: u32) -> bool {
        self.of[node as usize] == self.stamp
    }
}

/// A directed acyclic graph of concepts `0..len()` with one root.
///
/// Concepts are numbered in the order of their ids, so "ties by id" is "the lower index wins" everywhere below.
#[derive(Debug, Clone)]
pub struct Taxonomy {
    parents: Lists,
    children: Lists,
    order: Vec<u32>,
    depth: Vec<u32>,
    root: u32,
}

impl Taxonomy {
    /// Builds a taxonomy of `n` concepts from is-a links (`child[i]` is a `parent[i]`); repeated links count once.
    ///
    /// O(n + links). Fails on a circle (naming it), on several roots (listing them) and on no concept at all.
    pub fn new(n: usize, child: &[u32], parent: &[u32]) -> Result<Self> {
        if n == 0 {
            return Err(Error::Empty);
        }
        if child.len() != parent.len() {
            return Err(Error::Parameter(format!("{} children but {} parents", child.len(), parent.len())));
        }
        if let Some(node) = child.iter().chain(parent).find(|&&c| c as usize >= n) {
            return Err(Error::Parameter(format!("link to concept {node}, but there are {n}")));
        }
        memory::require(12 * child.len() + n.saturating_mul(NEEDS), "a taxonomy")?;
        let given = Lists::group(n, child.iter().copied().zip(parent.iter().copied()));
        let mut parents = Lists::builder(n, given.total());
        let mut seen = Marks::new(n);
        for c in 0..n {
            seen.clear();
            parents.push(given.of(c).iter().copied().filter(|&p| seen.insert(p)));
        }
        let parents_of = &parents;
        let links = (0..n).flat_map(|c| parents_of.of(c).iter().map(move |&p| (p, c as u32)));
        let children = Lists::group(n, links);
        let order = topological(&parents, &children)?;
        let roots: Vec<u32> = (0..n as u32).filter(|&c| parents.of(c as usize).is_empty()).collect();
        let [root] = roots[..] else { return Err(Error::Roots(roots)) };
        let mut depth = vec![1u32; n];
        for &c in &order {
            let above = parents.of(c as usize).iter().map(|&p| depth[p as usize]).max();
            depth[c as usize] = above.map_or(1, |d| d + 1);
        }
        Ok(Self { parents, children, order, depth, root })
    }

    /// Number of concepts.
    pub fn len(&self) -> usize {
        self.depth.len()
    }

    /// Never true: a taxonomy has a root.
    pub fn is_empty(&self) -> bool {
        self.depth.is_empty()
    }

    /// The concept above all others.
    pub fn root(&self) -> u32 {
        self.root
    }

    /// Number of is-a links.
    pub fn links(&self) -> usize {
        self.parents.total()
    }

    /// Direct parents, in the order in which the links were given.
    pub fn parents(&self, c: u32) -> &[u32] {
        self.parents.of(c as usize)
    }

    /// Direct children, by index.
    pub fn children(&self, c: u32) -> &[u32] {
        self.children.of(c as usize)
    }

    /// Nodes on the longest path from the root, the root's being 1.
    pub fn depth(&self, c: u32) -> u32 {
        self.depth[c as usize]
    }

    /// Parents of all concepts.
    pub fn parent_lists(&self) -> &Lists {
        &self.parents
    }

    /// All depths.
    pub fn depths(&self) -> &[u32] {
        &self.depth
    }

    /// The greatest depth.
    pub fn max_depth(&self) -> u32 {
        self.depth.iter().copied().max().unwrap_or(0)
    }

    /// Every concept after all its parents, subtrees kept together as far as possible.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Whether no concept has several parents.
    pub fn is_tree(&self) -> bool {
        self.links() + 1 == self.len()
    }

    /// `c` and all its subsumers, nearest first.
    pub fn subsumers(&self, c: u32) -> Result<Vec<u32>> {
        memory::require(self.reach_needs(), "the subsumers of a concept")?;
        Ok(reached(&self.parents, c))
    }

    /// `c` and all its descendants, by index.
    pub fn subtree(&self, c: u32) -> Result<Vec<u32>> {
        memory::require(self.reach_needs(), "the concepts below a concept")?;
        Ok(self.below(c))
    }

    fn below(&self, c: u32) -> Vec<u32> {
        let mut nodes = reached(&self.children, c);
        nodes.sort_unstable();
        nodes
    }

    /// Bytes that a search from one concept takes: marks, and a queue that has grown to all concepts.
    fn reach_needs(&self) -> usize {
        32 * self.len()
    }

    /// Least common subsumer of a set: the common subsumer of greatest depth; ties: fewest descendants, then index.
    ///
    /// Climbing from some of the values leaves few candidates, mostly one. Only where there are several, or where not all
    /// values were climbed from, are they looked at from above, the best first.
    pub fn lcs(&self, values: &[u32], control: &Control) -> Result<u32> {
        memory::require(4 * values.len() + 2 * self.reach_needs(), "a least common subsumer")?;
        let mut distinct = values.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let Some(&first) = distinct.first() else {
            return Err(Error::Parameter("the least common subsumer of no value is not defined".into()));
        };
        let (mut marks, mut queue) = (Marks::new(self.len()), Vec::new());
        let mut common = reached(&self.parents, first);
        let step = distinct.len().div_ceil(CLIMBS);
        for &value in distinct.iter().step_by(step).skip(1) {
            control.check()?;
            // Nothing but the root is left.
            if common.len() == 1 {
                return Ok(self.root);
            }
            reach(&self.parents, value, &mut marks, &mut queue);
            common.retain(|&c| marks.contains(c));
        }
        common.sort_unstable_by_key(|&c| std::cmp::Reverse(self.depth(c)));
        for tied in common.chunk_by(|&a, &b| self.depth(a) == self.depth(b)) {
            control.check()?;
            if let [only] = *tied
                && (step == 1 || only == self.root)
            {
                return Ok(only);
            }
            let mut best = None;
            for &c in tied {
                let below = self.below(c);
                let rank = (below.len(), c);
                if best.is_none_or(|best| rank < best) && distinct.iter().all(|v| below.binary_search(v).is_ok()) {
                    best = Some(rank);
                }
            }
            if let Some((_, c)) = best {
                return Ok(c);
            }
        }
        Ok(self.root)
    }

    /// The taxonomy below `root`, itself included, and the concepts it keeps (new index → old index).
    pub fn restrict(&self, root: u32) -> Result<(Self, Vec<u32>)> {
        memory::require(self.reach_needs() + 4 * self.len() + 24 * self.links(), "a part of a taxonomy")?;
        let kept = self.below(root);
        let mut new = vec![u32::MAX; self.len()];
        for (i, &c) in kept.iter().enumerate() {
            new[c as usize] = i as u32;
        }
        let mut child = Vec::new();
        let mut parent = Vec::new();
        for &c in kept.iter().filter(|&&c| c != root) {
            for &p in self.parents(c).iter().filter(|&&p| new[p as usize] != u32::MAX) {
                child.push(new[c as usize]);
                parent.push(new[p as usize]);
            }
        }
        Ok((Self::new(kept.len(), &child, &parent)?, kept))
    }

    /// The tree that keeps only the first parent of every concept.
    pub fn first_parents(&self) -> Result<Self> {
        memory::require(24 * self.len(), "a tree of first parents")?;
        let links = || (0..self.len() as u32).filter_map(|c| self.parents(c).first().map(|&p| (c, p)));
        let (child, parent): (Vec<u32>, Vec<u32>) = links().unzip();
        Self::new(self.len(), &child, &parent)
    }
}

/// Bytes for each concept, at most, while a taxonomy is built and checked; beside those for its links.
const NEEDS: usize = 56;

/// Values from which the search for common subsumers climbs.
const CLIMBS: usize = 64;

/// `start` and everything reachable over `step`, each once, nearest first.
fn reached(step: &Lists, start: u32) -> Vec<u32> {
    let mut queue = Vec::new();
    reach(step, start, &mut Marks::new(step.len()), &mut queue);
    queue.into_iter().map(|x| x.0).collect()
}

/// Lists `start` and everything reachable over `step`, each once, nearest first, with the number of links.
///
/// The caller's `queue` takes the result and its memory is used again; what was reached is marked.
pub fn reach(step: &Lists, start: u32, marks: &mut Marks, queue: &mut Vec<(u32, u32)>) {
    marks.clear();
    queue.clear();
    marks.insert(start);
    queue.push((start, 0));
    let mut next = 0;
    while next < queue.len() {
        let (node, links) = queue[next];
        next += 1;
        queue.extend(step.of(node as usize).iter().filter(|&&x| marks.insert(x)).map(|&x| (x, links + 1)));
    }
}

/// Depth-first topological order (a stack keeps subtrees together, which keeps parents in the cache), or the circle.
fn topological(parents: &Lists, children: &Lists) -> Result<Vec<u32>> {
    let n = parents.len();
    let mut waiting: Vec<u32> = (0..n).map(|c| parents.of(c).len() as u32).collect();
    let mut ready: Vec<u32> = (0..n as u32).rev().filter(|&c| waiting[c as usize] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(c) = ready.pop() {
        order.push(c);
        for &x in children.of(c as usize).iter().rev() {
            waiting[x as usize] -= 1;
            if waiting[x as usize] == 0 {
                ready.push(x);
            }
        }
    }
    if order.len() == n {
        return Ok(order);
    }
    // Every concept left has a parent that is left too: going up must come back to a concept already seen.
    let mut position = vec![usize::MAX; n];
    let mut walk = Vec::new();
    let mut at = (0..n).find(|&c| waiting[c] > 0).unwrap_or(0);
    while position[at] == usize::MAX {
        position[at] = walk.len();
        walk.push(at as u32);
        at = parents.of(at).iter().map(|&p| p as usize).find(|&p| waiting[p] > 0).unwrap_or(at);
    }
    Err(Error::Cycle(walk.split_off(position[at])))
}
