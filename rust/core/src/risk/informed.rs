//! The informed adversary: knows the groups, the masked values of everybody, and how kept columns go with them in general.
//!
//! Inside a group the masked values say nothing about whose row is whose, but the kept values of a row may fit one member
//! better than another: diagnoses go with ages. What fits is learned from the records outside the group. For a kept column
//! with value v and masked values x₁, x₂, … of a person, naive Bayes gives
//!
//! p(v | x₁, x₂, …) ∝ p(v) ∏ⱼ p(xⱼ | v),  p(x | v) = (N(v, x) + X q(x)) / (N(v) + X),  q(x) = (N(x) + 1) / (N + X),
//!
//! where N counts records outside the group and X is the number of categories of the masked column: Laplace's one record more
//! for every category, but spread as the values are in general. A weight below X believes too much in rare values, and
//! finds fewer people. The likelihood of a person and a row is the product over the kept columns.
//!
//! The posterior is that of a uniformly random one-to-one assignment of the rows of a group to its members, weighted by the
//! product of their likelihoods. A factor that belongs to a person or to a row alone is the same in all assignments, so
//! p(v), N(v) + X and the constant that makes p(v | …) sum to 1 need not be computed.
//!
//! Groups of at most [`EXACT`] members have the exact posterior. Larger ones have an approximation, [`balance`].

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::risk::columns::{below, check, numbered};
use crate::tuples::{Codes, Tuples};

/// Members of a group up to which its posterior is exact: 2^12 sets of rows.
pub const EXACT: usize = 12;
/// Distinct members times distinct rows above which a group is attacked in parts.
const CELLS: usize = 1 << 20;
/// Members of such a part.
const PART: usize = 1 << 10;
/// Posteriors that differ by less are equal.
const TIE: f64 = 1e-9;
/// Pairs of categories up to which their counts are a plain matrix.
const DENSE: usize = 1 << 24;
/// Factors whose product stays far inside the range of a float.
const FACTORS: usize = 12;
/// Passes of [`balance`] at most.
const PASSES: usize = 200;
/// Change of posteriors in a pass below which they are settled: far below the error of the approximation.
const CHANGE: f64 = 1e-5;

/// What the adversary believes, and how often it is right; by record, NaN where it was not attacked.
#[derive(Debug, Clone, PartialEq)]
pub struct Beliefs {
    /// The largest posterior probability of any row.
    pub best: Vec<f64>,
    /// The posterior probability of the record's own row.
    pub own: Vec<f64>,
    /// The probability that a guess among the rows with the largest posterior is right.
    pub hit: Vec<f64>,
}

/// Attacks all groups, or the `sampled` ones. Row i of the release belongs to record i.
///
/// O(n log n), and for a group of s members O(s² m) likelihoods from m pairs of columns, then O(s 2^s) up to twelve members and
/// O(s²) in each of 200 passes above, where equal members and equal rows are taken together. A group with more than 2^20
/// pairs of distinct members and rows is attacked in parts of 1024 records, as by an adversary who is told the part: that
/// overstates the risk, never understates it.
pub fn attack(
    masked: &[Codes<'_>],
    kept: &[Codes<'_>],
    group_of: &[u32],
    sampled: Option<&[u32]>,
    control: &Control,
) -> Result<Beliefs> {
    let n = group_of.len();
    check(masked, n)?;
    check(kept, n)?;
    let groups = Lists::by_group(group_of, None)?;
    let attacked = sampled.map_or(groups.len(), <[u32]>::len);
    memory::require(3 * size_of::<f64>() * n + size_of::<u32>() * attacked, WHAT)?;
    let sampled = match sampled {
        Some(sampled) => {
            below(sampled, groups.len(), "group")?;
            let mut sampled = sampled.to_vec();
            sampled.sort_unstable();
            sampled.dedup();
            sampled
        }
        None => (0..groups.len() as u32).collect(),
    };
    let unknown = || vec![f64::NAN; n];
    let mut beliefs = Beliefs { best: unknown(), own: unknown(), hit: unknown() };
    control.begin(sampled.iter().map(|&group| groups.of(group as usize).len() as u64).sum());
    let statistics = Statistics::new(masked, kept, control)?;
    let sizes = || sampled.iter().map(|&group| groups.of(group as usize).len());
    let beliefs_of = 2 * size_of::<Belief>() * sizes().sum::<usize>();
    let threads = rayon::current_num_threads().min(sampled.len().div_ceil(SOME));
    let most = sizes().max().unwrap_or(0);
    memory::require(beliefs_of + threads * room(most, masked.len(), kept.len()), WHAT)?;
    let found: Vec<Vec<Belief>> = sampled
        .par_chunks(SOME)
        .map_init(Room::default, |room, some| {
            let size = |&group: &u32| groups.of(group as usize).len();
            let mut found = Vec::with_capacity(some.iter().map(size).sum());
            for &group in some {
                let members = groups.of(group as usize);
                match &statistics {
                    Some(statistics) => statistics.attack(members, room, &mut found, control)?,
                    None => found.extend(blind(members)),
                }
                control.advance(members.len() as u64)?;
            }
            Ok(found)
        })
        .collect::<Result<_>>()?;
    for belief in found.into_iter().flatten() {
        let record = belief.record as usize;
        (beliefs.best[record], beliefs.own[record], beliefs.hit[record]) = (belief.best, belief.own, belief.hit);
    }
    Ok(beliefs)
}

/// What needs memory here.
const WHAT: &str = "an attack that knows the groups";

/// Groups that a thread takes at a time.
const SOME: usize = 64;

/// Pairs of distinct members and rows of a group that are asked for once for all groups.
const FEW: usize = 1 << 13;

/// Bytes of four figures for each pair of distinct members and rows.
const PAIR: usize = 4 * size_of::<f64>();

/// Bytes that the attack on a group takes: values and pairs of values of its members, figures for some pairs of members and
/// rows, and two for each set of rows of a small one.
fn room(size: usize, masked: usize, kept: usize) -> usize {
    let values = size * masked * (size_of::<u32>() + kept * size_of::<u64>());
    let sets = if size <= EXACT { 2 << size } else { 0 };
    values + 48 * size + PAIR * (size * size).min(FEW) + size_of::<f64>() * sets
}

/// What is believed about one record.
struct Belief {
    record: u32,
    best: f64,
    own: f64,
    hit: f64,
}

/// Beliefs about a group in which nothing tells one row from another.
fn blind(members: &[u32]) -> impl Iterator<Item = Belief> {
    let chance = 1.0 / members.len() as f64;
    members.iter().map(move |&record| Belief { record, best: chance, own: chance, hit: chance })
}

/// How kept columns go with masked ones, in the whole table.
struct Statistics<'a> {
    masked: &'a [Codes<'a>],
    kept: &'a [Codes<'a>],
    /// Distinct tuples of masked values, and of kept values; which one each record has.
    people: (Tuples, Vec<u32>),
    rows: (Tuples, Vec<u32>),
    /// Records with each masked value, by column.
    counts: Vec<Vec<u32>>,
    /// Records with each pair of values, for each kept column and masked column.
    pairs: Vec<Pairs>,
}

/// Arrays that groups share one after another.
#[derive(Default)]
struct Room {
    /// Values of the members of a group: in each masked column, and pairs of each kept and masked one, sorted.
    values: Vec<Vec<u32>>,
    pairs: Vec<Vec<u64>>,
    subsets: [Vec<f64>; 2],
}

impl<'a> Statistics<'a> {
    /// Counts; nothing where there is nothing to learn from. O(n log n) for each pair of columns.
    fn new(masked: &'a [Codes<'a>], kept: &'a [Codes<'a>], control: &Control) -> Result<Option<Self>> {
        if masked.is_empty() || kept.is_empty() {
            return Ok(None);
        }
        let people = numbered(masked, control)?;
        let rows = numbered(kept, control)?;
        let categories = masked.iter().map(|&(_, categories)| categories);
        memory::require(size_of::<u32>() * categories.sum::<usize>(), WHAT)?;
        let mut counts = Vec::with_capacity(masked.len());
        for &(codes, categories) in masked {
            let mut times = vec![0; categories];
            for &code in codes {
                times[code as usize] += 1;
            }
            counts.push(times);
        }
        let mut pairs = Vec::with_capacity(kept.len() * masked.len());
        for &kept in kept {
            for &masked in masked {
                control.check()?;
                pairs.push(Pairs::new(masked, kept)?);
            }
        }
        Ok(Some(Self { masked, kept, people, rows, counts, pairs }))
    }

    /// Attacks one group.
    fn attack(&self, members: &[u32], room: &mut Room, found: &mut Vec<Belief>, control: &Control) -> Result<()> {
        let distinct = |tuple_of: &[u32]| {
            let mut tuples: Vec<u32> = members.iter().map(|&record| tuple_of[record as usize]).collect();
            tuples.sort_unstable();
            tuples.dedup();
            tuples.len()
        };
        let (people, rows) = (distinct(&self.people.1), distinct(&self.rows.1));
        if people < 2 || rows < 2 {
            found.extend(blind(members));
            return Ok(());
        }
        if people * rows > FEW {
            memory::require(PAIR * (people * rows).min(CELLS.max(PART * PART)), WHAT)?;
        }
        self.own_counts(members, room);
        if people * rows <= CELLS {
            return self.attack_part(members, members.len(), room, found, control);
        }
        let parts = members.len().div_ceil(PART);
        for part in 0..parts {
            let some: Vec<u32> = members.iter().skip(part).step_by(parts).copied().collect();
            self.attack_part(&some, members.len(), room, found, control)?;
        }
        Ok(())
    }

    /// What a group itself adds to the counts, and must not be learned from.
    fn own_counts(&self, members: &[u32], room: &mut Room) {
        room.values.resize_with(self.masked.len(), Vec::new);
        for (values, (codes, _)) in room.values.iter_mut().zip(self.masked) {
            values.clear();
            values.extend(members.iter().map(|&record| codes[record as usize]));
            values.sort_unstable();
        }
        room.pairs.resize_with(self.pairs.len(), Vec::new);
        let columns = self.kept.iter().flat_map(|kept| self.masked.iter().map(move |masked| (kept, masked)));
        for (pairs, (kept, masked)) in room.pairs.iter_mut().zip(columns) {
            pairs.clear();
            pairs.extend(members.iter().map(|&record| key(masked.0[record as usize], kept.0[record as usize])));
            pairs.sort_unstable();
        }
    }

    /// Attacks some members of a group of `size`.
    fn attack_part(
        &self,
        members: &[u32],
        size: usize,
        room: &mut Room,
        found: &mut Vec<Belief>,
        control: &Control,
    ) -> Result<()> {
        let people = Side::new(members, &self.people.1);
        let rows = Side::new(members, &self.rows.1);
        let logs = self.likelihoods(&people, &rows, size, room, control)?;
        let posterior = if members.len() <= EXACT {
            // Equal members have equal posteriors of equal rows: any of them stands for all.
            let mut posterior = vec![0.0; logs.len()];
            let width = rows.times.len();
            let mut full = Vec::with_capacity(members.len() * members.len());
            for &person in &people.of {
                full.extend(rows.of.iter().map(|&row| logs[person as usize * width + row as usize]));
            }
            let full = exact(&full, &mut room.subsets);
            for (line, &person) in full.chunks_exact(members.len()).zip(&people.of) {
                line.iter().zip(&rows.of).for_each(|(&p, &row)| posterior[person as usize * width + row as usize] = p);
            }
            posterior
        } else {
            balance(&logs, &people.times, &rows.times, true, control)?
        };
        let width = rows.times.len();
        let best: Vec<(f64, f64)> = posterior
            .chunks_exact(width)
            .map(|of| {
                let best = of.iter().copied().fold(0.0, f64::max);
                let tied = of.iter().zip(&rows.times).filter(|&(&p, _)| p >= best - TIE);
                (best, tied.map(|(_, times)| times).sum())
            })
            .collect();
        for ((&record, &person), &row) in members.iter().zip(&people.of).zip(&rows.of) {
            let (best, tied) = best[person as usize];
            let own = posterior[person as usize * width + row as usize];
            found.push(Belief { record, best, own, hit: if own >= best - TIE { 1.0 / tied } else { 0.0 } });
        }
        Ok(())
    }

    /// Logarithms of the likelihoods of distinct people and rows of a group, up to constants of each.
    fn likelihoods(&self, people: &Side, rows: &Side, size: usize, room: &Room, control: &Control) -> Result<Vec<f64>> {
        let others = self.people.1.len() - size;
        let mut logs = Vec::with_capacity(people.tuples.len() * rows.tuples.len());
        let mut general = vec![0.0; self.masked.len()];
        for &person in &people.tuples {
            control.check()?;
            let masked = self.people.0.codes(person as usize);
            for (j, (general, &x)) in general.iter_mut().zip(masked).enumerate() {
                let categories = self.masked[j].1;
                let count = f64::from(self.counts[j][x as usize] - within(&room.values[j], &x));
                *general = categories as f64 * (count + 1.0) / (others + categories) as f64;
            }
            for &row in &rows.tuples {
                let (mut log, mut product, mut pair) = (0.0, 1.0, 0);
                for &v in self.rows.0.codes(row as usize) {
                    for (&x, general) in masked.iter().zip(&general) {
                        let count = self.pairs[pair].of(x, v) - within(&room.pairs[pair], &key(x, v));
                        product *= f64::from(count) + general;
                        pair += 1;
                        if pair % FACTORS == 0 {
                            log += f64::ln(product);
                            product = 1.0;
                        }
                    }
                }
                logs.push(log + product.ln());
            }
        }
        Ok(logs)
    }
}

/// One side of a group: its distinct tuples, how many members have each, and which one each member has.
struct Side {
    tuples: Vec<u32>,
    times: Vec<f64>,
    of: Vec<u32>,
}

impl Side {
    fn new(members: &[u32], tuple_of: &[u32]) -> Self {
        let all: Vec<u32> = members.iter().map(|&record| tuple_of[record as usize]).collect();
        let mut tuples = all.clone();
        tuples.sort_unstable();
        tuples.dedup();
        let of: Vec<u32> = all.iter().map(|tuple| tuples.partition_point(|t| t < tuple) as u32).collect();
        let mut times = vec![0.0; tuples.len()];
        for &i in &of {
            times[i as usize] += 1.0;
        }
        Self { tuples, times, of }
    }
}

/// How many records have each pair of values of two columns.
enum Pairs {
    Dense { counts: Vec<u32>, width: usize },
    Sparse { keys: Vec<u64>, counts: Vec<u32> },
}

impl Pairs {
    fn new(masked: Codes<'_>, kept: Codes<'_>) -> Result<Self> {
        let pairs = masked.0.iter().zip(kept.0);
        if masked.1.saturating_mul(kept.1) <= DENSE {
            memory::require(size_of::<u32>() * masked.1 * kept.1, WHAT)?;
            let mut counts = vec![0; masked.1 * kept.1];
            pairs.for_each(|(&x, &v)| counts[x as usize * kept.1 + v as usize] += 1);
            return Ok(Self::Dense { counts, width: kept.1 });
        }
        memory::require(size_of::<u64>() * masked.0.len(), WHAT)?;
        let mut all: Vec<u64> = pairs.map(|(&x, &v)| key(x, v)).collect();
        all.par_sort_unstable();
        let equal = all.chunk_by(|a, b| a == b);
        let distinct = equal.clone().count();
        memory::require((size_of::<u64>() + size_of::<u32>()) * distinct, WHAT)?;
        let (mut keys, mut counts) = (Vec::with_capacity(distinct), Vec::with_capacity(distinct));
        for equal in equal {
            keys.push(equal[0]);
            counts.push(equal.len() as u32);
        }
        Ok(Self::Sparse { keys, counts })
    }

    #[inline]
    fn of(&self, x: u32, v: u32) -> u32 {
        match self {
            Self::Dense { counts, width } => counts[x as usize * width + v as usize],
            Self::Sparse { keys, counts } => keys.binary_search(&key(x, v)).map_or(0, |place| counts[place]),
        }
    }
}

#[inline]
fn key(x: u32, v: u32) -> u64 {
    u64::from(x) << 32 | u64::from(v)
}

/// How often a sorted list has an item.
#[inline]
fn within<T: Ord>(sorted: &[T], item: &T) -> u32 {
    if sorted.len() <= 16 {
        return sorted.iter().filter(|&other| other == item).count() as u32;
    }
    let start = sorted.partition_point(|other| other < item);
    sorted[start..].partition_point(|other| other == item) as u32
}

/// Posterior of each row (by column) for each person (by row) from logarithms of likelihoods, when `people` and `rows` say
/// how many there are of each kind: the probability of a single row for a single person.
///
/// Not `corrected`, this is the doubly stochastic matrix that Sinkhorn's scaling of rows and columns leads to. It ignores that
/// a row given to one person is taken from all others, and so believes too little: of two people whose likelihoods are 9 to
/// 1 in favour of one assignment, it gives that assignment 3 to 1. The correction adds a share g of Bethe's term
/// Σ (1 − p) ln (1 − p) to the entropy, so that p (1 − p)^g = likelihood × person × row. With g = 1 − 1/s it is exact for
/// s = 2 and, for any s, to the first order around equal likelihoods; 7/8 is used for all, which keeps the mean error of a
/// posterior below 0.01 from 8 to 15 members, where Sinkhorn's own is up to 0.04. Ends when no posterior changes by 1e-5, or
/// after 200 passes.
pub fn balance(logs: &[f64], people: &[f64], rows: &[f64], corrected: bool, control: &Control) -> Result<Vec<f64>> {
    let width = rows.len();
    if logs.len() != people.len() * width || width == 0 {
        return Err(Error::Parameter(format!("{} likelihoods of {} by {width}", logs.len(), people.len())));
    }
    // Every row and every column gets an entry 1; the floor keeps all of them positive.
    let mut kernel = logs.to_vec();
    for line in kernel.chunks_exact_mut(width) {
        let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for cell in line {
            *cell -= most;
        }
    }
    let mut most = vec![f64::NEG_INFINITY; width];
    for line in kernel.chunks_exact(width) {
        most.iter_mut().zip(line).for_each(|(most, &cell)| *most = most.max(cell));
    }
    for line in kernel.chunks_exact_mut(width) {
        line.iter_mut().zip(&most).for_each(|(cell, most)| *cell = (*cell - most).max(-600.0).exp());
    }
    let mut posterior = vec![0.0; kernel.len()];
    let (mut by_row, mut scaled, mut sums) = (vec![1.0; width], vec![0.0; kernel.len()], vec![0.0; width]);
    for _ in 0..PASSES {
        control.check()?;
        if corrected {
            let cells = scaled.iter_mut().zip(&kernel).zip(&posterior);
            cells.for_each(|((scaled, kernel), &p): (_, &f64)| {
                // (1 - p)^(7/8), by square roots.
                let half = (1.0 - p).max(1e-12).sqrt();
                let quarter = half.sqrt();
                *scaled = kernel / (half * quarter * quarter.sqrt());
            });
        } else {
            scaled.copy_from_slice(&kernel);
        }
        sums.fill(0.0);
        let mut change: f64 = 0.0;
        for ((line, old), &times) in scaled.chunks_exact_mut(width).zip(posterior.chunks_exact_mut(width)).zip(people) {
            let sum: f64 = line.iter().zip(&by_row).zip(rows).map(|((cell, by), times)| cell * by * times).sum();
            let scale = 1.0 / sum.max(f64::MIN_POSITIVE);
            for (((cell, old), by), sum) in line.iter().zip(old).zip(&by_row).zip(&mut sums) {
                let new = cell * by * scale;
                change = change.max((new - *old).abs());
                *old = new;
                *sum += cell * scale * times;
            }
        }
        if change < CHANGE {
            break;
        }
        by_row.iter_mut().zip(&sums).for_each(|(by, sum)| *by = 1.0 / sum.max(f64::MIN_POSITIVE));
    }
    Ok(posterior)
}

/// The exact posterior of each row for each person, from logarithms of likelihoods: sums over all assignments, by sets of
/// rows that the first people have. O(s 2^s).
pub fn exact(logs: &[f64], subsets: &mut [Vec<f64>; 2]) -> Vec<f64> {
    let size = logs.len().isqrt();
    debug_assert!(size <= 20 && logs.len() == size * size);
    // Scaled first, so that the sums neither overflow nor vanish.
    let ones = vec![1.0; size];
    let cells = balance(logs, &ones, &ones, false, &Control::new()).unwrap_or_default();
    let all = (1usize << size) - 1;
    let [first, last] = subsets;
    first.clear();
    first.resize(all + 1, 0.0);
    last.clear();
    last.resize(all + 1, 0.0);
    (first[0], last[all]) = (1.0, 1.0);
    for set in 1..=all {
        let line = &cells[(set.count_ones() as usize - 1) * size..][..size];
        let mut left = set;
        let mut sum = 0.0;
        while left != 0 {
            let row = left.trailing_zeros() as usize;
            sum += first[set & !(1 << row)] * line[row];
            left &= left - 1;
        }
        first[set] = sum;
    }
    let mut posterior = vec![0.0; cells.len()];
    for set in (0..all).rev() {
        let person = set.count_ones() as usize;
        let mut left = all & !set;
        let mut sum = 0.0;
        while left != 0 {
            let row = left.trailing_zeros() as usize;
            let rest = cells[person * size + row] * last[set | 1 << row];
            posterior[person * size + row] += first[set] * rest;
            sum += rest;
            left &= left - 1;
        }
        last[set] = sum;
    }
    let whole = first[all];
    for p in &mut posterior {
        *p /= whole;
    }
    posterior
}
