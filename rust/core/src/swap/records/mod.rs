//! Semantic rank swapping of whole records (SRS-3), on distinct tuples.
//!
//! The distance of two records is the mean of the distances of their values, all of them the original ones. Around each
//! reference a cluster of the `k` nearest records is built, swapped or not, ties at its boundary at random; each value
//! of the reference that is not yet swapped changes places with an unswapped one of the same attribute in that one
//! cluster. A record is done when all its values are swapped; the next reference is the farthest that is not done.
//!
//! - [`nearest`]: the nearest records of a few tuples at once, by [`crate::search`].
//! - [`clusters`]: clusters, which depend on the tuple only, in parallel and before anything is swapped.
//! - [`farthest`]: the next reference, among the records that are left.
//!
//! Clusters and far ends are exact, and all draws are made in one sequence: the result has the law of the algorithm
//! carried out record by record, and does not depend on the number of threads.

mod clusters;
mod farthest;
mod nearest;
#[cfg(test)]
mod tests;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use self::clusters::Clusters;
use self::farthest::{Bound, Ends, Places, are_short};
use self::nearest::{Cluster, Range, Room, Search};
use super::{STEPS, Swapped, check_k};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::meaning::Meaning;
use crate::memory;
use crate::search::hierarchy::Hierarchy;
use crate::search::scale::{self, Few, Measured};
use crate::search::tree::Tree;
use crate::tuples::{Attribute, Tuples};

/// Tuples in a leaf of the tree of nearest ones,
const LEAF: usize = 128;
/// and at most so many where they are looked for one by one.
const LEAF_ALONE: usize = 32;

/// Swaps the values of several attributes, record by record. Missing values stay where they are.
pub fn swap(attributes: &[Attribute<'_>], k: usize, rng: &mut ChaCha20Rng, control: &Control) -> Result<Vec<Swapped>> {
    swap_with(attributes, k, Few::USUAL, rng, control)
}

/// The same, given up to how many categories the distances of all pairs are made.
fn swap_with(
    attributes: &[Attribute<'_>],
    k: usize,
    few: Few,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<Vec<Swapped>> {
    check_k(k)?;
    if attributes.len() > u64::BITS as usize {
        return Err(Error::Parameter(format!("{} columns; at most 64 can be swapped together", attributes.len())));
    }
    let table = Table::new(attributes, LEAF, few, control)?;
    let k = k.min(table.records.len());
    control.begin((table.len() + table.records.len()) as u64);
    let search = table.search(k)?;
    let clusters = Clusters::new(&search, control)?;
    let results = attributes.len() * Swapped::needs(table.records.len(), k);
    memory::require(results + table.records.len() * size_of::<Mark>() + 6 * size_of::<u32>() * k, WHAT)?;
    let state = State::new(&table, attributes);
    if are_short(&table.places(&search)) {
        carry_out::<i16>((&table, &search, &clusters), state, rng, control)
    } else {
        carry_out::<u32>((&table, &search, &clusters), state, rng, control)
    }
}

/// Swaps around one reference after another, with bounds of some length.
fn carry_out<T: Bound>(
    (table, search, clusters): (&Table<'_>, &Search<'_>, &Clusters),
    mut state: State<'_>,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<Vec<Swapped>> {
    let mut room = Room::default();
    let mut ends: Ends<'_, T> = Ends::new(table.places(search), |place| !state.is_done(place))?;
    let mut reference = table.farthest_from_all(&ends, rng, control)?;
    let mut told = ends.len();
    control.advance((table.records.len() - told) as u64)?;
    loop {
        let tuple = table.tuples[reference as usize] as usize;
        control.check()?;
        let cluster = if let Some(stored) = clusters.of(tuple) {
            stored
        } else {
            search.find(&[tuple as u32], &mut room, control)?;
            room.cluster(0)
        };
        state.gather(reference, cluster, rng);
        state.swap(reference, rng, |place| ends.remove(place));
        if (told - ends.len()) as u64 >= STEPS {
            control.advance((told - ends.len()) as u64)?;
            told = ends.len();
        }
        if ends.len() == 0 {
            return Ok(state.results);
        }
        reference = ends.draw(tuple, rng)?;
    }
}

/// What needs memory here.
const WHAT: &str = "swapping records";

/// Bytes for `n` records of so many tuples and categories in a tree: codes in two orders and once more for the search, nodes,
/// and hierarchies of categories.
fn needs(n: usize, tuples: usize, attributes: usize, categories: usize) -> usize {
    size_of::<u32>() * (2 * n + tuples * (3 * attributes + 4)) + CATEGORY * categories
}

/// Bytes of a category, for its place in a hierarchy and its records.
const CATEGORY: usize = 160;

/// The distinct tuples, in an order that puts near ones together, and their records in the same order: a record is
/// known by its *place* there.
struct Table<'a> {
    measured: Measured<'a>,
    /// Records of each category, by attribute without distances of all pairs.
    counts: Vec<Vec<u64>>,
    /// Whether different tuples may have distance 0.
    twins: bool,
    hierarchies: Vec<Hierarchy>,
    tree: Tree,
    /// Leaf of each tuple.
    leaves: Vec<u32>,
    /// Categories of the tuples, by attribute, those with distances of all pairs first.
    codes: Vec<Vec<u32>>,
    /// Place of the first record of each tuple, and the number of records.
    starts: Vec<u32>,
    /// The record at each place,
    records: Vec<u32>,
    /// and its tuple.
    tuples: Vec<u32>,
}

impl<'a> Table<'a> {
    fn new(attributes: &[Attribute<'a>], leaf: usize, few: Few, control: &Control) -> Result<Self> {
        let found = Tuples::new(attributes, control)?;
        control.check()?;
        let number: Vec<usize> = attributes.iter().map(Attribute::categories).collect();
        memory::require(needs(found.total(), found.len(), attributes.len(), number.iter().sum()), WHAT)?;
        let mut counts: Vec<Vec<u64>> = attributes.iter().map(|a| vec![0; a.categories()]).collect();
        for tuple in 0..found.len() {
            for (counts, &code) in counts.iter_mut().zip(found.codes(tuple)) {
                counts[code as usize] += found.records(tuple).len() as u64;
            }
        }
        let meanings: Vec<Meaning<'a>> = attributes.iter().map(|attribute| attribute.meaning).collect();
        let measured = scale::measured(&meanings, &counts, few, control)?;
        let Measured { spaces, ordered, attributes: places, .. } = &measured;
        let without = ordered.iter().zip(&places[spaces.len()..]);
        let twins = spaces.iter().any(|space| space.has_twins)
            || without.clone().any(|(ordered, &a)| ordered.has_twins(|code| counts[a][code] > 0));
        let mut hierarchies: Vec<Hierarchy> = spaces.iter().map(Hierarchy::by_distance).collect();
        let counts = measured.counts(&counts);
        for (ordered, counts) in ordered.iter().zip(&counts) {
            control.check()?;
            hierarchies.push(Hierarchy::along(ordered, ordered.along(), counts));
        }
        let leaf = if ordered.is_empty() { leaf } else { leaf.min(LEAF_ALONE) };
        let unordered: Vec<Vec<u32>> = places
            .iter()
            .zip(measured.categories(&number))
            .map(|(&a, category)| (0..found.len()).map(|t| category[found.codes(t)[a] as usize]).collect())
            .collect();
        let mut tree =
            Tree::watched(&hierarchies, &unordered, ((0..found.len() as u32).collect(), &[0]), leaf, control)?;
        let codes = unordered.iter().map(|c| tree.order.iter().map(|&t| c[t as usize]).collect()).collect();
        let mut starts = Vec::with_capacity(found.len() + 1);
        let mut records = Vec::with_capacity(found.total());
        let mut tuples = Vec::with_capacity(found.total());
        starts.push(0);
        for (tuple, &old) in (0u32..).zip(&tree.order) {
            records.extend_from_slice(found.records(old as usize));
            starts.push(records.len() as u32);
            tuples.resize(records.len(), tuple);
        }
        // From here on tuples are numbered as the tree orders them.
        for (tuple, number) in tree.order.iter_mut().zip(0u32..) {
            *tuple = number;
        }
        let mut leaves = vec![0; found.len()];
        tree.note_leaves(&mut leaves);
        Ok(Self { measured, counts, twins, hierarchies, tree, leaves, codes, starts, records, tuples })
    }

    /// Number of distinct tuples.
    fn len(&self) -> usize {
        self.leaves.len()
    }

    /// A search for the `k` nearest records.
    fn search(&self, k: usize) -> Result<Search<'_>> {
        let (tree, k) = ((&self.tree, &self.leaves[..]), (k, self.twins));
        Search::new(&self.measured, &self.hierarchies, tree, &self.codes, &self.starts, k)
    }

    fn places<'b>(&'b self, search: &'b Search<'_>) -> Places<'b> {
        let Measured { spaces, ordered, .. } = &self.measured;
        let counts = &self.counts;
        let (codes, starts, tuples) = (&self.codes, &self.starts, &self.tuples);
        Places { spaces, scale: search.scale(), ordered, counts, codes, starts, tuples }
    }

    /// Draws one of the records, not done, with the largest sum of distances to all records.
    fn farthest_from_all<T: Bound>(&self, ends: &Ends<'_, T>, rng: &mut ChaCha20Rng, control: &Control) -> Result<u32> {
        let mut sums: Vec<Vec<u128>> = self
            .measured
            .spaces
            .iter()
            .map(|space| {
                let sum = |category| space.row(category).sum(&space.counts);
                (0..space.len() as u32).map(sum).collect()
            })
            .collect();
        for (ordered, counts) in self.measured.ordered.iter().zip(&self.counts) {
            sums.push(ordered.sums(counts, control)?);
        }
        let sum = |tuple: usize| -> u128 { sums.iter().zip(&self.codes).map(|(s, c)| s[c[tuple] as usize]).sum() };
        let mut largest = 0;
        let mut tied: Vec<(u32, usize)> = Vec::new();
        for tuple in (0..self.len()).filter(|&tuple| !ends.of(tuple).is_empty()) {
            let sum = sum(tuple);
            if sum > largest || tied.is_empty() {
                largest = sum;
                tied.clear();
            }
            if sum == largest {
                let before = tied.last().map_or(0, |t| t.0);
                tied.push((before + ends.of(tuple).len() as u32, tuple));
            }
        }
        let Some(&(records, _)) = tied.last() else {
            return Err(Error::Parameter("the columns have no value".into()));
        };
        let nth = rng.random_range(0..records);
        let item = tied.partition_point(|t| t.0 <= nth);
        let before = if item == 0 { 0 } else { tied[item - 1].0 };
        Ok(ends.of(tied[item].1)[(nth - before) as usize])
    }
}

/// Which values are swapped, and the members of the current cluster.
struct State<'a> {
    table: &'a Table<'a>,
    /// The codes of the records, by attribute.
    codes: Vec<&'a [u32]>,
    marks: Vec<Mark>,
    /// A bit for each attribute.
    all: u64,
    /// References so far.
    steps: u32,
    members: Vec<u32>,
    results: Vec<Swapped>,
}

#[derive(Clone, Copy)]
struct Mark {
    /// Attributes whose value is swapped.
    swapped: u64,
    /// The last reference for which the record was drawn.
    drawn: u32,
}

impl<'a> State<'a> {
    fn new(table: &'a Table<'a>, attributes: &[Attribute<'a>]) -> Self {
        let missing = |record: u32| {
            let each = attributes.iter().enumerate();
            each.fold(0, |bits, (i, a)| bits | u64::from(Some(a.codes[record as usize]) == a.missing) << i)
        };
        Self {
            table,
            codes: attributes.iter().map(|attribute| attribute.codes).collect(),
            marks: table.records.iter().map(|&record| Mark { swapped: missing(record), drawn: 0 }).collect(),
            all: u64::MAX >> (u64::BITS as usize - attributes.len()),
            steps: 0,
            members: Vec::new(),
            results: attributes.iter().map(|a| Swapped::new(a.codes)).collect(),
        }
    }

    fn is_done(&self, place: u32) -> bool {
        self.marks[place as usize].swapped == self.all
    }

    /// Lists the members of a reference's cluster, with a fresh draw of those at its boundary.
    fn gather(&mut self, reference: u32, cluster: Cluster<'_>, rng: &mut ChaCha20Rng) {
        self.members.clear();
        self.members.extend(places(cluster.inside).filter(|&place| place != reference));
        if cluster.drawn == 0 {
            return;
        }
        let boundary = cluster.boundary.last().map_or(0, |r| r.1);
        if boundary as usize <= 2 * cluster.drawn {
            let inside = self.members.len();
            self.members.extend(places(cluster.boundary).filter(|&place| place != reference));
            for chosen in inside..inside + cluster.drawn {
                let other = rng.random_range(chosen..self.members.len());
                self.members.swap(chosen, other);
            }
            self.members.truncate(inside + cluster.drawn);
            return;
        }
        self.steps += 1;
        self.marks[reference as usize].drawn = self.steps;
        for _ in 0..cluster.drawn {
            loop {
                let place = nth(cluster.boundary, rng.random_range(0..boundary));
                let mark = &mut self.marks[place as usize].drawn;
                if *mark != self.steps {
                    *mark = self.steps;
                    self.members.push(place);
                    break;
                }
            }
        }
    }

    /// Swaps the reference's values with those of members; calls `done` for every record that has none left.
    fn swap(&mut self, reference: u32, rng: &mut ChaCha20Rng, mut done: impl FnMut(u32)) {
        let open = self.all & !self.marks[reference as usize].swapped;
        for (attribute, result) in self.results.iter_mut().enumerate().filter(|(a, _)| open >> a & 1 == 1) {
            let bit = 1 << attribute;
            let marks = &self.marks;
            let is_candidate = |&&place: &&u32| marks[place as usize].swapped & bit == 0;
            let candidates = self.members.iter().filter(is_candidate).count();
            result.count(candidates);
            if candidates == 0 {
                continue;
            }
            let nth = rng.random_range(0..candidates);
            let Some(&partner) = self.members.iter().filter(is_candidate).nth(nth) else { continue };
            let [one, other] = [reference, partner].map(|place| self.table.records[place as usize] as usize);
            result.codes[one] = self.codes[attribute][other];
            result.codes[other] = self.codes[attribute][one];
            self.marks[partner as usize].swapped |= bit;
            if self.marks[partner as usize].swapped == self.all {
                done(partner);
            }
        }
        self.marks[reference as usize].swapped = self.all;
        done(reference);
    }
}

/// The places of ranges.
fn places(ranges: &[Range]) -> impl Iterator<Item = u32> {
    let mut before = 0;
    ranges.iter().flat_map(move |&(start, all)| {
        let records = all - before;
        before = all;
        start..start + records
    })
}

/// The `nth` place of ranges.
fn nth(ranges: &[Range], nth: u32) -> u32 {
    let index = ranges.partition_point(|r| r.1 <= nth);
    let before = if index == 0 { 0 } else { ranges[index - 1].1 };
    ranges[index].0 + (nth - before)
}
