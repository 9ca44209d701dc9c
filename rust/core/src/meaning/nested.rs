//! Categories in nested groups: how far two are apart follows from the class of each and the smallest group that has both.
//!
//! So it is with the concepts of a tree, whose classes are the numbers that the measure takes of them, and with values that
//! are only equal or not. A distance is then a sum over all groups that two categories share, of what each adds to the
//! distance in the group around it. Sums of distances over many pairs become sums over groups, of the numbers of their
//! members by class; and classes are few, where a measure takes depths.

use rayon::prelude::*;

use super::tree::{Formula, Tree};
use super::{Edges, Meaning};
use crate::error::Result;
use crate::lists::Lists;
use crate::memory;

/// Groups that categories have on average, at most: beyond, it is less work to go through pairs.
const DEEP: usize = 256;

/// Cells of a table of steps, at most.
const TABLE: usize = 1 << 18;

/// What needs memory here.
const WHAT: &str = "the groups of a column's values";

/// The distance of two categories whose smallest group is given, by their classes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// Whatever the classes.
    Flat(f64),
    /// By formula, from what the measure takes of the subsumer.
    Below(f64),
}

/// Categories in nested groups.
#[derive(Debug)]
pub(crate) struct Nested {
    /// Groups of each category, from that of all to the smallest.
    groups: Lists,
    /// Number of groups.
    number: usize,
    /// A place for each category, so that those of each group come one after another.
    pub(crate) place: Vec<u32>,
    class: Vec<u32>,
    /// What the measure takes of the categories of each class.
    own: Vec<f64>,
    /// Kind of each group: groups of one kind add the same.
    kind: Vec<u32>,
    /// Distance in the group around, and in a group itself.
    kinds: Vec<(Value, Value)>,
    formula: Formula,
    /// Steps by kind and both classes; empty if there are many.
    table: Vec<f64>,
}

impl Nested {
    /// The groups of some categories, or nothing where the meaning has none, or too many. O(all groups of all).
    pub(crate) fn new(meaning: Meaning<'_>) -> Result<Option<Self>> {
        match meaning {
            Meaning::Equality(numbers) => Self::of_numbers(numbers).map(Some),
            Meaning::Tree(tree) => Self::of_tree(tree),
            _ => Ok(None),
        }
    }

    fn of_numbers(numbers: &[u32]) -> Result<Self> {
        let d = numbers.len();
        memory::require(40 * d, WHAT)?;
        let mut distinct = numbers.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let place: Vec<u32> = numbers.iter().map(|n| distinct.partition_point(|x| x < n) as u32).collect();
        let mut groups = Lists::builder(d, 2 * d);
        for &p in &place {
            groups.push([0, p + 1]);
        }
        let number = distinct.len() + 1;
        let mut kind = vec![1; number];
        kind[0] = 0;
        let all = (Value::Flat(0.0), Value::Flat(1.0));
        let kinds = vec![all, (Value::Flat(1.0), Value::Flat(0.0))];
        let formula = Formula::Edges(Edges::Path);
        let (class, own, table) = (vec![0; d], vec![0.0], vec![1.0, -1.0]);
        Ok(Self { groups, number, place, class, own, kind, kinds, formula, table })
    }

    fn of_tree(tree: &Tree) -> Result<Option<Self>> {
        let (d, nodes) = (tree.place.len(), tree.parent.len());
        memory::require(4 * nodes, WHAT)?;
        let mut depth = vec![1u32; nodes];
        for node in 1..nodes {
            depth[node] = depth[tree.parent[node] as usize] + 1;
        }
        let known = || tree.place.iter().filter(|&&p| p != super::tree::NOWHERE);
        // One of all, and one of its own for each.
        let items = known().map(|&p| depth[tree.node[p as usize] as usize] as usize + 2).sum::<usize>() + 2 * d;
        drop(depth);
        if items > DEEP * d.max(1) || items > u32::MAX as usize {
            return Ok(None);
        }
        let number = 1 + nodes + tree.own.len() + 1;
        memory::require(4 * items + 24 * d + 72 * number, WHAT)?;
        // Resnik's measure takes nothing of the concepts.
        let number_of = |own: f64| if tree.formula.takes_own() { own } else { 0.0 };
        let mut own: Vec<f64> = tree.own.iter().map(|&own| number_of(own)).collect();
        own.sort_unstable_by(f64::total_cmp);
        own.dedup();
        if own.is_empty() {
            own.push(0.0);
        }
        let class_of = |place: u32| own.partition_point(|&x| x < number_of(tree.own[place as usize])) as u32;
        let missing = tree.place.contains(&super::tree::NOWHERE);
        let top = if missing { Value::Flat(tree.gap) } else { Value::Flat(0.0) };
        let (mut all, mut values) = (Lists::builder(d, items), vec![(Value::Flat(0.0), top); number]);
        for node in 0..nodes {
            let above = if node == 0 { top } else { Value::Below(tree.subsumer[tree.parent[node] as usize]) };
            values[1 + node] = (above, Value::Below(tree.subsumer[node]));
        }
        for (place, &node) in tree.node.iter().enumerate() {
            values[1 + nodes + place] = (Value::Below(tree.subsumer[node as usize]), Value::Flat(0.0));
        }
        values[number - 1] = (top, Value::Flat(0.0));
        let mut class = Vec::with_capacity(d);
        let mut path = Vec::new();
        for &place in &tree.place {
            path.clear();
            if place == super::tree::NOWHERE {
                path.extend([number as u32 - 1, 0]);
                class.push(0);
            } else {
                class.push(class_of(place));
                let mut node = tree.node[place as usize];
                let own = tree.own[place as usize];
                // Of the same class below itself, mostly at distance 0 already.
                if tree.formula.distance(own + own, tree.subsumer[node as usize]) != 0.0 {
                    path.push(1 + nodes as u32 + place);
                }
                path.push(1 + node);
                while node > 0 {
                    node = tree.parent[node as usize];
                    path.push(1 + node);
                }
                path.push(0);
            }
            all.push(path.iter().rev().copied());
        }
        let place = tree.place.clone();
        let (kind, kinds) = kinds(&values);
        let mut nested =
            Self { groups: all, number, place, class, own, kind, kinds, formula: tree.formula, table: Vec::new() };
        nested.tabulate()?;
        Ok(Some(nested))
    }

    fn tabulate(&mut self) -> Result<()> {
        let c = self.own.len();
        if self.kinds.len().saturating_mul(c * c) <= TABLE {
            let cell = |i: usize| self.worked_out((i / c / c) as u32, (i / c % c) as u32, (i % c) as u32);
            memory::require(8 * self.kinds.len() * c * c, WHAT)?;
            self.table = (0..self.kinds.len() * c * c).map(cell).collect();
        }
        Ok(())
    }

    /// Groups of a category, from that of all to the smallest.
    #[inline]
    pub(crate) fn groups(&self, category: u32) -> &[u32] {
        self.groups.of(category as usize)
    }

    /// The kind of a group.
    #[inline]
    pub(crate) fn kind(&self, group: u32) -> u32 {
        self.kind[group as usize]
    }

    /// The class of a category.
    #[inline]
    pub(crate) fn class(&self, category: u32) -> u32 {
        self.class[category as usize]
    }

    /// Number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.own.len()
    }

    /// What a group of some kind adds to the distance of two of its categories.
    #[inline]
    pub(crate) fn step(&self, kind: u32, a: u32, b: u32) -> f64 {
        let c = self.own.len();
        match self.table.get((kind as usize * c + a as usize) * c + b as usize) {
            Some(&step) => step,
            None => self.worked_out(kind, a, b),
        }
    }

    /// The distance of two categories in the group around one of some kind.
    #[inline]
    pub(crate) fn around(&self, kind: u32, a: u32, b: u32) -> f64 {
        self.value(self.kinds[kind as usize].0, a, b)
    }

    fn worked_out(&self, kind: u32, a: u32, b: u32) -> f64 {
        let (around, here) = self.kinds[kind as usize];
        self.value(here, a, b) - self.value(around, a, b)
    }

    fn value(&self, value: Value, a: u32, b: u32) -> f64 {
        match value {
            Value::Flat(distance) => distance,
            Value::Below(subsumer) => self.formula.distance(self.own[a as usize] + self.own[b as usize], subsumer),
        }
    }

    /// Bytes that sums take, with weights for so many categories.
    pub(super) fn needs(&self, weighted: usize) -> usize {
        let items = if weighted == 0 { 0 } else { weighted * self.groups.total() / self.groups.len().max(1) * 2 };
        16 * items.min(self.groups.total()) + 4 * self.number
    }

    /// For each category, the sum of its distances to some, each times its weight. O(groups of all · classes in them).
    pub(super) fn sums(&self, weights: &[(u32, f64)], sums: &mut [f64]) {
        let mut cells: Vec<(u32, u32, f64)> = Vec::with_capacity(weights.iter().map(|w| self.groups(w.0).len()).sum());
        for &(category, weight) in weights {
            let class = self.class(category);
            cells.extend(self.groups(category).iter().map(|&group| (group, class, weight)));
        }
        // Weights are numbers of records, which add up alike in any order.
        cells.par_sort_unstable_by_key(|cell| (cell.0, cell.1));
        cells.dedup_by(|next, cell| {
            let same = (next.0, next.1) == (cell.0, cell.1);
            cell.2 += if same { next.2 } else { 0.0 };
            same
        });
        let mut starts = vec![0u32; self.number + 1];
        for cell in &cells {
            starts[cell.0 as usize + 1] += 1;
        }
        for i in 0..self.number {
            starts[i + 1] += starts[i];
        }
        sums.par_iter_mut().zip(&self.class).enumerate().with_min_len(256).for_each(|(category, (sum, &class))| {
            let of_group = |&group: &u32| {
                let (kind, group) = (self.kind(group), group as usize);
                let members = &cells[starts[group] as usize..starts[group + 1] as usize];
                members.iter().map(|&(_, other, weight)| weight * self.step(kind, class, other)).sum::<f64>()
            };
            *sum = self.groups.of(category).iter().map(of_group).sum();
        });
    }
}

/// Numbers the kinds of groups.
fn kinds(values: &[(Value, Value)]) -> (Vec<u32>, Vec<(Value, Value)>) {
    let bits = |value: Value| match value {
        Value::Flat(x) => (0, x.to_bits()),
        Value::Below(x) => (1, x.to_bits()),
    };
    let key = |&(around, here): &(Value, Value)| (bits(around), bits(here));
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by_key(|&group| key(&values[group as usize]));
    let (mut kind, mut kinds) = (vec![0; values.len()], Vec::new());
    for group in order {
        let value = values[group as usize];
        if kinds.last() != Some(&value) {
            kinds.push(value);
        }
        kind[group as usize] = kinds.len() as u32 - 1;
    }
    (kind, kinds)
}
