//! The concepts of a tree around one of them, counted branch by branch instead of one by one.
//!
//! Where a measure takes nothing but depths, the distance of two concepts depends on their own and on that of the concept
//! where they meet. With the concepts ordered by depth, and by a walk down the tree inside a depth, those below any concept
//! at one depth are a range. So what meets the centre at one of its subsumers, and has one depth, is a range without another
//! range: about a hundred of them hold the whole domain, whatever its size.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::circles::Side;
use super::{Column, Domain};
use crate::error::Result;
use crate::memory;
use crate::taxonomy::Taxonomy;
use crate::taxonomy::measure::Depths;

/// Categories up to which all concepts are counted for each of them.
const MANY: usize = 1 << 10;
/// Ranges for each concept, on average, that a tree may have.
const RANGES: usize = 16;
/// The number of a circle that is not there.
const NONE: u32 = u32::MAX;

/// A range of the order.
type Range = (u32, u32);

/// A tree by depth, and by a walk down inside a depth.
pub(super) struct Branches {
    depths: Depths,
    /// Parent of each concept, itself for the root, and its depth.
    parent: Vec<u32>,
    depth: Vec<u32>,
    order: Vec<u32>,
    /// For each concept the ranges of what is below it: first at its own depth, where it is alone, then at those that follow.
    first: Vec<usize>,
    ranges: Vec<Range>,
}

impl Branches {
    /// The domain of a column with many categories, if it is a tree whose measure takes depths alone.
    pub fn of(column: &Column<'_>) -> Result<Option<Self>> {
        let Domain::Taxonomy(taxonomy, measure) = column.domain else { return Ok(None) };
        let depths = Depths::of(measure, taxonomy.max_depth());
        match depths {
            Some(depths) if column.concepts.len() > MANY && taxonomy.is_tree() => Self::new(taxonomy, depths),
            _ => Ok(None),
        }
    }

    /// None where there would be too many ranges, as in a tree that is a list. O(V).
    pub fn new(taxonomy: &Taxonomy, depths: Depths) -> Result<Option<Self>> {
        let n = taxonomy.len();
        memory::require((48 + size_of::<Range>() * RANGES) * n, "noise")?;
        let parent: Vec<u32> = (0..n as u32).map(|c| taxonomy.parents(c).first().copied().unwrap_or(c)).collect();
        let mut walk = Vec::with_capacity(n);
        let mut open = vec![taxonomy.root()];
        while let Some(concept) = open.pop() {
            walk.push(concept);
            open.extend_from_slice(taxonomy.children(concept));
        }
        let mut height = vec![0u32; n];
        for &c in walk.iter().rev().filter(|&&c| parent[c as usize] != c) {
            let above = parent[c as usize] as usize;
            height[above] = height[above].max(height[c as usize] + 1);
        }
        let mut first = Vec::with_capacity(n + 1);
        first.push(0);
        for &height in &height {
            first.push(first.last().map_or(0, |end| end + height as usize + 1));
        }
        if first[n] > RANGES * n {
            return Ok(None);
        }
        let depth = taxonomy.depths().to_vec();
        let mut starts = vec![0u32; taxonomy.max_depth() as usize + 2];
        for &depth in &depth {
            starts[depth as usize + 1] += 1;
        }
        for level in 1..starts.len() {
            starts[level] += starts[level - 1];
        }
        let mut order = vec![0; n];
        let mut ranges = vec![(u32::MAX, 0); first[n]];
        for &concept in &walk {
            let place = &mut starts[depth[concept as usize] as usize];
            order[*place as usize] = concept;
            ranges[first[concept as usize]] = (*place, *place + 1);
            *place += 1;
        }
        for &c in walk.iter().rev().filter(|&&c| parent[c as usize] != c) {
            let (from, to) = (first[c as usize], first[parent[c as usize] as usize] + 1);
            for level in 0..=height[c as usize] as usize {
                let (own, above) = (ranges[from + level], &mut ranges[to + level]);
                *above = (above.0.min(own.0), above.1.max(own.1));
            }
        }
        Ok(Some(Self { depths, parent, depth, order, first, ranges }))
    }

    /// The ranges below a concept, from its own depth on.
    fn below(&self, concept: u32) -> &[Range] {
        &self.ranges[self.first[concept as usize]..self.first[concept as usize + 1]]
    }

    /// What is below a concept at some depth; nothing where there is no concept.
    fn at(&self, concept: Option<&u32>, depth: u32) -> Range {
        let range = concept.and_then(|&c| self.below(c).get(depth.checked_sub(self.depth[c as usize])? as usize));
        range.copied().unwrap_or((0, 0))
    }

    /// The concepts above one, from the root to itself.
    fn climb(&self, concept: u32, path: &mut Vec<u32>) {
        path.clear();
        path.push(concept);
        while let Some(&last) = path.last()
            && self.parent[last as usize] != last
        {
            path.push(self.parent[last as usize]);
        }
        path.reverse();
    }
}

/// Equally distant concepts on one side, which follow each other in the order.
#[derive(Debug, Clone, Copy)]
struct Piece {
    radius: f64,
    side: u8,
    range: Range,
}

/// Concepts at one distance.
#[derive(Debug, Clone, Copy)]
struct Circle {
    radius: f64,
    /// The first of its pieces,
    first: usize,
    /// and its concepts: closer to the reference than the centre, as far, and farther.
    counts: [u32; 3],
}

/// All concepts but the centre, by distance from it and by side. The buffers are used again for the next centre.
#[derive(Debug, Default)]
pub(super) struct Around {
    own: Vec<u32>,
    other: Vec<u32>,
    pieces: Vec<Piece>,
    circles: Vec<Circle>,
    /// For any, closer and farther: the first circle, from each on, that has some; and the last of all.
    next: [Vec<u32>; 3],
    last: [u32; 3],
}

impl Around {
    /// Finds the circles around a centre, and the sides that a reference makes, if there is one.
    pub fn draw(&mut self, tree: &Branches, centre: u32, reference: Option<u32>) {
        tree.climb(centre, &mut self.own);
        self.other.clear();
        if let Some(reference) = reference {
            tree.climb(reference, &mut self.other);
        }
        let depth = |c: u32| tree.depth[c as usize];
        // Where the two paths part; nothing is on a side where there is no reference.
        let parted = self.own.iter().zip(&self.other).take_while(|(a, b)| a == b).count();
        let side = |level: u32, meet: u32| {
            let Some(reference) = reference else { return 1 };
            let far = |other: u32, meet: u32| tree.depths.distance(depth(reference), other, depth(meet));
            match far(level, meet).total_cmp(&far(depth(centre), self.own[parted - 1])) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Greater => 2,
            }
        };
        self.pieces.clear();
        for (i, &meet) in self.own.iter().enumerate() {
            for (&below, level) in tree.below(meet).iter().zip(depth(meet)..) {
                if i + 1 == self.own.len() && level == depth(meet) {
                    continue;
                }
                let radius = tree.depths.distance(depth(centre), level, depth(meet));
                let branch = tree.at(self.own.get(i + 1), level);
                if i + 1 != parted {
                    let side = side(level, self.own[i.min(parted.max(1) - 1)]);
                    add(&mut self.pieces, (radius, side), below, [branch, (0, 0)]);
                    continue;
                }
                // Below the concept where both meet, those near the reference meet it farther down.
                for (j, &with) in self.other.iter().enumerate().skip(i) {
                    let holes = [tree.at(self.other.get(j + 1), level), if j == i { branch } else { (0, 0) }];
                    add(&mut self.pieces, (radius, side(level, with)), tree.at(Some(&with), level), holes);
                }
            }
        }
        self.pieces.sort_unstable_by(|a, b| {
            a.radius.total_cmp(&b.radius).then(a.side.cmp(&b.side)).then(a.range.cmp(&b.range))
        });
        self.circles.clear();
        for (index, piece) in self.pieces.iter().enumerate() {
            if self.circles.last().is_none_or(|last| last.radius != piece.radius) {
                self.circles.push(Circle { radius: piece.radius, first: index, counts: [0; 3] });
            }
            if let Some(last) = self.circles.last_mut() {
                last.counts[piece.side as usize] += piece.range.1 - piece.range.0;
            }
        }
        for (which, side) in [None, Some(Side::Closer), Some(Side::Farther)].into_iter().enumerate() {
            let next = &mut self.next[which];
            next.clear();
            next.resize(self.circles.len() + 1, NONE);
            self.last[which] = NONE;
            for (index, circle) in self.circles.iter().enumerate().rev() {
                next[index] = if circle.count(side) == 0 { next[index + 1] } else { index as u32 };
                if self.last[which] == NONE {
                    self.last[which] = next[index];
                }
            }
        }
    }

    /// Draws a concept at the smallest distance that is at least `magnitude`, else at the largest; and whether it reaches.
    ///
    /// With a side, only concepts there count. None where there is no candidate at all.
    pub fn choose(
        &self,
        tree: &Branches,
        magnitude: f64,
        side: Option<Side>,
        rng: &mut ChaCha20Rng,
    ) -> Option<(u32, bool)> {
        let which = side.map_or(0, |side| 1 + side as usize);
        let next = self.next[which][self.circles.partition_point(|circle| circle.radius < magnitude)];
        let circle = if next == NONE { self.last[which] } else { next };
        let circle = self.circles.get(circle as usize)?;
        let mut place = rng.random_range(..circle.count(side));
        for piece in &self.pieces[circle.first..] {
            let (start, end) = piece.range;
            if side.is_some_and(|side| piece.side != Circle::place(side)) {
                continue;
            }
            if place < end - start {
                return Some((tree.order[(start + place) as usize], next != NONE));
            }
            place -= end - start;
        }
        None
    }
}

impl Circle {
    /// The place of a side among the counts.
    fn place(side: Side) -> u8 {
        if side == Side::Farther { 2 } else { 0 }
    }

    /// Number of concepts, of all or on one side.
    fn count(&self, side: Option<Side>) -> u32 {
        side.map_or(self.counts.iter().sum(), |side| self.counts[Self::place(side) as usize])
    }
}

/// Adds what is left of a range without two parts of it that do not overlap.
fn add(pieces: &mut Vec<Piece>, (radius, side): (f64, u8), (start, end): Range, mut holes: [Range; 2]) {
    holes.sort_unstable();
    let mut from = start;
    for hole in holes.into_iter().filter(|hole| hole.0 < hole.1).chain([(end, end)]) {
        if from < hole.0 {
            pieces.push(Piece { radius, side, range: (from, hole.0) });
        }
        from = from.max(hole.1);
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::control::Control;
    use crate::taxonomy::Measure;
    use crate::taxonomy::distance;

    /// A random tree in which each concept is below one of those that come some way before it, but numbered the other way.
    fn tree(n: u32, span: u32, rng: &mut ChaCha20Rng) -> Taxonomy {
        let child: Vec<u32> = (0..n - 1).collect();
        let parent: Vec<u32> = child.iter().map(|&c| rng.random_range(c + 1..n.min(c + 1 + span))).collect();
        Taxonomy::new(n as usize, &child, &parent).unwrap()
    }

    #[test]
    fn pieces_hold_every_concept_where_it_belongs() {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        for (n, span) in [(1, 1), (2, 1), (12, 3), (40, 40), (60, 9)] {
            let taxonomy = tree(n, span, &mut rng);
            for measure in [Measure::WuPalmer, Measure::Path, Measure::LeacockChodorow, Measure::TaxonomicFeature] {
                let depths = Depths::of(&measure, taxonomy.max_depth()).unwrap();
                let found = Branches::new(&taxonomy, depths).unwrap().unwrap();
                let every: Vec<u32> = (0..n).collect();
                let mut far = vec![0.0; (n * n) as usize];
                distance::matrix(&taxonomy, &every, &measure, &mut far, &Control::new()).unwrap();
                let far = |a: u32, b: u32| far[(a * n + b) as usize];
                let mut around = Around::default();
                for centre in 0..n {
                    for reference in std::iter::once(None).chain((0..n).map(Some)) {
                        around.draw(&found, centre, reference);
                        let mut held: Vec<(u32, f64, u8)> = Vec::new();
                        for piece in &around.pieces {
                            let range = piece.range.0 as usize..piece.range.1 as usize;
                            held.extend(found.order[range].iter().map(|&c| (c, piece.radius, piece.side)));
                        }
                        held.sort_by_key(|x| x.0);
                        let side = |c: u32| {
                            reference.map_or(1, |r| {
                                1 + u8::from(far(r, c) > far(r, centre)) - u8::from(far(r, c) < far(r, centre))
                            })
                        };
                        let others = (0..n).filter(|&c| c != centre);
                        let expected: Vec<(u32, f64, u8)> = others.map(|c| (c, far(centre, c), side(c))).collect();
                        assert_eq!(held, expected, "{n} concepts, {centre} and {reference:?}, {measure:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_tree_that_is_a_list_has_too_many_ranges() {
        let depths = Depths::of(&Measure::Path, 100).unwrap();
        let list = tree(100, 1, &mut ChaCha20Rng::seed_from_u64(1));
        assert!(Branches::new(&list, depths).unwrap().is_none());
    }
}
