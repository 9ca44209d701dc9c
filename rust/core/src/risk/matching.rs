//! The best matching of all people at once: every person has one row, so a row that is near two people is one of theirs only.
//!
//! The adversary knows some values of everybody and takes the one-to-one assignment of people to rows with the smallest
//! total distance, the mean over the known columns. Where several are best, both sides are put into a random order before
//! the problem is solved, so that no name and no place in the table decides.
//!
//! People and rows of a *pool* (a group, a cell of kept values, or the whole table) only match each other. A pool of at most
//! `size` is solved as a whole. In a larger one each target is matched together with its neighbourhood: the `size` people
//! nearest to it compete for the 2 × `size` rows nearest to it. Only the target's own row is taken from this: those
//! at the edge of the neighbourhood lack the people and rows that they compete with, and people in dense places would be
//! in more neighbourhoods than others, so that the share of targets found would not estimate the share of all people.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::meaning::Meaning;
use crate::memory;
use crate::risk::assignment::{LARGEST, assign};
use crate::risk::columns::{below, check, numbered};
use crate::rng::{Stream, Streams};
use crate::tuples::{Codes, Tuples};

/// A column that the adversary knows, with the same categories on both sides; a missing value is one of them.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// Category of each person.
    pub before: &'a [u32],
    /// Category of each row of the release; row i belongs to person i.
    pub after: &'a [u32],
    /// How far categories are from each other.
    pub meaning: Meaning<'a>,
}

/// People, and the row that each is matched with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// People who were looked for, in ascending order.
    pub people: Vec<u32>,
    /// The row of each of them.
    pub rows: Vec<u32>,
}

/// Matches the `targets`, or everybody, with rows; people and rows that differ in one of `pools` never match.
///
/// O(n log n), then O(s³) at most for each pool of s ≤ `size` records with a target, and for each target in a larger pool
/// O(s) to find its neighbourhood and O(`size`³) at most to match it.
pub fn attack(
    columns: &[Column<'_>],
    pools: &[&[u32]],
    size: usize,
    targets: Option<&[u32]>,
    streams: &Streams,
    control: &Control,
) -> Result<Matched> {
    let Some(first) = columns.first() else { return Err(Error::Parameter("no known column at all".into())) };
    let n = first.before.len();
    if size == 0 {
        return Err(Error::Parameter("a neighbourhood of nobody".into()));
    }
    for column in columns {
        check(&[(column.before, column.meaning.categories()), (column.after, column.meaning.categories())], n)?;
    }
    // The pool of each record, records by pool, those asked for; rows as they are found, and at the end.
    let asked = targets.map_or(n, <[u32]>::len).min(n);
    memory::require(size_of::<u32>() * (5 * n + 6 * asked) + 3 * size_of::<(u32, u32)>() * asked, WHAT)?;
    let pool_of = match pools {
        [] => vec![0; n],
        pools => {
            let pools: Vec<Codes<'_>> = pools.iter().map(|pool| (*pool, u32::MAX as usize + 1)).collect();
            check(&pools, n)?;
            numbered(&pools, control)?.1
        }
    };
    let people: Vec<u32> = match targets {
        Some(targets) => {
            below(targets, n, "person")?;
            let mut people = targets.to_vec();
            people.sort_unstable();
            people.dedup();
            people
        }
        None => (0..n as u32).collect(),
    };
    let scale = Scale::new(columns)?;
    let pools = Lists::by_group(&pool_of, None)?;
    let asked = Lists::group(pools.len(), people.iter().map(|&person| (pool_of[person as usize], person)));
    let small = |pool: usize| pools.of(pool).len() <= size;
    control.begin(people.len() as u64);

    // Pools that are solved as a whole.
    let whole: Vec<usize> = (0..pools.len()).filter(|&pool| small(pool) && !asked.of(pool).is_empty()).collect();
    let mut row_of = vec![u32::MAX; n];
    let found: Vec<Vec<(u32, u32)>> = whole
        .par_iter()
        .map(|&pool| {
            let mut rng = streams.generator(Stream::MatchedPool, pool as u32);
            let records = pools.of(pool);
            let matched = scale.solve(records.to_vec(), records.to_vec(), &mut rng, control)?;
            control.advance(asked.of(pool).len() as u64)?;
            Ok(matched)
        })
        .collect::<Result<_>>()?;
    found.into_iter().flatten().for_each(|(person, row)| row_of[person as usize] = row);

    // Targets in larger pools.
    let others: Vec<u32> = people.iter().copied().filter(|&p| !small(pool_of[p as usize] as usize)).collect();
    if !others.is_empty() {
        let before = Pooled::new(&pool_of, pools.len(), columns.iter().map(|c| (c.before, c.meaning)), control)?;
        let after = Pooled::new(&pool_of, pools.len(), columns.iter().map(|c| (c.after, c.meaning)), control)?;
        let found: Vec<u32> = others
            .par_iter()
            .with_max_len(4)
            .map_init(Vec::new, |room, &target| {
                let mut rng = streams.generator(Stream::MatchedTarget, target);
                let pool = pool_of[target as usize];
                before.distances(pool, &scale, target, room, control)?;
                let near = nearest(room, &before.tuples, size, Some(target), &mut rng);
                after.distances(pool, &scale, target, room, control)?;
                let rows = nearest(room, &after.tuples, 2 * size, None, &mut rng);
                let matched = scale.solve(near, rows, &mut rng, control)?;
                control.advance(1)?;
                Ok(matched.into_iter().find(|&(person, _)| person == target).map_or(u32::MAX, |(_, row)| row))
            })
            .collect::<Result<_>>()?;
        others.iter().zip(found).for_each(|(&person, row)| row_of[person as usize] = row);
    }
    let rows = people.iter().map(|&person| row_of[person as usize]).collect();
    Ok(Matched { people, rows })
}

/// What needs memory here.
const WHAT: &str = "the best matching of people and rows";

/// Bytes for each person and row of an assignment problem.
const EDGE: usize = 64;

/// Distances as whole numbers.
struct Scale<'a> {
    columns: &'a [Column<'a>],
    /// By how much distances are multiplied.
    factor: f64,
}

impl<'a> Scale<'a> {
    fn new(columns: &'a [Column<'a>]) -> Result<Self> {
        columns.iter().try_for_each(|column| column.meaning.check())?;
        let largest: f64 = columns.iter().map(|column| column.meaning.largest()).sum();
        let factor = if largest > 0.0 { LARGEST / largest } else { 0.0 };
        if !factor.is_finite() || !largest.is_finite() {
            return Err(Error::Parameter(format!("distances up to {largest}")));
        }
        Ok(Self { columns, factor })
    }

    /// The distance between two categories of a column.
    #[inline]
    fn of(&self, column: usize, a: u32, b: u32) -> i64 {
        let distance = self.columns[column].meaning.distance(a, b);
        (distance * self.factor + 0.5) as i64
    }

    /// The best matching of some people with at least as many rows.
    fn solve(
        &self,
        mut people: Vec<u32>,
        mut rows: Vec<u32>,
        rng: &mut ChaCha20Rng,
        control: &Control,
    ) -> Result<Vec<(u32, u32)>> {
        people.shuffle(rng);
        rows.shuffle(rng);
        let cells = people.len().saturating_mul(rows.len());
        let edges = EDGE * people.len().saturating_add(rows.len());
        memory::require(cells.saturating_mul(size_of::<i64>()).saturating_add(edges), WHAT)?;
        let mut costs = vec![0i64; cells];
        for (&person, costs) in people.iter().zip(costs.chunks_exact_mut(rows.len().max(1))) {
            control.check()?;
            for (c, column) in self.columns.iter().enumerate() {
                let from = column.before[person as usize];
                let each = costs.iter_mut().zip(&rows);
                each.for_each(|(cost, &row)| *cost += self.of(c, from, column.after[row as usize]));
            }
        }
        let found = assign(&costs, people.len(), rows.len(), control)?;
        Ok(people.into_iter().zip(found.into_iter().map(|row| rows[row as usize])).collect())
    }
}

/// The distinct tuples of one side, pool after pool.
struct Pooled {
    tuples: Tuples,
    /// Where the tuples of each pool begin.
    starts: Vec<u32>,
}

impl Pooled {
    fn new<'a>(
        pool_of: &'a [u32],
        pools: usize,
        columns: impl Iterator<Item = (&'a [u32], Meaning<'a>)>,
        control: &Control,
    ) -> Result<Self> {
        let columns = columns.map(|(codes, meaning)| (codes, meaning.categories()));
        let all: Vec<Codes<'_>> = std::iter::once((pool_of, pools)).chain(columns).collect();
        let tuples = Tuples::of(&all, control)?;
        // Distances to all tuples, for each thread.
        let room = 2 * size_of::<(i64, u32)>() * tuples.len() * rayon::current_num_threads();
        memory::require(size_of::<u32>() * (pools + 1) + room, WHAT)?;
        let mut starts = vec![0; pools + 1];
        (0..tuples.len()).for_each(|tuple| starts[tuples.codes(tuple)[0] as usize + 1] = tuple as u32 + 1);
        Ok(Self { tuples, starts })
    }

    /// Puts the distances from a person to all tuples of a pool into `room`, with the tuples.
    fn distances(
        &self,
        pool: u32,
        scale: &Scale<'_>,
        person: u32,
        room: &mut Vec<(i64, u32)>,
        control: &Control,
    ) -> Result<()> {
        let from: Vec<u32> = scale.columns.iter().map(|column| column.before[person as usize]).collect();
        let (start, end) = (self.starts[pool as usize] as usize, self.starts[pool as usize + 1] as usize);
        room.clear();
        for some in (start..end).step_by(1 << 16) {
            control.check()?;
            room.extend((some..end.min(some + (1 << 16))).map(|tuple| {
                let codes = self.tuples.codes(tuple)[1..].iter().zip(&from).enumerate();
                (codes.map(|(c, (&to, &from))| scale.of(c, from, to)).sum(), tuple as u32)
            }));
        }
        Ok(())
    }
}

/// The nearest records by the distances of their tuples, `wanted` of them or all; of equally near ones some at random, but
/// always this one.
fn nearest(
    distances: &mut Vec<(i64, u32)>,
    tuples: &Tuples,
    wanted: usize,
    always: Option<u32>,
    rng: &mut ChaCha20Rng,
) -> Vec<u32> {
    if distances.len() > wanted {
        // Each tuple has a record, so no tuple beyond this limit is needed.
        let (_, &mut (limit, _), _) = distances.select_nth_unstable(wanted - 1);
        distances.retain(|&(distance, _)| distance <= limit);
    }
    distances.sort_unstable();
    let mut found: Vec<u32> = always.into_iter().collect();
    for level in distances.chunk_by(|a, b| a.0 == b.0) {
        let records = level.iter().flat_map(|&(_, tuple)| tuples.records(tuple as usize));
        let start = found.len();
        found.extend(records.copied().filter(|&record| Some(record) != always));
        if found.len() > wanted {
            let chosen = found[start..].partial_shuffle(rng, wanted - start).0.to_vec();
            found.truncate(start);
            found.extend(chosen);
        }
        if found.len() >= wanted {
            break;
        }
    }
    found
}
