//! Orders of tuples in which near ones follow each other.
//!
//! Each attribute's categories are split in two again and again: a hierarchy made from the distances themselves, from the
//! taxonomy, from medians on a line, or at random where values are equal or not. A tuple's key tells its side at every split,
//! the next split always being that of the attribute whose part is widest, so the order treats attributes alike. Splits and
//! sides are random: two tuples that one order tears apart are near in another.

use std::borrow::Cow;
use std::cmp::Ordering;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use super::costs::{Branches, Cells, Costs, Line, Weighted};
use crate::meaning::Tree;

/// Splits told by a key.
const BITS: usize = u64::BITS as usize;

/// Blocks of equally near categories that are kept together when a part is split.
const BLOCKS: usize = 16;

/// A random order of tuples.
pub(super) struct Order<'a> {
    hierarchies: Vec<Hierarchy<'a>>,
}

/// Categories in places, so that every part of them is a range of places; and how parts are split.
struct Hierarchy<'a> {
    /// None where the place of a category is its number.
    place: Option<Cow<'a, [u32]>>,
    splits: Splits<'a>,
}

enum Splits<'a> {
    /// One by one, the first being that of all categories.
    Listed(Vec<Split>),
    /// About in the middle, so many: of values on a line, or of those that are all as far from each other and cost so much.
    Halves { places: u32, widths: Widths<'a>, salt: u64 },
}

enum Widths<'a> {
    /// Positions in ascending order, and what differences cost.
    Line(&'a [f32], &'a Line),
    Even(f32),
}

/// A part that is split.
#[derive(Clone, Copy)]
struct Split {
    /// Largest cost between two categories of the part, about; 0 if it is not split.
    width: f32,
    /// The first place of the second side.
    middle: u32,
    /// The splits of both sides, which follow each other.
    sides: u32,
    /// Whether the second side comes first in the order.
    turned: bool,
}

const NO_SPLIT: Split = Split { width: 0.0, middle: 0, sides: 0, turned: false };

/// Where a tuple has come to in one hierarchy.
struct Way<'a> {
    hierarchy: &'a Hierarchy<'a>,
    place: u32,
    /// The part: the number of its split, or its range of places,
    at: (u32, u32),
    /// and where that begins and ends on a line.
    ends: (f32, f32),
    /// Width of that part; 0 at the end.
    width: f32,
}

impl<'a> Way<'a> {
    fn new(hierarchy: &'a Hierarchy<'a>, category: u32) -> Self {
        let (end, ends) = match &hierarchy.splits {
            Splits::Listed(_) => (0, (0.0, 0.0)),
            Splits::Halves { places, widths: Widths::Even(_), .. } => (*places, (0.0, 0.0)),
            Splits::Halves { places, widths: Widths::Line(line, _), .. } => {
                (*places, (line[0], line[*places as usize - 1]))
            }
        };
        let place = hierarchy.place.as_ref().map_or(category, |place| place[category as usize]);
        let mut way = Self { hierarchy, place, at: (0, end), ends, width: 0.0 };
        way.measure();
        way
    }

    #[inline]
    fn measure(&mut self) {
        self.width = match &self.hierarchy.splits {
            Splits::Listed(splits) => splits.get(self.at.0 as usize).map_or(0.0, |split| split.width),
            Splits::Halves { .. } if self.at.1 - self.at.0 < 2 => 0.0,
            Splits::Halves { widths: Widths::Line(_, line), .. } => line.between(self.ends.0, self.ends.1),
            Splits::Halves { widths: Widths::Even(cost), .. } => *cost,
        };
    }

    /// Goes to one side of the split; whether it comes second in the order.
    #[inline]
    fn step(&mut self) -> bool {
        let (second, turned) = match &self.hierarchy.splits {
            Splits::Listed(splits) => {
                let split = splits[self.at.0 as usize];
                let second = self.place >= split.middle;
                self.at.0 = split.sides + u32::from(second);
                (second, split.turned)
            }
            Splits::Halves { salt, widths, .. } => {
                let (start, end) = self.at;
                let random = mixed(*salt ^ (u64::from(start) << 32 | u64::from(end)));
                let middle = middle(start, end, random);
                let second = self.place >= middle;
                self.at = if second { (middle, end) } else { (start, middle) };
                match widths {
                    Widths::Line(line, _) if second => self.ends.0 = line[middle as usize],
                    Widths::Line(line, _) => self.ends.1 = line[middle as usize - 1],
                    Widths::Even(_) => {}
                }
                (second, random & 1 == 1)
            }
        };
        self.measure();
        second != turned
    }
}

/// A random place in the middle third of a range.
#[inline]
fn middle(start: u32, end: u32, random: u64) -> u32 {
    let size = end - start;
    let shift = ((random >> 32) * u64::from(size / 3 + 1)) >> 32;
    (start + size / 2 + shift as u32 - size / 6).clamp(start + 1, end - 1)
}

/// Bits that depend on all bits of a number (Steele, Lea and Flood 2014).
#[inline]
fn mixed(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl<'a> Order<'a> {
    /// Splits the categories of every attribute. O(m·d·log d) where splits are even; on lines nothing is done beforehand.
    pub(super) fn new(costs: &'a Costs<'_>, rng: &mut ChaCha20Rng) -> Self {
        Self { hierarchies: (0..costs.attributes()).map(|attribute| hierarchy(costs.of(attribute), rng)).collect() }
    }

    /// Place of a tuple in the order.
    pub(super) fn key(&self, tuple: &[u32]) -> u64 {
        let mut ways: Vec<Way<'_>> = self.hierarchies.iter().zip(tuple).map(|(h, &c)| Way::new(h, c)).collect();
        let mut key = 0;
        for bit in (0..BITS).rev() {
            // Of equally wide ones the first.
            let widest = ways.iter_mut().reduce(|best, way| if way.width > best.width { way } else { best });
            let Some(way) = widest.filter(|way| way.width > 0.0) else { break };
            key |= u64::from(way.step()) << bit;
        }
        key
    }

    /// Bytes that an order takes at most.
    pub(super) fn needs(costs: &Costs<'_>) -> usize {
        let of_attribute = |attribute: usize| {
            let weighted = costs.of(attribute);
            let d = weighted.meaning.categories();
            match &weighted.cells {
                Cells::Line(_) => 0,
                Cells::Equality(..) => 2 * size_of::<u32>() * d,
                Cells::Matrix(_) | Cells::Dag(_) | Cells::Sets(_) => d * (2 * size_of::<Split>() + 32),
                Cells::Tree(Branches { tree, .. }) => d * 3 * size_of::<Split>() + tree.nodes().1.len() * 80,
            }
        };
        (0..costs.attributes()).map(of_attribute).sum()
    }
}

fn hierarchy<'a>(weighted: &'a Weighted<'_>, rng: &mut ChaCha20Rng) -> Hierarchy<'a> {
    match &weighted.cells {
        Cells::Matrix(cells) => {
            let d = weighted.meaning.categories();
            by_distance(d, d, |a, b| cells[a as usize * d + b as usize], rng)
        }
        Cells::Dag(_) | Cells::Sets(_) => {
            by_distance(weighted.meaning.categories(), LOOKED, |a, b| weighted.between(a, b), rng)
        }
        Cells::Line(line) => {
            let (places, widths) = (line.len() as u32, Widths::Line(line.ascending(), line));
            let splits = Splits::Halves { places, widths, salt: rng.random() };
            Hierarchy { place: line.ranks().map(Cow::Borrowed), splits }
        }
        Cells::Equality(numbers, cost) => {
            // Equal categories have neighbouring places, and who is next to whom is random.
            let last = numbers.iter().max().map_or(0, |&last| last as usize + 1);
            let mut shuffled: Vec<u32> = (0..last as u32).collect();
            shuffled.shuffle(rng);
            let place: Vec<u32> = numbers.iter().map(|&number| shuffled[number as usize]).collect();
            let (places, widths) = (place.len() as u32, Widths::Even(*cost));
            let splits = Splits::Halves { places, widths, salt: rng.random() };
            Hierarchy { place: Some(Cow::Owned(place)), splits }
        }
        Cells::Tree(Branches { tree, .. }) => by_branch(tree, weighted, rng),
    }
}

/// Random categories of a part among which a far one is looked for, where distances have to be worked out.
const LOOKED: usize = 64;

/// Splits `d` categories by their costs alone: between two far ones, of so many that are `looked` at, again and again.
fn by_distance(
    d: usize,
    looked: usize,
    between: impl Fn(u32, u32) -> f32,
    rng: &mut ChaCha20Rng,
) -> Hierarchy<'static> {
    let mut all: Vec<u32> = (0..d as u32).collect();
    all.shuffle(rng);
    let mut place = vec![0; d];
    let mut splits = vec![NO_SPLIT];
    let mut parts = vec![(0, 0, 0, all)];
    while let Some((index, start, depth, part)) = parts.pop() {
        let Some(&any) = part.first() else { continue };
        let farthest = |from: u32| {
            let costs = part.iter().take(looked).map(|&c| (c, between(from, c)));
            costs.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(from, |x| x.0)
        };
        let p = farthest(any);
        let q = farthest(p);
        let width = between(p, q);
        if width <= 0.0 || depth == BITS {
            for (place_of, &category) in (start..).zip(&part) {
                place[category as usize] = place_of;
            }
            continue;
        }
        let [first, second] = halves(&part, p, q, &between);
        let (middle, sides) = (start + first.len() as u32, splits.len() as u32);
        splits[index] = Split { width, middle, sides, turned: rng.random() };
        splits.extend([NO_SPLIT, NO_SPLIT]);
        parts.push((sides as usize, start, depth + 1, first));
        parts.push((sides as usize + 1, middle, depth + 1, second));
    }
    Hierarchy { place: Some(Cow::Owned(place)), splits: Splits::Listed(splits) }
}

/// Splits categories by which of two is nearer. Those equally near go as blocks of neighbours to the smaller side: in a
/// tree they are other branches, which should not be torn.
fn halves(part: &[u32], p: u32, q: u32, between: impl Fn(u32, u32) -> f32) -> [Vec<u32>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    let mut tied = Vec::new();
    for &c in part {
        match between(p, c).total_cmp(&between(q, c)) {
            Ordering::Less => sides[0].push(c),
            Ordering::Greater => sides[1].push(c),
            Ordering::Equal => tied.push(c),
        }
    }
    let smaller = |sides: &[Vec<u32>; 2]| usize::from(sides[1].len() < sides[0].len());
    for _ in 0..BLOCKS {
        let Some(&centre) = tied.first() else { return sides };
        let (block, rest): (Vec<u32>, _) = tied.iter().partition(|&&c| between(centre, c) < between(p, c));
        tied = rest;
        let side = smaller(&sides);
        sides[side].extend(block);
    }
    for c in tied {
        let side = smaller(&sides);
        sides[side].push(c);
    }
    sides
}

/// Splits by the taxonomy: branches of a concept, in random order, into two halves of about as many categories.
fn by_branch(tree: &Tree, weighted: &Weighted<'_>, rng: &mut ChaCha20Rng) -> Hierarchy<'static> {
    let (node_of, parent) = tree.nodes();
    let widths = tree.widths();
    // Places that each node has room for; its own concept, if it is used, comes before its branches.
    let mut used = vec![false; parent.len()];
    for &node in node_of {
        used[node as usize] = true;
    }
    let mut size: Vec<u32> = used.iter().map(|&used| u32::from(used)).collect();
    let mut branches: Vec<Vec<u32>> = vec![Vec::new(); parent.len()];
    for node in (1..parent.len()).rev() {
        if size[node] > 0 {
            size[parent[node] as usize] += size[node];
            branches[parent[node] as usize].push(node as u32);
        }
    }
    let mut place_of_node = vec![0; parent.len()];
    let mut splits = vec![NO_SPLIT];
    // Branches of one concept, of which the concept itself is one, and the width of all of them.
    let mut parts: Vec<(usize, u32, Vec<Branch>, f32)> = Vec::new();
    let whole = |node: u32, branches: &mut [Vec<u32>], rng: &mut ChaCha20Rng| -> Vec<Branch> {
        let below = std::mem::take(&mut branches[node as usize]);
        let mut all: Vec<Branch> = below.into_iter().map(Branch::Below).collect();
        all.extend(used[node as usize].then_some(Branch::Own(node)));
        all.shuffle(rng);
        all
    };
    // What is missing is as far from everything as can be.
    let missing = (0..tree.categories() as u32).any(|category| tree.place(category).is_none());
    let (mut start, mut first) = (0, 0);
    let width_of = |node: u32| weighted.cost(widths[node as usize]);
    if missing && !parent.is_empty() {
        splits[0] = Split { width: weighted.cost(tree.gap()), middle: 1, sides: 1, turned: rng.random() };
        splits.extend([NO_SPLIT, NO_SPLIT]);
        (start, first) = (1, 2);
    }
    if !parent.is_empty() {
        parts.push((first, start, whole(0, &mut branches, rng), width_of(0)));
    }
    let size_of = |branch: &Branch| if let Branch::Below(node) = branch { size[*node as usize] } else { 1 };
    while let Some((index, start, mut part, mut width)) = parts.pop() {
        // A single branch is all that is below it.
        while let [Branch::Below(node)] = part[..] {
            part = whole(node, &mut branches, rng);
            width = width_of(node);
        }
        if let [Branch::Own(node)] = part[..] {
            place_of_node[node as usize] = start;
            continue;
        }
        let total: u32 = part.iter().map(size_of).sum();
        let (mut cut, mut first) = (1, size_of(&part[0]));
        while cut + 1 < part.len() && 2 * first + size_of(&part[cut]) < total {
            first += size_of(&part[cut]);
            cut += 1;
        }
        let second = part.split_off(cut);
        let (middle, sides) = (start + first, splits.len() as u32);
        // Concepts at no distance from each other need not be told apart, but have to have places.
        splits[index] = Split { width, middle, sides, turned: rng.random() };
        splits.extend([NO_SPLIT, NO_SPLIT]);
        parts.push((sides as usize, start, part, width));
        parts.push((sides as usize + 1, middle, second, width));
    }
    let place = |category| tree.place(category).map_or(0, |place| place_of_node[node_of[place as usize] as usize]);
    let place = (0..tree.categories() as u32).map(place).collect();
    Hierarchy { place: Some(Cow::Owned(place)), splits: Splits::Listed(splits) }
}

/// A part of what is at or below a concept: the concept itself, or a branch.
enum Branch {
    Own(u32),
    Below(u32),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::itemsets::Itemsets;
    use crate::meaning::{Meaning, Sets};
    use crate::rng::{Stream, Streams};
    use crate::taxonomy::{Measure, Taxonomy};
    use crate::tuples::Attribute;

    /// Places are a permutation, every split divides its range, and ways end at single places.
    #[test]
    fn every_category_has_a_way_to_itself() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(0), 0);
        let n = 300;
        let child: Vec<u32> = (1..n).collect();
        let parent: Vec<u32> = (1..n).map(|i| rng.random_range(0..i)).collect();
        let taxonomy = Taxonomy::new(n as usize, &child, &parent).unwrap();
        let concepts: Vec<u32> = (0..n).filter(|i| i % 3 > 0).chain([crate::MISSING]).collect();
        let d = concepts.len();
        let tree = Tree::new(&taxonomy, &concepts, &Measure::WuPalmer).unwrap();
        let positions: Vec<f64> = (0..d).map(|i| if i == 7 { f64::NAN } else { (i * 37 % d) as f64 }).collect();
        let numbers: Vec<u32> = (0..d as u32).collect();
        let matrix: Vec<f64> = (0..d * d).map(|cell| tree.distance((cell / d) as u32, (cell % d) as u32)).collect();
        let rows = (0..d as u32 - 1).flat_map(|i| [i % 7, 7 + i % 11, 18 + i]).collect();
        let sets = Itemsets::new(300, (0..d).map(|i| 3 * i).collect(), rows).unwrap();
        let meanings = [
            Meaning::Sets(Sets { sets: &sets, missing: true }),
            Meaning::Tree(&tree),
            Meaning::line(&positions).unwrap(),
            Meaning::Equality(&numbers),
            Meaning::matrix(&matrix, d).unwrap(),
        ];
        let codes: Vec<u32> = (0..d as u32).collect();
        for meaning in meanings {
            let attribute = Attribute { codes: &codes, meaning, missing: None };
            let costs = Costs::new(&[attribute], &Control::new()).unwrap();
            let order = Order::new(&costs, &mut rng);
            let mut places: Vec<u32> =
                order.hierarchies[0].place.as_ref().map_or_else(|| (0..d as u32).collect(), |place| place.to_vec());
            places.sort_unstable();
            assert_eq!(places, codes);
            let mut keys: Vec<u64> = codes.iter().map(|&c| order.key(&[c])).collect();
            keys.sort_unstable();
            keys.dedup();
            // Different concepts at a distance have different keys.
            assert_eq!(keys.len(), d, "{meaning:?}");
        }
    }

    #[test]
    fn a_range_is_split_about_in_the_middle() {
        for (start, end) in [(0, 2), (5, 8), (0, 100), (1000, 1_000_000)] {
            for random in 0..100u64 {
                let found = middle(start, end, mixed(random));
                let third = (end - start) / 3;
                assert!(found > start && found < end);
                assert!(
                    end - start < 6 || (found - start >= third && end - found + 1 >= third),
                    "{start} {end} {found}"
                );
            }
        }
    }
}
