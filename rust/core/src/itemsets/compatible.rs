//! Possible worlds: which published rows a record could be.
//!
//! A row says: my record is the base, except for at most `threshold` items among those of the distance bitmap.

use std::collections::HashMap;

use rayon::prelude::*;

use super::Itemsets;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Published rows.
pub struct Published<'a> {
    /// The items that most preimages hold.
    pub base: &'a Itemsets,
    /// The items on which preimages disagree.
    pub distance: &'a Itemsets,
    /// Largest number of items in which a preimage differs from the base.
    pub threshold: &'a [u32],
}

/// Items of a record by which rows are sifted, the rarest first.
const SIEVE: usize = 16;

/// Published rows that are sifted together, in words of bits: as many as a word has bits.
const LARGEST: usize = 64;

/// Words that the bitmaps of one block may take; those of items that do not occur are never touched.
const WORDS: usize = 1 << 25;

/// Bytes for each record: in a table of different ones while it grows, and in a list; and for each different one, beside its
/// items, while it becomes a sieve.
const KINDS: usize = 100;
const SIEVES: usize = 224;
const WHAT: &str = "counting rows that a record could be";

/// Rarest items of a row by which it finds its neighbours, and the row; bytes of that, and of a row and its copies.
const RAREST: usize = 4;
type Key = ([(u32, u32); RAREST], u32);
const KEY: usize = size_of::<Key>();
const ROW: usize = size_of::<(u32, u32)>();

/// Records that one thread takes at a time.
const RECORDS: usize = 1 << 10;

/// For each record, how many published rows it could be.
///
/// A row that could be a record has all its items, in the base or in the distance bitmap; few rows have its rarest
/// ones. Rows are taken in blocks of 64 words of 64 rows, as one bitmap for each item over the words that have it and one
/// over the rows; a record's bitmaps are intersected, the rarest item first, until none is left, and what is left is
/// compared item by item. Rows with the same rare items are neighbours. Equal rows, as those of a group are, are compared
/// once, and equal records are asked for once: O(different rows / 4096 · different records) words where few rows are left,
/// so with groups of k a k-th of the work; in parallel.
pub fn count(published: &Published<'_>, records: &Itemsets, control: &Control) -> Result<Vec<u32>> {
    let (n, n_items) = (published.base.n(), published.base.n_items());
    if (published.distance.n(), published.threshold.len()) != (n, n)
        || [published.distance.n_items(), records.n_items()] != [n_items; 2]
    {
        return Err(Error::Parameter("base, distance and threshold of the same rows, over the same items".to_owned()));
    }
    let (distinct, kind) = distinct(records, control)?;
    let words = (WORDS / (n_items as usize).max(1)).clamp(1, LARGEST);
    // Keys of rows are gone when bitmaps and sieves are made.
    let items: usize = distinct.iter().map(|&record| records.row(record).len()).sum();
    let bitmaps = 8 * (words + 1) * n_items as usize;
    let sieves = SIEVES * distinct.len() + 4 * items + 4 * records.n();
    memory::require(8 * n_items as usize + ((KEY + ROW) * n).max(ROW * n + bitmaps + sieves), WHAT)?;
    let mut rows_with = published.base.frequencies()?;
    for (count, more) in rows_with.iter_mut().zip(published.distance.frequencies()?) {
        *count = count.saturating_add(more);
    }
    let order = neighbours(published, &rows_with);
    // Records with an item that no row has are nobody; the others are sifted by their rarest items.
    let sieves = distinct.par_iter().map(|&record| {
        let mut items = records.row(record).to_vec();
        items.sort_unstable_by_key(|&item| (rows_with[item as usize], item));
        items.truncate(SIEVE);
        items
    });
    let mut sieves: Vec<Sieve> = (distinct.iter().zip(sieves.collect::<Vec<_>>()))
        .map(|(&record, items)| Sieve { record, items: items.into(), count: 0 })
        .filter(|sieve| sieve.items.first().is_none_or(|&rarest| rows_with[rarest as usize] > 0))
        .collect();
    control.begin(order.len() as u64);
    let mut block =
        Block { words, rows: 0, somewhere: vec![0; n_items as usize], bits: vec![0; words * n_items as usize] };
    for rows in order.chunks(64 * words) {
        block.rows = rows.len();
        let items = |row| published.base.row(row).iter().chain(published.distance.row(row));
        for (place, &(row, _)) in rows.iter().enumerate() {
            items(row).for_each(|&item| block.note(item, place));
        }
        sieves.par_chunks_mut(RECORDS).try_for_each(|sieves| {
            for sieve in sieves {
                sieve.sift(&block, published, records, rows);
            }
            control.check()
        })?;
        for &(row, _) in rows {
            items(row).for_each(|&item| block.forget(item));
        }
        control.advance(rows.len() as u64)?;
    }
    let mut counts = vec![0; records.n()];
    for sieve in sieves {
        counts[sieve.record as usize] = sieve.count;
    }
    Ok(kind.into_iter().map(|first| counts[first as usize]).collect())
}

/// The different rows by the rarest items of their bases, the first of each kind and the number of its copies.
fn neighbours(published: &Published<'_>, rows_with: &[u32]) -> Vec<(u32, u32)> {
    let base = published.base;
    let keys = (0..base.n() as u32).into_par_iter().map(|row| {
        let mut rarest = [(u32::MAX, 0); RAREST];
        for &item in base.row(row) {
            let last = rarest.len() - 1;
            if (rows_with[item as usize], item) < rarest[last] {
                rarest[last] = (rows_with[item as usize], item);
                rarest.sort_unstable();
            }
        }
        (rarest, row)
    });
    let mut keys: Vec<Key> = keys.collect();
    let whole = |row: u32| (base.row(row), published.distance.row(row), published.threshold[row as usize]);
    keys.par_sort_unstable_by(|(a, row), (b, other)| {
        a.cmp(b).then_with(|| whole(*row).cmp(&whole(*other))).then(row.cmp(other))
    });
    let kinds = || keys.chunk_by(|(a, row), (b, other)| a == b && whole(*row) == whole(*other));
    let mut different = Vec::with_capacity(kinds().count());
    different.extend(kinds().map(|kind| (kind[0].1, kind.len() as u32)));
    different
}

/// The first of each kind of equal records, and for each record the first of its kind.
fn distinct(records: &Itemsets, control: &Control) -> Result<(Vec<u32>, Vec<u32>)> {
    memory::require(KINDS * records.n(), WHAT)?;
    let (mut firsts, mut distinct) = (HashMap::new(), vec![]);
    let mut kind = Vec::with_capacity(records.n());
    for (i, row) in (0u32..).zip(records.rows()) {
        let first = *firsts.entry(row).or_insert(i);
        if first == i {
            distinct.push(i);
        }
        kind.push(first);
        if i % (1 << 16) == 0 {
            control.check()?;
        }
    }
    Ok((distinct, kind))
}

/// Which of some rows have an item, in the base or in the distance bitmap.
struct Block {
    words: usize,
    rows: usize,
    /// For each item, the words that are not zero.
    somewhere: Vec<u64>,
    /// For each item, one word after another.
    bits: Vec<u64>,
}

impl Block {
    fn note(&mut self, item: u32, place: usize) {
        self.somewhere[item as usize] |= 1 << (place / 64);
        self.bits[item as usize * self.words + place / 64] |= 1 << (place % 64);
    }

    fn forget(&mut self, item: u32) {
        if std::mem::take(&mut self.somewhere[item as usize]) != 0 {
            self.bits[item as usize * self.words..][..self.words].fill(0);
        }
    }

    /// The words that have rows for all items.
    fn words_with(&self, items: &[u32]) -> u64 {
        let mut left = lowest(self.rows.div_ceil(64));
        for &item in items {
            left &= self.somewhere[item as usize];
            if left == 0 {
                break;
            }
        }
        left
    }

    /// The rows of a word that have all items.
    fn rows_with(&self, items: &[u32], word: usize) -> u64 {
        let mut left = lowest(self.rows - 64 * word);
        for &item in items {
            left &= self.bits[item as usize * self.words + word];
            if left == 0 {
                break;
            }
        }
        left
    }
}

/// The lowest `count` bits, or all.
fn lowest(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// The places of the bits that are set.
fn places(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < 64).then_some(place)
    })
}

/// A record that is looked for.
struct Sieve {
    record: u32,
    /// Its rarest items.
    items: Box<[u32]>,
    /// Rows found so far.
    count: u32,
}

impl Sieve {
    /// Counts the rows of a block that could be the record.
    fn sift(&mut self, block: &Block, published: &Published<'_>, records: &Itemsets, rows: &[(u32, u32)]) {
        let record = records.row(self.record);
        for word in places(block.words_with(&self.items)) {
            // The rarest items leave few rows or none; only then all others are worth a look.
            let mut left = block.rows_with(&self.items, word);
            if left != 0 {
                left &= block.rows_with(record, word);
            }
            for place in places(left) {
                let (row, copies) = rows[64 * word + place];
                let (base, distance) = (published.base.row(row), published.distance.row(row));
                let threshold = published.threshold[row as usize];
                self.count += copies * u32::from(could_be(record, base, distance, threshold));
            }
        }
    }
}

/// Whether a record differs from a base in at most `threshold` items, all of them in `distance`.
fn could_be(record: &[u32], base: &[u32], distance: &[u32], threshold: u32) -> bool {
    if record.len().abs_diff(base.len()) > threshold as usize {
        return false;
    }
    let (mut i, mut j, mut free, mut flipped) = (0, 0, 0, 0);
    while i < record.len() || j < base.len() {
        let (own, other) = (record.get(i).unwrap_or(&u32::MAX), base.get(j).unwrap_or(&u32::MAX));
        i += usize::from(own <= other);
        j += usize::from(other <= own);
        if own != other {
            let item = own.min(other);
            while distance.get(free).is_some_and(|other| other < item) {
                free += 1;
            }
            flipped += 1;
            if flipped > threshold || distance.get(free) != Some(item) {
                return false;
            }
        }
    }
    true
}
