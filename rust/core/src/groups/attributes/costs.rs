//! What it costs to have two tuples in one group.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::meaning::{Meaning, Sets, Tree};
use crate::memory;
use crate::tuples::Attribute;

/// Groups whose costs are summed up by one task.
const BLOCK: usize = 1 << 10;

/// Squared distances, weighted so that two random records differ by 1 on average in every attribute that varies at all.
pub(super) struct Costs<'a> {
    attributes: Vec<Weighted<'a>>,
}

/// The costs of one attribute.
pub(super) struct Weighted<'a> {
    pub(super) meaning: Meaning<'a>,
    /// One over the mean squared distance of two random records, or 0 where there is no spread.
    weight: f64,
    pub(super) cells: Cells<'a>,
}

/// Costs between categories, in the form in which a crowd has them soonest.
pub(super) enum Cells<'a> {
    /// Of all pairs, row after row.
    Matrix(Vec<f32>),
    Line(Line),
    /// Of values that differ, by the number of each category.
    Equality(&'a [u32], f32),
    Tree(&'a Tree),
    Sets(Sets<'a>),
}

/// A line, stretched so that costs are squared differences.
pub(super) struct Line {
    /// Position of each category; NaN for what is missing.
    at: Vec<f32>,
    /// Cost between what is missing and everything else.
    gap: f32,
    /// Place of each category in ascending order, what is missing at the end;
    pub(super) rank: Vec<u32>,
    /// and the positions in that order.
    pub(super) ascending: Vec<f32>,
}

impl Line {
    fn new(positions: &[f64], gap: f64, weight: f64) -> Self {
        let mut order: Vec<u32> = (0..positions.len() as u32).collect();
        order.par_sort_unstable_by(|&a, &b| positions[a as usize].total_cmp(&positions[b as usize]).then(a.cmp(&b)));
        // Around the middle, where most values are, single precision loses fewest digits.
        let known = order.partition_point(|&c| !positions[c as usize].is_nan());
        let middle = if known > 0 { positions[order[known / 2] as usize] } else { 0.0 };
        let at: Vec<f32> = positions.iter().map(|x| ((x - middle) * weight.sqrt()) as f32).collect();
        let mut rank = vec![0; order.len()];
        for (place, &category) in (0..).zip(&order) {
            rank[category as usize] = place;
        }
        let ascending = order.iter().map(|&category| at[category as usize]).collect();
        Self { at, gap: (weight * gap * gap) as f32, rank, ascending }
    }

    #[inline]
    fn between(&self, a: f32, b: f32) -> f32 {
        let cost = (a - b) * (a - b);
        if cost.is_nan() { if a.is_nan() && b.is_nan() { 0.0 } else { self.gap } } else { cost }
    }

    /// The cost between the first and the last of some places in ascending order.
    #[inline]
    pub(super) fn width(&self, first: u32, last: u32) -> f32 {
        self.between(self.ascending[first as usize], self.ascending[last as usize])
    }
}

impl Weighted<'_> {
    /// Cost between two categories.
    #[inline]
    pub(super) fn between(&self, a: u32, b: u32) -> f32 {
        match &self.cells {
            Cells::Matrix(cells) => cells[a as usize * self.meaning.categories() + b as usize],
            Cells::Line(line) => line.between(line.at[a as usize], line.at[b as usize]),
            Cells::Equality(numbers, cost) => {
                if numbers[a as usize] == numbers[b as usize] {
                    0.0
                } else {
                    *cost
                }
            }
            Cells::Tree(tree) => self.cost(tree.distance(a, b)),
            Cells::Sets(sets) => self.cost(sets.distance(a, b)),
        }
    }

    /// The cost of a distance.
    #[inline]
    pub(super) fn cost(&self, distance: f64) -> f32 {
        (self.weight * distance * distance) as f32
    }

    /// Adds the costs between all members of a crowd and those before them, `weight` times, to a square table; given the
    /// category of each member.
    fn add_crowd(&self, crowd: &[u32], weight: f32, table: &mut [f32]) {
        let n = crowd.len();
        let mut rows = |add: &mut dyn FnMut(usize, &mut [f32])| {
            table.chunks_exact_mut(n).enumerate().skip(1).for_each(|(i, row)| add(i, &mut row[..i]));
        };
        match &self.cells {
            Cells::Matrix(cells) => rows(&mut |i, row| {
                let from = &cells[crowd[i] as usize * self.meaning.categories()..][..self.meaning.categories()];
                row.iter_mut().zip(crowd).for_each(|(sum, &other)| *sum += weight * from[other as usize]);
            }),
            Cells::Line(line) => {
                let at: Vec<f32> = crowd.iter().map(|&category| line.at[category as usize]).collect();
                rows(&mut |i, row| {
                    row.iter_mut().zip(&at).for_each(|(sum, &other)| *sum += weight * line.between(at[i], other));
                });
            }
            Cells::Equality(numbers, cost) => {
                let own: Vec<u32> = crowd.iter().map(|&category| numbers[category as usize]).collect();
                let cost = weight * cost;
                rows(&mut |i, row| {
                    row.iter_mut().zip(&own).for_each(|(sum, &other)| *sum += if other == own[i] { 0.0 } else { cost });
                });
            }
            Cells::Tree(tree) => rows(&mut |i, row| {
                let each = row.iter_mut().zip(crowd);
                each.for_each(|(sum, &other)| *sum += weight * self.cost(tree.distance(crowd[i], other)));
            }),
            Cells::Sets(sets) => {
                sets.crowd(crowd, |i, j, distance| table[i * n + j] += weight * self.cost(distance));
            }
        }
    }
}

impl<'a> Costs<'a> {
    /// Weighs the attributes. O(m·n), and O(d²) where there is a matrix.
    pub(super) fn new(attributes: &[Attribute<'a>], control: &Control) -> Result<Self> {
        let needs = |a: &Attribute<'_>| match a.meaning {
            Meaning::Matrix { distances, .. } => size_of::<f32>() * distances.len(),
            Meaning::Line { positions, .. } => 5 * size_of::<u32>() * positions.len(),
            _ => 0,
        };
        memory::require(attributes.iter().map(needs).sum(), "costs between categories")?;
        let weighted = |attribute: &Attribute<'a>| {
            let meaning = attribute.meaning;
            let spread = meaning.spread(attribute.codes, control)?;
            let weight = if spread > 0.0 { 1.0 / spread } else { 0.0 };
            let cells = match meaning {
                Meaning::Matrix { distances, .. } => {
                    Cells::Matrix(distances.par_iter().map(|&x| (weight * x * x) as f32).collect())
                }
                Meaning::Line { positions, gap } => Cells::Line(Line::new(positions, gap, weight)),
                Meaning::Equality(numbers) => Cells::Equality(numbers, weight as f32),
                Meaning::Tree(tree) => Cells::Tree(tree),
                Meaning::Sets(sets) => Cells::Sets(sets),
            };
            Ok(Weighted { meaning, weight, cells })
        };
        Ok(Self { attributes: attributes.iter().map(weighted).collect::<Result<_>>()? })
    }

    /// Number of attributes.
    pub(super) fn attributes(&self) -> usize {
        self.attributes.len()
    }

    /// The costs of an attribute.
    pub(super) fn of(&self, attribute: usize) -> &Weighted<'a> {
        &self.attributes[attribute]
    }

    /// Cost between two tuples.
    #[inline]
    pub(super) fn between(&self, a: &[u32], b: &[u32]) -> f32 {
        let pairs = self.attributes.iter().zip(a.iter().zip(b));
        pairs.map(|(attribute, (&x, &y))| attribute.between(x, y)).sum()
    }

    /// Adds to a square table the costs of one attribute, `weight` times, between the members of a crowd, given by their
    /// categories. Only the cells below the diagonal are filled.
    pub(super) fn add_crowd(&self, attribute: usize, weight: f32, crowd: &[u32], table: &mut [f32]) {
        self.attributes[attribute].add_crowd(crowd, weight, table);
    }

    /// Sum of the costs between a category and others, each counted.
    #[inline]
    pub(super) fn to_others(&self, attribute: usize, own: u32, others: &[(u32, u64)]) -> f32 {
        let attribute = &self.attributes[attribute];
        others.iter().map(|&(other, count)| count as f32 * attribute.between(own, other)).sum()
    }

    /// What groups cost in one attribute, given the category of each member.
    pub(super) fn inside(&self, attribute: usize, groups: &[&[u32]], category: impl Fn(u32) -> u32 + Sync) -> f64 {
        let Weighted { meaning, weight, .. } = self.attributes[attribute];
        weight * squares_inside(groups, meaning, None, category)
    }
}

/// Bytes for each member of a group that is being looked at.
const TALLIED: usize = size_of::<u32>() + 3 * size_of::<(u32, u64)>();

/// Replaces a list of categories by the distinct ones with their numbers.
pub(super) fn tally(categories: &mut [u32], tally: &mut Vec<(u32, u64)>) {
    categories.sort_unstable();
    tally.clear();
    tally.extend(categories.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u64)));
}

/// The sum over groups of the squared distances of all ordered pairs of members, divided by the size of the group. What is
/// `missing` has no distance here. O(n log k), and O(n·k) where categories differ and distances have no sum of their own.
fn squares_inside(
    groups: &[&[u32]],
    meaning: Meaning<'_>,
    missing: Option<u32>,
    category: impl Fn(u32) -> u32 + Sync,
) -> f64 {
    let of_block = |block: &[&[u32]]| {
        let (mut categories, mut counts) = (Vec::new(), Vec::new());
        let of_group = |group: &&[u32]| {
            categories.clear();
            categories.extend(group.iter().map(|&member| category(member)).filter(|&c| Some(c) != missing));
            tally(&mut categories, &mut counts);
            if counts.len() > 1 { meaning.squares(&counts) / group.len() as f64 } else { 0.0 }
        };
        block.iter().map(of_group).sum::<f64>()
    };
    // Summed up one after another, so that the sum does not depend on threads.
    groups.par_chunks(BLOCK).map(of_block).collect::<Vec<f64>>().iter().sum()
}

/// Expected squared distance between the values of a record before and after a uniform permutation inside its group: the sum
/// over all records by their number, for each attribute. What is missing has no distance: only pairs of values count.
pub fn expected_cost(groups: &Lists, attributes: &[Attribute<'_>], control: &Control) -> Result<Vec<f64>> {
    let largest = groups.iter().map(<[u32]>::len).max().unwrap_or(0);
    // Where groups begin; of a group for each thread, the categories and how many there are of each.
    let room = 3 * size_of::<&[u32]>() * groups.len() + TALLIED * largest * rayon::current_num_threads();
    memory::require(room, "the expected distances inside groups")?;
    let filled: Vec<&[u32]> = groups.iter().filter(|group| !group.is_empty()).collect();
    let of_attribute = |attribute: &Attribute<'_>| {
        control.check()?;
        if attribute.codes.len() != groups.total() {
            let message = format!("groups of {} records and a column of {}", groups.total(), attribute.codes.len());
            return Err(Error::Parameter(message));
        }
        let code = |record: u32| attribute.codes[record as usize];
        let sum = squares_inside(&filled, attribute.meaning, attribute.missing, code);
        Ok(sum / groups.total() as f64)
    };
    attributes.iter().map(of_attribute).collect()
}
