//! Distance-based record linkage: an intruder who knows some values of a person takes the nearest row of the release.
//!
//! Near is what has the smallest mean of distances over the known columns; of equally near rows any is taken, so a person
//! who owns `h` of `t` is found with a probability of h/t. Where the intruder knows columns that were not masked, only
//! rows with the same values there, those of one *cell*, come into question.
//!
//! Targets with the same values look for the same rows, and rows with the same values are found together: both sides
//! are distinct tuples with the number of their records. Each cell has a search tree of its own. The nearest tuples are
//! found by the pruned search of [`crate::search`], in parallel: sixteen targets at once that are near each other, or
//! one by one where a column has no matrix or a cell is small. Whether a target's own rows are among them is told by their
//! distance alone.

use std::borrow::Cow;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::meaning::Meaning;
use crate::memory;
use crate::search::alone::{Alone, Near, Tuple, numbers};
use crate::search::hierarchy::Hierarchy;
use crate::search::lanes::{LANES, Scale};
use crate::search::scale::{self, Distance, Few, Measured, Space};
use crate::search::tree::{Node, Tree};
use crate::search::{Found, Index, Room};
use crate::tuples::{Codes, Tuples};

/// Tuples of the release in a leaf of their tree.
const LEAF: usize = 64;
/// Batches of targets that one thread takes at a time.
const CHUNK: usize = 16;
/// Own rows that are looked at before the search.
const FIRST: usize = 8;

/// Numbers are found without a matrix, however few they are.
const FEW: Few = Few { on_a_line: 0, ..Few::USUAL };

/// A column that an intruder knows, with the same categories on both sides; a missing value is one of them.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Category of each target.
    pub targets: &'a [u32],
    /// Category of each row of the release.
    pub release: &'a [u32],
    /// How far categories are from each other.
    pub meaning: Meaning<'a>,
}

/// A number for each target and each row of the release, with one meaning on both sides.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// The number of each target.
    pub targets: &'a [u32],
    /// The number of each row of the release.
    pub release: &'a [u32],
}

/// The nearest rows of each target.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Linked {
    /// Mean distance over the known columns; exactly 0 where it is 0 in each, and infinite where there is no row.
    pub distance: Vec<f64>,
    /// Number of the rows at that distance, which are the nearest.
    pub ties: Vec<u32>,
    /// How many of these belong to the owner of the target.
    pub hits: Vec<u32>,
}

/// Links every target with its nearest rows of the release. Several targets and rows may have one owner. Given cells, only
/// rows of a target's cell come into question; own rows in other cells are never found.
///
/// With T distinct tuples of the release and U of the targets: O(n log n) to find them and to build the trees, then for
/// each of the U between log T and T steps, and one for each row of its owner. O(n) memory beside the
/// distances of all pairs of few categories.
pub fn link(known: &[Known<'_>], owners: Sides<'_>, cells: Option<Sides<'_>>, control: &Control) -> Result<Linked> {
    let (targets, release) = distinct(known, owners, cells, control)?;
    let columns = Columns::new(known, cells.is_some(), [&targets, &release], control)?;
    let Measured { spaces, ordered, scale, .. } = &columns.measured;
    let bounds = Scale::needs(spaces, &columns.hierarchies, true);
    memory::require(needs(known.len(), &targets, &release) + bounds, WHAT)?;
    let first = [&targets, &release].map(|tuples| first_of_cells(tuples, cells.is_some()));
    let grown = |tuples: &Tuples, roots: &[u32], leaf: usize| {
        let all: Vec<u32> = (0..tuples.len() as u32).collect();
        Tree::watched(&columns.hierarchies, &columns.codes(tuples, &all), (all, roots), leaf, control)
    };
    // The trees of the targets only put near ones together.
    let (near, tree) = rayon::join(|| grown(&targets, &first[0], LANES), || grown(&release, &first[1], LEAF));
    let (near, tree) = (near?.order, tree?);
    let batches = batches([&targets, &release], [&first[0], &first[1]], cells.is_some());
    let starts = places(&release, &tree.order);
    control.check()?;
    let codes = columns.codes(&release, &tree.order);
    let (with, without) = codes.split_at(spaces.len());
    let index = Index::new(spaces, &columns.hierarchies[..spaces.len()], &tree, with, &starts, true)?;
    let from = columns.codes(&targets, &near);
    let search = Search {
        categories: index.categories(&from[..spaces.len()]),
        numbers: numbers(&from[spaces.len()..]),
        sizes: (spaces.len(), ordered.len()),
        alone: Alone::new(index, ordered, without),
        tree: &tree,
        targets: &targets,
        near: &near,
        owned: Owned::new(owners, &release, &tree.order),
        // Tables for a batch have to be filled for each category: that pays where there is more to look at.
        large: if ordered.is_empty() { LEAF.max(spaces.iter().map(Space::len).sum()) } else { usize::MAX },
    };
    control.begin(targets.total() as u64);
    let found = batches.par_chunks(CHUNK).map_init(Workspace::default, |workspace, batches| {
        let mut found = Nearest::default();
        for batch in batches {
            let before = found.hits.len();
            search.batch(batch, workspace, &mut found, control)?;
            control.advance((found.hits.len() - before) as u64)?;
        }
        Ok(found)
    });
    let found: Vec<Nearest> = found.collect::<Result<_>>()?;
    let n = targets.total();
    let mut linked = Linked { distance: vec![0.0; n], ties: vec![0; n], hits: vec![0; n] };
    let records = near.iter().map(|&tuple| targets.records(tuple as usize));
    let mut hits = found.iter().flat_map(|found| &found.hits);
    for (&Least { distance, rows }, records) in found.iter().flat_map(|found| &found.least).zip(records) {
        let mean = distance as f64 / scale / known.len().max(1) as f64;
        for (&record, &hits) in records.iter().zip(hits.by_ref()) {
            let record = record as usize;
            linked.distance[record] = if rows > 0 { mean } else { f64::INFINITY };
            (linked.ties[record], linked.hits[record]) = (rows, hits);
        }
    }
    Ok(linked)
}

/// What needs memory here.
const WHAT: &str = "linking records";

/// Bytes for the trees of both sides and for what is found.
///
/// A tuple has codes in two orders and once more for the search, and its part of the nodes. A target has three figures, twice;
/// a row of the release has its place, and one among those of its owner.
fn needs(columns: usize, targets: &Tuples, release: &Tuples) -> usize {
    let tuples = targets.len() + release.len();
    let rows = 8 * targets.total() + 6 * release.total();
    size_of::<u32>() * (tuples * (5 * columns + 14) + rows)
}

/// Bytes of a category, for its place in a hierarchy and its records.
const CATEGORY: usize = 160;

/// The distinct tuples of both sides, the cell being the first value if there are cells; everything checked.
fn distinct(
    known: &[Known<'_>],
    owners: Sides<'_>,
    cells: Option<Sides<'_>>,
    control: &Control,
) -> Result<(Tuples, Tuples)> {
    let fail = |message: String| Err(Error::Parameter(message));
    known.iter().try_for_each(|column| column.meaning.check())?;
    let side = |cells: Option<&'_ [u32]>, columns: Vec<Codes<'_>>| {
        let numbered = cells.map(|cells| (cells, cells.iter().max().map_or(0, |&last| last as usize + 1)));
        Tuples::of(&numbered.into_iter().chain(columns).collect::<Vec<_>>(), control)
    };
    let columns = known.iter().map(|k| (k.targets, k.meaning.categories()));
    let targets = side(cells.map(|cells| cells.targets), columns.collect())?;
    let columns = known.iter().map(|k| (k.release, k.meaning.categories()));
    let release = side(cells.map(|cells| cells.release), columns.collect())?;
    if release.total() == 0 {
        return fail("the release has no rows".into());
    }
    let given = (owners.targets.len(), owners.release.len());
    if given != (targets.total(), release.total()) {
        let (targets, rows) = (targets.total(), release.total());
        return fail(format!("owners of {} targets and {} rows, but there are {targets} and {rows}", given.0, given.1));
    }
    Ok((targets, release))
}

/// Where the tuples of each cell begin.
fn first_of_cells(tuples: &Tuples, cells: bool) -> Vec<u32> {
    if !cells {
        return vec![0];
    }
    let begins = |&t: &u32| t == 0 || tuples.codes(t as usize)[0] != tuples.codes(t as usize - 1)[0];
    (0..tuples.len() as u32).filter(begins).collect()
}

/// Place of the first record of each tuple, in some order of these, and the number of records.
fn places(tuples: &Tuples, order: &[u32]) -> Vec<u32> {
    let mut places = Vec::with_capacity(order.len() + 1);
    let mut end = 0;
    places.push(end);
    for &tuple in order {
        end += tuples.records(tuple as usize).len() as u32;
        places.push(end);
    }
    places
}

/// The known columns in a common unit, those with distances of all pairs first.
struct Columns<'a> {
    measured: Measured<'a>,
    hierarchies: Vec<Hierarchy>,
    /// Place of each column in the tuples, and the category of each of its codes.
    renumbered: Vec<(usize, Vec<u32>)>,
}

impl<'a> Columns<'a> {
    fn new(known: &[Known<'a>], cells: bool, sides: [&Tuples; 2], control: &Control) -> Result<Self> {
        let codes: Vec<usize> = known.iter().map(|column| column.meaning.categories()).collect();
        memory::require(CATEGORY * codes.iter().sum::<usize>(), WHAT)?;
        let first = usize::from(cells);
        let mut counts: Vec<Vec<u64>> = codes.iter().map(|&codes| vec![0; codes]).collect();
        for tuples in sides {
            for tuple in 0..tuples.len() {
                let records = tuples.records(tuple).len() as u64;
                for (counts, &code) in counts.iter_mut().zip(&tuples.codes(tuple)[first..]) {
                    counts[code as usize] += records;
                }
            }
        }
        let meanings: Vec<Meaning<'a>> = known.iter().map(|column| column.meaning).collect();
        let measured = scale::measured(&meanings, &counts, FEW, control)?;
        let mut hierarchies = Vec::with_capacity(known.len());
        for space in &measured.spaces {
            control.check()?;
            hierarchies.push(Hierarchy::by_distance(space));
        }
        for (ordered, counts) in measured.ordered.iter().zip(measured.counts(&counts)) {
            control.check()?;
            hierarchies.push(Hierarchy::along(ordered, ordered.along(), &counts));
        }
        let places = measured.attributes.iter().map(|&column| first + column);
        let renumbered = places.zip(measured.categories(&codes)).collect();
        Ok(Self { measured, hierarchies, renumbered })
    }

    /// The categories of tuples in some order, by column.
    fn codes(&self, tuples: &Tuples, order: &[u32]) -> Vec<Vec<u32>> {
        let column = |(place, category_of): &(usize, Vec<u32>)| {
            order.iter().map(|&tuple| category_of[tuples.codes(tuple as usize)[*place] as usize]).collect()
        };
        self.renumbered.iter().map(column).collect()
    }
}

/// Targets of one cell that are near each other, in the order of their trees.
#[derive(Debug)]
struct Batch {
    start: usize,
    end: usize,
    /// The tree of their cell, if the release has such rows.
    root: Option<u32>,
}

/// Batches of all targets, given where the cells of the targets and of the release begin.
fn batches([targets, release]: [&Tuples; 2], [of_targets, of_release]: [&[u32]; 2], cells: bool) -> Vec<Batch> {
    let mut batches = Vec::with_capacity(targets.len() / LANES + of_targets.len());
    let ends = of_targets.iter().skip(1).map(|&t| t as usize).chain([targets.len()]);
    for (&first, last) in of_targets.iter().zip(ends) {
        let root = if cells {
            let cell = targets.codes(first as usize)[0];
            of_release.binary_search_by_key(&cell, |&t| release.codes(t as usize)[0]).ok().map(|root| root as u32)
        } else {
            Some(0)
        };
        let starts = (first as usize..last).step_by(LANES);
        batches.extend(starts.map(|start| Batch { start, end: last.min(start + LANES), root }));
    }
    batches
}

/// Who owns what.
struct Owned<'a> {
    /// Owner of each target,
    owner_of: Cow<'a, [u32]>,
    /// and the place of the tuple of each of an owner's rows, ascending.
    places: Lists,
}

impl<'a> Owned<'a> {
    /// Given the order of the tuples of the release.
    fn new(owners: Sides<'a>, release: &Tuples, order: &[u32]) -> Self {
        let few = owners.targets.len() + owners.release.len();
        let mut listed = Vec::new();
        if owners.release.iter().any(|&owner| owner as usize >= few) {
            listed = owners.release.to_vec();
            listed.par_sort_unstable();
            listed.dedup();
        }
        // Large numbers are replaced by smaller ones, so that lists for all take no more room than the table.
        let numbered = |owners: &'a [u32]| {
            let number = |owner: &u32| listed.binary_search(owner).unwrap_or(listed.len()) as u32;
            if listed.is_empty() { Cow::from(owners) } else { owners.par_iter().map(number).collect::<Vec<_>>().into() }
        };
        let mut place_of = vec![0; owners.release.len()];
        for (place, &tuple) in (0u32..).zip(order) {
            for &row in release.records(tuple as usize) {
                place_of[row as usize] = place;
            }
        }
        let owner_of_row = numbered(owners.release);
        let last = owner_of_row.iter().max().map_or(0, |&last| last as usize + 1);
        let mut places = Lists::group(last, owner_of_row.iter().copied().zip(place_of));
        for owner in 0..last {
            places.of_mut(owner).sort_unstable();
        }
        Self { owner_of: numbered(owners.targets), places }
    }

    /// The places of the rows that belong to the owner of a target.
    fn of(&self, target: u32) -> &[u32] {
        let owner = self.owner_of[target as usize] as usize;
        if owner < self.places.len() { self.places.of(owner) } else { &[] }
    }
}

/// All that the search for a batch needs.
struct Search<'a> {
    alone: Alone<'a>,
    tree: &'a Tree,
    targets: &'a Tuples,
    /// Distinct targets, near ones together,
    near: &'a [u32],
    /// their categories with distances of all pairs and without, target after target,
    categories: Vec<u32>,
    numbers: Vec<u32>,
    /// and how many of each a target has.
    sizes: (usize, usize),
    owned: Owned<'a>,
    /// A cell with more tuples than this is searched for a batch at once.
    large: usize,
}

/// Room for one batch, used again for the next.
#[derive(Default)]
struct Workspace {
    room: Room<Least>,
    stack: Vec<Near>,
}

/// What was found for some batches.
#[derive(Default)]
struct Nearest {
    /// The nearest rows of each distinct target,
    least: Vec<Least>,
    /// and the own rows among them, target after target.
    hits: Vec<u32>,
}

impl Search<'_> {
    fn batch(&self, batch: &Batch, workspace: &mut Workspace, found: &mut Nearest, control: &Control) -> Result<()> {
        let tuples = batch.start..batch.end;
        let Some(root) = batch.root else {
            found.least.extend(tuples.clone().map(|_| Least::default()));
            found.hits.extend(tuples.flat_map(|t| self.records(t)).map(|_| 0));
            return Ok(());
        };
        let cell = self.tree.nodes[root as usize];
        let Workspace { room, stack } = workspace;
        // Somebody's own row is no nearer than the nearest: so far and no farther has to be searched.
        for (least, tuple) in room.lanes.iter_mut().zip(tuples.clone()) {
            let own = self.records(tuple).iter().flat_map(|&record| self.own(record, cell));
            let nearest = own.take(FIRST).map(|&place| self.distance(tuple, place)).min();
            *least = Least { distance: nearest.unwrap_or(Distance::MAX), rows: 0 };
        }
        if (cell.end - cell.start) as usize > self.large {
            let all = &self.categories[batch.start * self.sizes.0..batch.end * self.sizes.0];
            self.alone.index.begin(all.chunks_exact(self.sizes.0), room);
            self.alone.index.below(root, room, control)?;
        } else {
            for (least, tuple) in room.lanes.iter_mut().zip(tuples.clone()) {
                self.alone.search(root, self.tuple(tuple), least, stack, control)?;
            }
        }
        for (least, tuple) in room.lanes.iter().zip(tuples) {
            let mut last = None;
            for &record in self.records(tuple) {
                // Targets of one owner often follow each other.
                let owner = self.owned.owner_of[record as usize];
                let hits = match last {
                    Some((before, hits)) if before == owner => hits,
                    _ => self.hits(tuple, record, cell, least.distance),
                };
                last = Some((owner, hits));
                found.hits.push(hits);
            }
            found.least.push(*least);
        }
        Ok(())
    }

    /// How many rows of a target's owner are at some distance.
    fn hits(&self, tuple: usize, record: u32, cell: Node, distance: Distance) -> u32 {
        let alike = self.own(record, cell).chunk_by(|a, b| a == b);
        alike.filter(|rows| self.distance(tuple, rows[0]) == distance).map(|rows| rows.len() as u32).sum()
    }

    /// The rows in a cell that belong to the owner of a target.
    fn own(&self, record: u32, cell: Node) -> &[u32] {
        let places = self.owned.of(record);
        let [start, end] = [cell.start, cell.end].map(|end| places.partition_point(|&place| place < end));
        &places[start..end]
    }

    /// The distance from a distinct target to the tuple at some place.
    fn distance(&self, tuple: usize, place: u32) -> Distance {
        self.alone.distance(self.tuple(tuple), self.alone.tuple(place))
    }

    fn tuple(&self, tuple: usize) -> Tuple<'_> {
        let (a, b) = self.sizes;
        Tuple { categories: &self.categories[tuple * a..][..a], numbers: &self.numbers[tuple * b..][..b] }
    }

    fn records(&self, tuple: usize) -> &[u32] {
        self.targets.records(self.near[tuple] as usize)
    }
}

/// The smallest distance known so far, and how many rows have been found at it.
#[derive(Debug, Clone, Copy, Default)]
struct Least {
    distance: Distance,
    rows: u32,
}

impl Found for Least {
    #[inline]
    fn limit(&self) -> Distance {
        self.distance
    }

    #[inline]
    fn take(&mut self, distance: Distance, (start, end): (u32, u32)) {
        if distance < self.distance {
            (self.distance, self.rows) = (distance, 0);
        }
        self.rows += end - start;
    }
}
