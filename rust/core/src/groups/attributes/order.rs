//! Orders of tuples in which near ones follow each other.
//!
//! Each attribute's categories are split in two again and again, between two far ones: a hierarchy made from the
//! distances themselves, whatever they come from. A tuple's key tells its side at every split, the next split always
//! being that of the attribute whose part is widest, so the order treats attributes alike. Pivots and sides are random:
//! two tuples that one order tears apart are near in another.

use std::cmp::Ordering;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use super::costs::Costs;

/// Splits told by a key.
const BITS: usize = u64::BITS as usize;

/// Blocks of equally near categories that are kept together when a part is split.
const BLOCKS: usize = 16;

/// A random order of tuples.
pub(super) struct Order {
    hierarchies: Vec<Hierarchy>,
}

/// The splits that lead to each category of an attribute.
type Hierarchy = Vec<Vec<Split>>;

/// One split on the way from all categories to a single one.
#[derive(Clone, Copy)]
struct Split {
    /// Largest cost between two categories of the part that is split, about.
    width: f32,
    /// On which side the category is.
    second: bool,
}

impl Order {
    /// Splits the categories of every attribute. O(m·d·log d) where splits are even.
    pub(super) fn new(costs: &Costs, rng: &mut ChaCha20Rng) -> Self {
        Self { hierarchies: (0..costs.attributes()).map(|attribute| hierarchy(costs, attribute, rng)).collect() }
    }

    /// Place of a tuple in the order.
    pub(super) fn key(&self, tuple: &[u32]) -> u64 {
        let mut ways: Vec<&[Split]> = self.hierarchies.iter().zip(tuple).map(|(h, &c)| &h[c as usize][..]).collect();
        let mut key = 0;
        for bit in (0..BITS).rev() {
            let mut widest: Option<(&mut &[Split], Split)> = None;
            for way in &mut ways {
                if let Some(&split) = way.first()
                    && widest.as_ref().is_none_or(|(_, best)| split.width > best.width)
                {
                    widest = Some((way, split));
                }
            }
            let Some((way, split)) = widest else { break };
            *way = &way[1..];
            key |= u64::from(split.second) << bit;
        }
        key
    }
}

fn hierarchy(costs: &Costs, attribute: usize, rng: &mut ChaCha20Rng) -> Hierarchy {
    let d = costs.categories(attribute);
    let mut all: Vec<u32> = (0..d as u32).collect();
    all.shuffle(rng);
    let mut splits = vec![Vec::new(); d];
    let mut parts = vec![all];
    while let Some(part) = parts.pop() {
        let Some(&any) = part.first() else { continue };
        let farthest = |from: u32| {
            let row = costs.row(attribute, from);
            part.iter().copied().max_by(|&a, &b| row[a as usize].total_cmp(&row[b as usize])).unwrap_or(from)
        };
        let p = farthest(any);
        let q = farthest(p);
        let width = costs.row(attribute, p)[q as usize];
        if width <= 0.0 || splits[any as usize].len() == BITS {
            continue;
        }
        let mut sides = halves(&part, p, q, costs, attribute);
        if rng.random() {
            sides.swap(0, 1);
        }
        for (second, side) in [false, true].into_iter().zip(sides) {
            for &c in &side {
                splits[c as usize].push(Split { width, second });
            }
            parts.push(side);
        }
    }
    splits
}

/// Splits categories by which of two is nearer. Those equally near go as blocks of neighbours to the smaller side: in a
/// tree they are other branches, which should not be torn.
fn halves(part: &[u32], p: u32, q: u32, costs: &Costs, attribute: usize) -> [Vec<u32>; 2] {
    let (to_p, to_q) = (costs.row(attribute, p), costs.row(attribute, q));
    let mut sides = [Vec::new(), Vec::new()];
    let mut tied = Vec::new();
    for &c in part {
        match to_p[c as usize].total_cmp(&to_q[c as usize]) {
            Ordering::Less => sides[0].push(c),
            Ordering::Greater => sides[1].push(c),
            Ordering::Equal => tied.push(c),
        }
    }
    let smaller = |sides: &[Vec<u32>; 2]| usize::from(sides[1].len() < sides[0].len());
    for _ in 0..BLOCKS {
        let Some(&centre) = tied.first() else { return sides };
        let to_centre = costs.row(attribute, centre);
        let (block, rest): (Vec<u32>, _) = tied.iter().partition(|&&c| to_centre[c as usize] < to_p[c as usize]);
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
