//! Records packed for fast distances.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Itemsets;
use crate::control::Control;
use crate::error::Result;
use crate::memory;

/// Codes in a word.
const LANES: usize = 8;
/// The highest bit of each code, never used, and all others.
const HIGH: u64 = 0x8080_8080_8080_8080;
const LOW: u64 = !HIGH;
/// Records from which the groups of exclusive items are learnt.
const SAMPLE: usize = 1 << 15;
/// Share of an item's records that may hold another item of its group.
const CLASH: f64 = 0.02;
/// Looks at groups, for each item that a record of the sample holds, after which learning them no longer pays.
const LOOKS: usize = 16;
/// Items of a group; the code 0 stands for none of them.
const GROUP: usize = 127;
/// Beside a record's size: some of its items found their group taken.
const SPILT: u32 = 1 << 31;
const NONE: u32 = u32::MAX;
/// Nanoseconds for a word of bits, a word of codes and an item of two lists, about.
const COSTS: [f64; 3] = [2.0, 1.5, 2.5];

/// What needs memory.
const PACKED: &str = "records packed for distances";

/// Some records in some order, in the form that gives their Hamming distances fastest.
///
/// * Few items: bits, counted by the word.
/// * Items that exclude each other (values of one attribute, brands of one good): each group of them becomes one byte,
///   the number of the item that the record holds. Equal bytes are shared items, found a word at a time. Items that exclude
///   each other almost always will do; the second one of a record goes to a short list beside the codes.
/// * Otherwise: the sorted lists themselves.
///
/// At most about the memory of the lists.
#[derive(Debug)]
pub struct Packed<'a> {
    /// Items of each record, with the mark [`SPILT`].
    sizes: Vec<u32>,
    form: Form<'a>,
}

#[derive(Debug)]
enum Form<'a> {
    Bits { words: usize, rows: Vec<u64> },
    Codes { words: usize, rows: Vec<u64>, spilt: Spilt },
    Lists { sets: &'a Itemsets, records: &'a [u32] },
}

/// Items whose group was taken, for the few records that have some: their numbers, and all (group, code).
#[derive(Debug, Default)]
struct Spilt {
    records: Vec<u32>,
    starts: Vec<u32>,
    items: Vec<(u32, u8)>,
}

impl Spilt {
    fn of(&self, record: u32) -> &[(u32, u8)] {
        let Ok(place) = self.records.binary_search(&record) else { return &[] };
        &self.items[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

impl<'a> Packed<'a> {
    /// Packs the records that `records` names; from now on they are numbered by their places in it. O(items of the records).
    pub fn new(sets: &'a Itemsets, records: &'a [u32], control: &Control) -> Result<Self> {
        memory::require(4 * records.len() + 4 * sets.n_items() as usize, PACKED)?;
        let sizes: Vec<u32> = records.iter().map(|&r| sets.row(r).len() as u32).collect();
        let total: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let mean = total as f64 / sizes.len().max(1) as f64;
        let mut counts = vec![0u32; sets.n_items() as usize];
        for &record in records {
            for &item in sets.row(record) {
                counts[item as usize] += 1;
            }
        }
        let used = counts.iter().filter(|&&count| count > 0).count();
        let words = used.div_ceil(64);
        let merging = COSTS[2] * mean + 5.0;
        let counting = COSTS[0] * words as f64;
        // Bits must not take much more memory than the lists do.
        let roomy = (words * 8) as f64 <= 64.0 + 8.0 * mean;
        let best = if roomy { counting.min(merging) } else { merging };
        let mut packed = Self { sizes, form: Form::Lists { sets, records } };
        if best > 8.0
            && let Some(groups) = Groups::new(sets, records, &counts, best, control)?
            && let Some(form) = packed.codes(sets, records, &groups, control)?
        {
            packed.form = form;
        } else if roomy && counting <= merging {
            memory::require(8 * words * records.len() + 8 * counts.len(), PACKED)?;
            packed.form = bits(sets, records, &counts, words);
        }
        control.check()?;
        Ok(packed)
    }

    /// Number of records.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Number of items that only one of two records holds.
    #[inline]
    pub fn hamming(&self, a: u32, b: u32) -> u32 {
        match &self.form {
            Form::Bits { words, rows } => {
                let row = |r: u32| &rows[r as usize * words..][..*words];
                row(a).iter().zip(row(b)).map(|(x, y)| (x ^ y).count_ones()).sum()
            }
            Form::Codes { words, rows, spilt } => {
                let row = |r: u32| &rows[r as usize * words..][..*words];
                let (sizes, x, y) = ((self.sizes[a as usize], self.sizes[b as usize]), row(a), row(b));
                let mut shared = shared_codes(x, y);
                if (sizes.0 | sizes.1) & SPILT != 0 {
                    let (p, q) = (spilt.of(a), spilt.of(b));
                    let held = |row: &[u64], (group, code): (u32, u8)| code_at(row, group) == code;
                    shared += p.iter().filter(|&&item| held(y, item) || q.contains(&item)).count() as u32;
                    shared += q.iter().filter(|&&item| held(x, item)).count() as u32;
                }
                (sizes.0 & !SPILT) + (sizes.1 & !SPILT) - 2 * shared
            }
            Form::Lists { sets, records } => sets.hamming(records[a as usize], records[b as usize]),
        }
    }

    /// Codes for all records, or nothing where too many items found their group taken.
    fn codes(
        &mut self,
        sets: &Itemsets,
        records: &[u32],
        groups: &Groups,
        control: &Control,
    ) -> Result<Option<Form<'a>>> {
        control.check()?;
        let words = groups.count.div_ceil(LANES);
        // Beside the codes, what a quarter of the records has left, in lists that have grown.
        let held: usize = records.iter().map(|&record| sets.row(record).len()).sum();
        memory::require((8 * words + 40) * records.len() + 4 * held, PACKED)?;
        let mut rows = vec![0; records.len() * words];
        let (most, spilt) = (records.len() / 4, AtomicUsize::new(0));
        let fill = |(place, row): (usize, &mut [u64])| {
            let mut left = Vec::new();
            if spilt.load(Ordering::Relaxed) > most {
                return None;
            }
            for &item in sets.row(records[place]) {
                let (group, code) = groups.places[item as usize];
                if code_at(row, group) == 0 {
                    row[group as usize / LANES] |= u64::from(code) << (group as usize % LANES * 8);
                } else {
                    left.push((group, code));
                }
            }
            if left.is_empty() {
                return None;
            }
            spilt.fetch_add(1, Ordering::Relaxed);
            Some((place as u32, left))
        };
        let left: Vec<(u32, Vec<(u32, u8)>)> = rows.par_chunks_mut(words).enumerate().filter_map(fill).collect();
        if left.len() > most {
            return Ok(None);
        }
        let mut spilt = Spilt { starts: vec![0], ..Spilt::default() };
        for (record, items) in left {
            self.sizes[record as usize] |= SPILT;
            spilt.records.push(record);
            spilt.items.extend(items);
            spilt.starts.push(spilt.items.len() as u32);
        }
        Ok(Some(Form::Codes { words, rows, spilt }))
    }
}

/// The code of a group in a row.
fn code_at(row: &[u64], group: u32) -> u8 {
    (row[group as usize / LANES] >> (group as usize % LANES * 8)) as u8
}

/// Number of codes that are equal and not zero.
#[inline]
fn shared_codes(a: &[u64], b: &[u64]) -> u32 {
    let mut shared = 0;
    // As many words as the sum of all counts has room in one byte.
    for (a, b) in a.chunks(31).zip(b.chunks(31)) {
        let mut sums = 0u64;
        for (&x, &y) in a.iter().zip(b) {
            // Codes have seven bits, so adding as many ones carries into the eighth unless the code is zero.
            sums += (!((x ^ y) + LOW) & (x + LOW) & HIGH) >> 7;
        }
        shared += (sums.wrapping_mul(HIGH >> 7) >> 56) as u32;
    }
    shared
}

fn bits(sets: &Itemsets, records: &[u32], counts: &[u32], words: usize) -> Form<'static> {
    let mut next = 0;
    let place = |&count: &u32| if count > 0 { (next, next += 1).0 } else { 0 };
    let places: Vec<usize> = counts.iter().map(place).collect();
    let mut rows = vec![0u64; records.len() * words];
    rows.par_chunks_mut(words.max(1)).zip(records).for_each(|(row, &record)| {
        for &item in sets.row(record) {
            let bit = places[item as usize];
            row[bit / 64] |= 1 << (bit % 64);
        }
    });
    Form::Bits { words, rows }
}

/// Groups of items of which hardly any record holds two.
struct Groups {
    count: usize,
    /// Group and code of each item.
    places: Vec<(u32, u8)>,
}

impl Groups {
    /// Puts each item, the most frequent first, into the first group that none of its records in a sample has an item of
    /// yet. Nothing where the groups become so many that comparing them takes longer than `best`, or finding them too long.
    fn new(sets: &Itemsets, records: &[u32], counts: &[u32], best: f64, control: &Control) -> Result<Option<Self>> {
        let limit = ((best - 3.0) / COSTS[1]) as usize * LANES;
        let step = records.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<&[u32]> = records.iter().step_by(step).map(|&r| sets.row(r)).collect();
        // Of items: starts twice, a list that has grown, places. Of the sample: holders, and which rows each group takes.
        let held: usize = sample.iter().map(|row| row.len()).sum();
        memory::require(28 * counts.len() + 4 * held + limit.min(counts.len()) * (sample.len() + 96), PACKED)?;
        let mut starts = vec![0u32; counts.len() + 1];
        for &item in sample.iter().copied().flatten() {
            starts[item as usize + 1] += 1;
        }
        for item in 0..counts.len() {
            starts[item + 1] += starts[item];
        }
        let mut next = starts.clone();
        let mut holders = vec![0u32; starts[counts.len()] as usize];
        for (row, items) in (0u32..).zip(&sample) {
            for &item in *items {
                holders[next[item as usize] as usize] = row;
                next[item as usize] += 1;
            }
        }
        let mut items: Vec<u32> = (0..counts.len() as u32).filter(|&item| counts[item as usize] > 0).collect();
        items.sort_by_key(|&item| std::cmp::Reverse(counts[item as usize]));
        let mut places = vec![(NONE, 0); counts.len()];
        // Of each group: how many items, and which rows of the sample hold one.
        let mut groups: Vec<(usize, Vec<bool>)> = Vec::new();
        let mut looks = LOOKS * holders.len();
        for item in items {
            let rows = &holders[starts[item as usize] as usize..starts[item as usize + 1] as usize];
            control.check()?;
            let allowed = (CLASH * rows.len() as f64) as usize;
            let fits = |(size, taken): &(usize, Vec<bool>)| {
                let mut clashes = rows.iter().filter(|&&row| taken[row as usize]);
                *size < GROUP && clashes.nth(allowed).is_none()
            };
            let group = groups.iter().position(fits).unwrap_or(groups.len());
            let Some(left) = looks.checked_sub(group) else { return Ok(None) };
            looks = left;
            if group == groups.len() {
                if group == limit {
                    return Ok(None);
                }
                groups.push((0, vec![false; sample.len()]));
            }
            let (size, taken) = &mut groups[group];
            *size += 1;
            places[item as usize] = (group as u32, *size as u8);
            for &row in rows {
                taken[row as usize] = true;
            }
        }
        Ok(Some(Self { count: groups.len(), places }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sets(n_items: u32, rows: &[Vec<u32>]) -> Itemsets {
        let starts = std::iter::once(0).chain(rows.iter().scan(0, |sum, row| {
            *sum += row.len();
            Some(*sum)
        }));
        Itemsets::new(n_items, starts.collect(), rows.concat()).unwrap()
    }

    fn check(sets: &Itemsets, records: &[u32]) -> &'static str {
        let packed = Packed::new(sets, records, &Control::new()).unwrap();
        assert_eq!(packed.len(), records.len());
        for (a, &record) in (0u32..).zip(records) {
            for (b, &other) in (0u32..).zip(records) {
                assert_eq!(packed.hamming(a, b), sets.hamming(record, other), "{record} and {other}");
            }
        }
        match packed.form {
            Form::Bits { .. } => "bits",
            Form::Codes { spilt, .. } => ["codes", "spilt"][usize::from(!spilt.records.is_empty())],
            Form::Lists { .. } => "lists",
        }
    }

    /// Records with one of `values` values in each attribute, some missing, and some with a second value.
    fn attributes(n: u32, attributes: u32, values: u32, doubles: bool) -> Itemsets {
        let row = |i: u32| {
            let mut row: Vec<u32> = (0..attributes)
                .filter(|a| (i * 7 + a) % 11 != 3)
                .flat_map(|a| {
                    let value = (i.wrapping_mul(2_654_435_761) >> (a % 16)) % values;
                    let second = (doubles && i % 100 == 5 && a == 3).then_some(a * values + (value + 1) % values);
                    std::iter::once(a * values + value).chain(second)
                })
                .collect();
            row.sort_unstable();
            row
        };
        sets(attributes * values, &(0..n).map(row).collect::<Vec<_>>())
    }

    #[test]
    fn each_form_is_exact() {
        let order = |n: u32| (0..n).rev().collect::<Vec<u32>>();
        assert_eq!(check(&attributes(100, 5, 4, false), &order(100)), "bits");
        assert_eq!(check(&attributes(300, 40, 30, false), &order(300)), "codes");
        assert_eq!(check(&attributes(1000, 40, 10, true), &order(1000)), "spilt");
        let single: Vec<Vec<u32>> = (0..300).map(|i| vec![i * i]).collect();
        assert_eq!(check(&sets(90_000, &single), &order(300)), "lists");
        check(&sets(0, &[vec![], vec![]]), &[1, 0]);
        check(&sets(3, &[]), &[]);
    }

    proptest! {
        #[test]
        fn distances_are_exact(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..2000, 0..60), 1..30),
            fold in prop::sample::select(vec![1u32, 8, 50, 2000]),
        ) {
            let rows: Vec<Vec<u32>> = rows.into_iter().map(|row| {
                let mut row: Vec<u32> = row.into_iter().map(|item| item % fold).collect();
                row.sort_unstable();
                row.dedup();
                row
            }).collect();
            check(&sets(2000, &rows), &(0..rows.len() as u32).collect::<Vec<_>>());
        }
    }
}
