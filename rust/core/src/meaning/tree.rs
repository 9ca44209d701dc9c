//! Concepts of a taxonomy in which none has two parents.
//!
//! There, every measure is a function of two numbers: a sum of one of each concept, and one of the concept where they meet;
//! these are depths or contents of information. Concepts are put into the order in which a walk down the tree comes to them; then two of them
//! meet at the highest of the places where neighbours between them meet, the one that the walk came to first. A table of
//! such minima over 1, 2, 4, … neighbours gives it in two look-ups.

use crate::error::{Error, Result};
use crate::memory;
use crate::taxonomy::Taxonomy;
use crate::taxonomy::closure::Closure;
use crate::taxonomy::measure::{Content, Edges, Measure, feature};

/// The place of what is missing.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Categories that are concepts of a tree.
#[derive(Debug)]
pub struct Tree {
    /// Place of the concept of each category among those that are used, in the order of the walk.
    pub(super) place: Vec<u32>,
    /// What the measure takes of the concept at each place.
    pub(super) own: Vec<f64>,
    /// Of 1, 2, 4, … places and the next, the node where all of them meet; by the first of them.
    meets: Vec<Vec<u32>>,
    /// All concepts above those that are used, in the order of the walk: what the measure takes of each as a subsumer,
    pub(super) subsumer: Vec<f64>,
    /// and its parent; that of the root is itself.
    pub(super) parent: Vec<u32>,
    /// Node of each place.
    pub(super) node: Vec<u32>,
    pub(super) formula: Formula,
    /// The largest distance, which is that of what is missing from everything else; 1 if there is none.
    pub(super) gap: f64,
}

/// How two numbers make a distance. It grows with the sum of those of the concepts and falls with that of the subsumer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Formula {
    Edges(Edges),
    Feature,
    Content(Content),
}

impl Formula {
    /// Whether the numbers of the concepts count, beside that of the subsumer.
    pub(super) fn takes_own(self) -> bool {
        !matches!(self, Self::Content(Content::Resnik { .. }))
    }

    /// The formula of a measure, and the information content of every concept where it takes that instead of depths.
    pub(super) fn of<'a>(measure: &'a Measure, taxonomy: &Taxonomy) -> (Self, Option<&'a [f64]>) {
        let max_depth = taxonomy.max_depth();
        match measure {
            Measure::Path => (Self::Edges(Edges::Path), None),
            Measure::LeacockChodorow => (Self::Edges(Edges::LeacockChodorow { max_depth }), None),
            Measure::WuPalmer => (Self::Edges(Edges::WuPalmer), None),
            Measure::TaxonomicFeature => (Self::Feature, None),
            Measure::Resnik(ic) => (Self::Content(Content::Resnik { max: ic.max }), Some(&ic.of)),
            Measure::Lin(ic) => (Self::Content(Content::Lin), Some(&ic.of)),
            Measure::JiangConrath(ic) => (Self::Content(Content::JiangConrath), Some(&ic.of)),
        }
    }

    /// Whether the deepest subsumer counts; if not, all of them may.
    pub(super) fn deepest(self) -> bool {
        match self {
            Self::Edges(edges) => edges.deepest(),
            Self::Feature => false,
            Self::Content(_) => true,
        }
    }

    #[inline]
    pub(super) fn distance(self, sum: f64, subsumer: f64) -> f64 {
        match self {
            Self::Edges(edges) => edges.distance(subsumer as i64, (sum - 2.0 * subsumer) as i64),
            Self::Feature => feature((sum - subsumer) as u32, subsumer as u32),
            Self::Content(content) => content.distance(sum, subsumer),
        }
    }
}

impl Tree {
    /// The concept of each category, [`crate::MISSING`] for what is missing. O(concepts + categories · log categories).
    pub fn new(taxonomy: &Taxonomy, concepts: &[u32], measure: &Measure) -> Result<Self> {
        if !taxonomy.is_tree() {
            return Err(Error::Parameter("a concept has two parents; a tree is needed".into()));
        }
        let levels = usize::BITS as usize - concepts.len().leading_zeros() as usize;
        memory::require(64 * taxonomy.len() + (40 + 4 * levels) * concepts.len(), "the tree of a column")?;
        let closure = Closure::new(taxonomy, concepts.iter().copied().filter(|&c| c != crate::MISSING))?;
        let depth = |node: u32| f64::from(closure.depth[node as usize]);
        let (formula, content) = Formula::of(measure, taxonomy);
        let number = |node: u32| content.map_or(depth(node), |of| of[closure.concept[node as usize] as usize]);
        let walk = walk(&closure);
        let mut at = vec![0; walk.len()];
        for (i, &node) in (0..).zip(&walk) {
            at[node as usize] = i;
        }
        let parent_of = |&node: &u32| closure.parents.of(node as usize).first().map_or(0, |&p| at[p as usize]);
        let parent: Vec<u32> = walk.iter().map(parent_of).collect();
        let subsumer: Vec<f64> = walk.iter().map(|&node| number(node)).collect();
        let node_of = |&c: &u32| if c == crate::MISSING { NOWHERE } else { at[closure.node(c) as usize] };
        let nodes: Vec<u32> = concepts.iter().map(node_of).collect();
        let mut node: Vec<u32> = nodes.iter().copied().filter(|&n| n != NOWHERE).collect();
        node.sort_unstable();
        node.dedup();
        let place_of = |&n: &u32| if n == NOWHERE { NOWHERE } else { node.partition_point(|&x| x < n) as u32 };
        let place: Vec<u32> = nodes.iter().map(place_of).collect();
        let own = node.iter().map(|&n| subsumer[n as usize]).collect();
        let meets = meets(&node, &parent);
        let mut tree = Self { place, own, meets, subsumer, parent, node, formula, gap: 1.0 };
        let largest = tree.widths().first().copied().unwrap_or(0.0);
        if largest > 0.0 {
            tree.gap = largest;
        }
        Ok(tree)
    }

    /// Number of categories.
    pub fn categories(&self) -> usize {
        self.place.len()
    }

    /// The largest distance.
    pub fn gap(&self) -> f64 {
        self.gap
    }

    /// The place of a category in the order of the walk; none if it is missing.
    #[inline]
    pub(crate) fn place(&self, category: u32) -> Option<u32> {
        Some(self.place[category as usize]).filter(|&place| place != NOWHERE)
    }

    /// The node of each place, ascending, and the parent of each node, which comes before it.
    pub(crate) fn nodes(&self) -> (&[u32], &[u32]) {
        (&self.node, &self.parent)
    }

    /// The distance of two categories.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> f64 {
        match (self.place(a), self.place(b)) {
            (Some(a), Some(b)) => self.between(a, b),
            (None, None) => 0.0,
            _ => self.gap,
        }
    }

    /// The distance of the concepts at two places.
    #[inline]
    pub(crate) fn between(&self, a: u32, b: u32) -> f64 {
        let (first, last) = if a < b { (a, b) } else { (b, a) };
        if first == last {
            return 0.0;
        }
        let subsumer = self.subsumer[self.meet(first, last) as usize];
        self.formula.distance(self.own[first as usize] + self.own[last as usize], subsumer)
    }

    /// The node where the concepts at two places meet, the first not after the last.
    #[inline]
    pub(crate) fn meet(&self, first: u32, last: u32) -> u32 {
        if first == last {
            return self.node[first as usize];
        }
        let level = (u32::BITS - 1 - (last - first).leading_zeros()) as usize;
        let meets = &self.meets[level];
        meets[first as usize].min(meets[last as usize - (1 << level)])
    }

    /// Calls `visit` for all pairs of different concepts of a crowd, given the category of each member: with both
    /// members, and what `own` makes of the number of each and `subsumer` of that of their subsumer. What is missing is left out.
    ///
    /// In the order of the walk the subsumer of a member and those before it only gets higher, so no pair needs a look-up.
    #[inline]
    pub(crate) fn crowd<T: Copy>(
        &self,
        crowd: &[u32],
        own: impl Fn(f64) -> T,
        subsumer: impl Fn(f64) -> T,
        mut visit: impl FnMut(usize, usize, T, T, T),
    ) {
        let placed = crowd.iter().enumerate().filter_map(|(member, &category)| Some((self.place(category)?, member)));
        let mut walk: Vec<(u32, usize)> = placed.collect();
        walk.sort_unstable();
        let numbers: Vec<T> = walk.iter().map(|&(place, _)| own(self.own[place as usize])).collect();
        // Equal concepts meet nowhere but where they are.
        let meet =
            |pair: &[(u32, usize)]| if pair[0].0 < pair[1].0 { self.meet(pair[0].0, pair[1].0) } else { u32::MAX };
        let meets: Vec<u32> = walk.windows(2).map(meet).collect();
        for (i, &(_, member)) in walk.iter().enumerate() {
            let mut highest = u32::MAX;
            let mut at = None;
            for j in (0..i).rev() {
                if meets[j] < highest {
                    highest = meets[j];
                    at = Some(subsumer(self.subsumer[highest as usize]));
                }
                if let Some(at) = at {
                    visit(member, walk[j].1, numbers[i], numbers[j], at);
                }
            }
        }
    }

    /// The distance for a sum of numbers of concepts and the number of their subsumer.
    #[inline]
    pub(crate) fn of_numbers(&self, sum: f64, subsumer: f64) -> f64 {
        self.formula.distance(sum, subsumer)
    }

    /// The greatest depth, where the numbers are depths.
    pub(crate) fn depths(&self) -> Option<usize> {
        let deepest = self.own.iter().copied().fold(1.0, f64::max) as usize;
        (!matches!(self.formula, Formula::Content(_))).then_some(deepest)
    }

    /// What the measure takes of the concept at each place, and of each node as a subsumer.
    pub(crate) fn numbers(&self) -> (&[f64], &[f64]) {
        (&self.own, &self.subsumer)
    }

    /// Whether distances are numbers of links.
    pub(crate) fn counts_links(&self) -> bool {
        matches!(self.formula, Formula::Edges(Edges::Path))
    }

    /// Whether different concepts are never at distance 0.
    pub(crate) fn tells_apart(&self) -> bool {
        !matches!(self.formula, Formula::Content(_))
    }

    /// Pairs that are as much work as to go through all of the tree.
    pub(super) fn work(&self) -> usize {
        8 * self.parent.len()
    }

    /// The largest distance between two of the used concepts at or below each node.
    pub(crate) fn widths(&self) -> Vec<f64> {
        let nodes = self.parent.len();
        // Of the concepts below a node, the one with the largest number is the farthest from any other branch.
        let mut most: Vec<Option<f64>> = vec![None; nodes];
        for (&node, &own) in self.node.iter().zip(&self.own) {
            most[node as usize] = Some(own);
        }
        let mut widths = vec![0.0; nodes];
        for node in (1..nodes).rev() {
            let Some(own) = most[node] else { continue };
            let parent = self.parent[node] as usize;
            let across = most[parent].map_or(0.0, |other| self.formula.distance(own + other, self.subsumer[parent]));
            widths[parent] = f64::max(across, f64::max(widths[parent], widths[node]));
            most[parent] = Some(most[parent].map_or(own, |other| other.max(own)));
        }
        widths
    }

    /// Sum of the squared distances over all ordered pairs, given some categories and how often each occurs.
    ///
    /// Branch after branch: of the concepts of a branch only the numbers count that the measure takes of them, and of depths
    /// there are few. Never more work than pair after pair.
    pub(crate) fn squares(&self, counted: &[(u32, u64)]) -> f64 {
        let mut below: Vec<Vec<(f64, f64)>> = vec![Vec::new(); self.parent.len()];
        let (mut known, mut missing) = (0.0, 0.0);
        for &(category, count) in counted {
            let count = count as f64;
            match self.place(category) {
                Some(place) => {
                    known += count;
                    let own = &mut below[self.node[place as usize] as usize];
                    match own.first_mut() {
                        Some(same) => same.1 += count,
                        None => own.push((self.own[place as usize], count)),
                    }
                }
                None => missing += count,
            }
        }
        let mut sum = 0.0;
        for node in (1..below.len()).rev() {
            let branch = std::mem::take(&mut below[node]);
            let parent = self.parent[node] as usize;
            let others = &below[parent];
            for &(a, m) in &branch {
                let to_others =
                    others.iter().map(|&(b, n)| n * self.formula.distance(a + b, self.subsumer[parent]).powi(2));
                sum += m * to_others.sum::<f64>();
            }
            below[parent] = merged(others, &branch);
        }
        2.0 * (sum + known * missing * self.gap * self.gap)
    }
}

/// Adds up counts by number; both lists are ascending.
fn merged(a: &[(f64, f64)], b: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.0.total_cmp(&y.0) {
            std::cmp::Ordering::Less => all.extend(a.next()),
            std::cmp::Ordering::Greater => all.extend(b.next()),
            std::cmp::Ordering::Equal => {
                all.push((x.0, x.1 + y.1));
                a.next();
                b.next();
            }
        }
    }
    all.extend(a);
    all.extend(b);
    all
}

/// The nodes of a closure in the order in which a walk down comes to them: each before all that is below it, and these
/// before anything else.
fn walk(closure: &Closure) -> Vec<u32> {
    let mut children = vec![Vec::new(); closure.len()];
    // The last child first, so that the first one is taken first.
    for node in (1..closure.len() as u32).rev() {
        if let Some(&parent) = closure.parents.of(node as usize).first() {
            children[parent as usize].push(node);
        }
    }
    let mut order = Vec::with_capacity(closure.len());
    let mut open = if closure.len() > 0 { vec![0] } else { Vec::new() };
    while let Some(node) = open.pop() {
        order.push(node);
        open.append(&mut children[node as usize]);
    }
    order
}

/// Of 1, 2, 4, … nodes and the next, the node where all of them meet; by the first of them.
fn meets(nodes: &[u32], parent: &[u32]) -> Vec<Vec<u32>> {
    let meet = |pair: &[u32]| {
        let (mut a, mut b) = (pair[0], pair[1]);
        // Parents come before their children: who came later goes up.
        while a != b {
            if a > b { a = parent[a as usize] } else { b = parent[b as usize] }
        }
        a
    };
    let mut levels = Vec::new();
    let mut level: Vec<u32> = nodes.windows(2).map(meet).collect();
    let mut step = 1;
    while !level.is_empty() {
        let next = (step..level.len()).map(|i| level[i - step].min(level[i])).collect();
        levels.push(std::mem::replace(&mut level, next));
        step *= 2;
    }
    levels
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::control::Control;
    use crate::meaning::Meaning;
    use crate::rng::{Stream, Streams};
    use crate::taxonomy::distance::matrix;
    use crate::taxonomy::information::Information;

    #[test]
    fn distances_are_those_of_the_matrix() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(0), 0);
        let control = Control::new();
        for (n, span) in [(1usize, 1usize), (2, 1), (7, 3), (60, 2), (400, 9), (400, 400)] {
            // Each below one of the `span` before it: from a chain to a bush. Numbers are shuffled by a step.
            let name = |i: usize| (i * 7 + 3) as u32 % n as u32;
            let named = (0..n).map(name).collect::<std::collections::HashSet<_>>().len() == n;
            let name = |i: usize| if named { name(i) } else { i as u32 };
            let child: Vec<u32> = (1..n).map(name).collect();
            let parent: Vec<u32> = (1..n).map(|i| name(rng.random_range(i.saturating_sub(span)..i))).collect();
            let taxonomy = Taxonomy::new(n, &child, &parent).unwrap();
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
            let mut concepts: Vec<u32> = (0..n.min(150)).map(|_| rng.random_range(0..n as u32)).collect();
            for measure in &measures {
                let d = concepts.len();
                let mut cells = vec![0.0; d * d];
                matrix(&taxonomy, &concepts, measure, &mut cells, &control).unwrap();
                concepts.push(crate::MISSING);
                let tree = Tree::new(&taxonomy, &concepts, measure).unwrap();
                concepts.pop();
                let all = (0..d).flat_map(|a| (0..d).map(move |b| (a, b)));
                for (a, b) in all {
                    assert_eq!(tree.distance(a as u32, b as u32), cells[a * d + b], "{measure:?}: {n} {span} {a} {b}");
                }
                let largest = cells.iter().copied().fold(0.0, f64::max);
                assert_eq!(tree.gap(), if largest > 0.0 { largest } else { 1.0 }, "{measure:?}: {n} {span}");
                assert_eq!((tree.distance(0, d as u32), tree.distance(d as u32, d as u32)), (tree.gap(), 0.0));
                let counted: Vec<(u32, u64)> = (0..=d as u32).map(|c| (c, u64::from(c % 5))).collect();
                let pairs = counted.iter().flat_map(|&a| counted.iter().map(move |&b| (a, b)));
                let naive: f64 = pairs.map(|((a, m), (b, n))| (m * n) as f64 * tree.distance(a, b).powi(2)).sum();
                let found = [tree.squares(&counted), Meaning::Tree(&tree).squares(&counted)];
                assert!(found.iter().all(|x| (x - naive).abs() <= 1e-9 * naive), "{measure:?}: {found:?} {naive}");
            }
        }
    }

    #[test]
    fn two_parents_make_no_tree() {
        let taxonomy = Taxonomy::new(3, &[1, 2, 2], &[0, 0, 1]).unwrap();
        assert!(Tree::new(&taxonomy, &[1, 2], &Measure::WuPalmer).is_err());
    }
}
