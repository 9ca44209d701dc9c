//! What it costs to have two tuples in one group.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::meaning::{Dag, Meaning, Sets, Tree};
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
    Tree(Branches<'a>),
    Dag(&'a Dag),
    Sets(Sets<'a>),
}

/// A tree, and where distances depend on depths alone, the cost for each depth of a subsumer and sum of two depths.
pub(super) struct Branches<'a> {
    pub(super) tree: &'a Tree,
    by_depth: Vec<f32>,
    /// Sums that are told apart.
    sums: usize,
}

/// Cells up to which costs by depth are tabled.
const DEPTHS: usize = 1 << 16;

impl<'a> Branches<'a> {
    fn new(tree: &'a Tree, weight: f64) -> Self {
        let depths = tree.depths().filter(|deepest| 2 * (deepest + 1).pow(2) <= DEPTHS);
        let sums = depths.map_or(0, |deepest| 2 * deepest + 1);
        let of = |(depth, sum): (usize, usize)| {
            if sum < 2 * depth { 0.0 } else { (weight * tree.of_numbers(sum as f64, depth as f64).powi(2)) as f32 }
        };
        let all = (0..depths.map_or(0, |deepest| deepest + 1)).flat_map(|depth| (0..sums).map(move |sum| (depth, sum)));
        Self { tree, by_depth: all.map(of).collect(), sums }
    }

    /// Calls `add` for all pairs of a crowd with the cost between them.
    #[inline]
    fn crowd(&self, crowd: &[u32], weighted: &Weighted<'_>, mut add: impl FnMut(usize, usize, f32)) {
        let Self { tree, by_depth, sums } = self;
        if by_depth.is_empty() {
            let distance = |a: f64, b: f64, subsumer: f64| tree.of_numbers(a + b, subsumer);
            tree.crowd(crowd, |x| x, |x| x, |i, j, a, b, at| add(i, j, weighted.cost(distance(a, b, at))));
        } else {
            let visit = |i, j, a: usize, b: usize, at: usize| add(i, j, by_depth[at + a + b]);
            tree.crowd(crowd, |depth| depth as usize, |depth| depth as usize * sums, visit);
        }
        let missing = |&&member: &&usize| tree.place(crowd[member]).is_none();
        let (members, gap): (Vec<usize>, _) = ((0..crowd.len()).collect(), weighted.cost(tree.gap()));
        for &member in members.iter().filter(missing) {
            members.iter().filter(|other| !missing(other)).for_each(|&other| add(member, other, gap));
        }
    }
}

/// A line, stretched so that costs are squared differences.
pub(super) struct Line {
    /// Position of each category; NaN for what is missing.
    at: Vec<f32>,
    /// Cost between what is missing and everything else.
    gap: f32,
    /// None where the categories are in ascending order already, as those of a column of numbers are.
    sorted: Option<Sorted>,
}

/// Categories in ascending order, what is missing at the end.
struct Sorted {
    /// Place of each category,
    rank: Vec<u32>,
    /// and the positions in that order.
    positions: Vec<f32>,
}

impl Line {
    fn new(positions: &[f64], gap: f64, weight: f64) -> Self {
        let is_sorted = positions.is_sorted_by(|a, b| a.total_cmp(b).is_le());
        let mut order: Vec<u32> = if is_sorted { Vec::new() } else { (0..positions.len() as u32).collect() };
        order.par_sort_unstable_by(|&a, &b| positions[a as usize].total_cmp(&positions[b as usize]).then(a.cmp(&b)));
        let nth = |place: usize| positions[if is_sorted { place } else { order[place] as usize }];
        // Around the middle, where most values are, single precision loses fewest digits.
        let known = positions.iter().filter(|x| !x.is_nan()).count();
        let middle = if known > 0 { nth(known / 2) } else { 0.0 };
        let at: Vec<f32> = positions.iter().map(|x| ((x - middle) * weight.sqrt()) as f32).collect();
        let sorted = (!is_sorted).then(|| {
            let mut rank = vec![0; order.len()];
            for (place, &category) in (0..).zip(&order) {
                rank[category as usize] = place;
            }
            Sorted { rank, positions: order.iter().map(|&category| at[category as usize]).collect() }
        });
        Self { at, gap: (weight * gap * gap) as f32, sorted }
    }

    /// Number of categories.
    pub(super) fn len(&self) -> usize {
        self.at.len()
    }

    /// Place of each category in ascending order; none where that is its number.
    pub(super) fn ranks(&self) -> Option<&[u32]> {
        self.sorted.as_ref().map(|sorted| &sorted.rank[..])
    }

    /// Positions in ascending order, those of what is missing at the end.
    #[inline]
    pub(super) fn ascending(&self) -> &[f32] {
        self.sorted.as_ref().map_or(&self.at, |sorted| &sorted.positions)
    }

    /// The cost between two positions.
    #[inline]
    pub(super) fn between(&self, a: f32, b: f32) -> f32 {
        let cost = (a - b) * (a - b);
        if cost.is_nan() { if a.is_nan() && b.is_nan() { 0.0 } else { self.gap } } else { cost }
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
            Cells::Tree(branches) => self.cost(branches.tree.distance(a, b)),
            Cells::Dag(dag) => self.cost(dag.distance(a, b)),
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
        let rows = |table: &mut [f32], add: &mut dyn FnMut(usize, &mut [f32])| {
            table.chunks_exact_mut(n).enumerate().skip(1).for_each(|(i, row)| add(i, &mut row[..i]));
        };
        match &self.cells {
            Cells::Matrix(cells) => rows(table, &mut |i, row| {
                let from = &cells[crowd[i] as usize * self.meaning.categories()..][..self.meaning.categories()];
                row.iter_mut().zip(crowd).for_each(|(sum, &other)| *sum += weight * from[other as usize]);
            }),
            Cells::Line(line) => {
                let at: Vec<f32> = crowd.iter().map(|&category| line.at[category as usize]).collect();
                if at.iter().any(|x| x.is_nan()) {
                    rows(table, &mut |i, row| {
                        row.iter_mut().zip(&at).for_each(|(sum, &other)| *sum += weight * line.between(at[i], other));
                    });
                } else {
                    // Without a question in between, several at once.
                    rows(table, &mut |i, row| {
                        let own = at[i];
                        row.iter_mut().zip(&at).for_each(|(sum, &x)| *sum += weight * ((own - x) * (own - x)));
                    });
                }
            }
            Cells::Equality(numbers, cost) => {
                let own: Vec<u32> = crowd.iter().map(|&category| numbers[category as usize]).collect();
                let cost = weight * cost;
                rows(table, &mut |i, row| {
                    row.iter_mut().zip(&own).for_each(|(sum, &other)| *sum += if other == own[i] { 0.0 } else { cost });
                });
            }
            Cells::Dag(dag) => rows(table, &mut |i, row| {
                let each = row.iter_mut().zip(crowd);
                each.for_each(|(sum, &other)| *sum += weight * self.cost(dag.distance(crowd[i], other)));
            }),
            Cells::Tree(branches) => {
                branches.crowd(crowd, self, |i, j, cost| table[i.max(j) * n + i.min(j)] += weight * cost);
            }
            Cells::Sets(sets) => sets.crowd(crowd, |i, j, distance| table[i * n + j] += weight * self.cost(distance)),
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
                Meaning::Tree(tree) => Cells::Tree(Branches::new(tree, weight)),
                Meaning::Dag(dag) => Cells::Dag(dag),
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

    /// Bytes that the costs of a crowd take beside their table.
    pub(super) fn crowd_needs(&self, members: usize) -> usize {
        let of_attribute = |attribute: &Weighted<'_>| match attribute.cells {
            Cells::Sets(sets) => sets.crowd_needs(members),
            _ => 0,
        };
        self.attributes.iter().map(of_attribute).max().unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::itemsets::Itemsets;
    use crate::rng::{Stream, Streams};
    use crate::taxonomy::information::Information;
    use crate::taxonomy::{Measure, Taxonomy};

    #[test]
    fn costs_of_a_crowd_are_those_of_its_pairs() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(0), 0);
        let control = Control::new();
        let n = 200;
        let child: Vec<u32> = (1..n).collect();
        let parent: Vec<u32> = (1..n).map(|i| rng.random_range(i / 3..i)).collect();
        let taxonomy = Taxonomy::new(n as usize, &child, &parent).unwrap();
        let concepts: Vec<u32> = (0..60).map(|_| rng.random_range(0..n)).chain([crate::MISSING]).collect();
        let d = concepts.len();
        let information = Information::seco(&taxonomy, &control).unwrap();
        let measures = [Measure::WuPalmer, Measure::Path, Measure::TaxonomicFeature, Measure::Resnik(information)];
        let trees = measures.map(|measure| Tree::new(&taxonomy, &concepts, &measure).unwrap());
        let dag = Dag::new(&taxonomy, &concepts, &Measure::WuPalmer, &control).unwrap();
        let positions: Vec<f64> = (0..d).map(|i| if i == 7 { f64::NAN } else { (i * 37 % d) as f64 }).collect();
        let known: Vec<f64> = (0..d).map(|i| (i * 37 % d) as f64).collect();
        let numbers: Vec<u32> = (0..d as u32).map(|i| i / 2).collect();
        let matrix: Vec<f64> = (0..d * d).map(|cell| trees[0].distance((cell / d) as u32, (cell % d) as u32)).collect();
        // What is missing is one more.
        let rows = (0..d as u32 - 1).flat_map(|i| [i % 7, 7 + i % 11, 18 + i]).collect();
        let sets = Itemsets::new(100, (0..d).map(|i| 3 * i).collect(), rows).unwrap();
        let others = [
            Meaning::line(&positions).unwrap(),
            Meaning::line(&known).unwrap(),
            Meaning::Equality(&numbers),
            Meaning::matrix(&matrix, d).unwrap(),
            Meaning::Sets(Sets { sets: &sets, missing: true }),
            Meaning::Dag(&dag),
        ];
        let codes: Vec<u32> = (0..500).map(|_| rng.random_range(0..d as u32)).collect();
        for meaning in trees.iter().map(Meaning::Tree).chain(others) {
            let costs = Costs::new(&[Attribute { codes: &codes, meaning, missing: None }], &control).unwrap();
            let spread = meaning.spread(&codes, &control).unwrap();
            let crowd: Vec<u32> = codes.iter().copied().take(90).collect();
            let mut table = vec![0.0; 90 * 90];
            costs.add_crowd(0, 2.0, &crowd, &mut table);
            for (i, j) in (0..90).flat_map(|i| (0..i).map(move |j| (i, j))) {
                let expected = meaning.distance(crowd[i], crowd[j]).powi(2) / spread;
                let single = costs.between(&crowd[i..=i], &crowd[j..=j]);
                assert!((f64::from(single) - expected).abs() < 1e-4, "{meaning:?}: {i} {j} {single} {expected}");
                assert!((table[i * 90 + j] - 2.0 * single).abs() < 1e-5, "{meaning:?}: {i} {j}");
            }
        }
    }
}
