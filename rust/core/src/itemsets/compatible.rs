//! Possible worlds: which published rows a record could be.
//!
//! A row says: my record is the base, except for at most `threshold` items among those of the distance bitmap.

use std::collections::HashMap;

use rayon::prelude::*;

use super::Itemsets;
use crate::control::Control;
use crate::error::{Error, Result};

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

/// Published rows that are sifted together, in words of bits.
const BLOCK: usize = 64;

/// Words that the bitmaps of one block may take.
const WORDS: usize = 1 << 22;

/// Records that one thread takes at a time.
const RECORDS: usize = 1 << 10;

/// For each record, how many published rows it could be.
///
/// A row that could be a record has all its items, in the base or in the distance bitmap; few rows have its rarest
/// ones. Rows are taken in blocks, as one bitmap for each item; a record's bitmaps are intersected, the rarest item first,
/// until none is left, and what is left is compared item by item. Equal records are asked for once. O(n · records / 64)
/// words at worst, mostly the first few of each block; in parallel.
pub fn count(published: &Published<'_>, records: &Itemsets, control: &Control) -> Result<Vec<u32>> {
    let (n, n_items) = (published.base.n(), published.base.n_items());
    if (published.distance.n(), published.threshold.len()) != (n, n)
        || [published.distance.n_items(), records.n_items()] != [n_items; 2]
    {
        return Err(Error::Parameter("base, distance and threshold of the same rows, over the same items".to_owned()));
    }
    let (distinct, kind) = distinct(records, control)?;
    let mut rows_with = published.base.frequencies();
    for (count, more) in rows_with.iter_mut().zip(published.distance.frequencies()) {
        *count = count.saturating_add(more);
    }
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
    let words = (WORDS / (n_items as usize).max(1)).clamp(1, BLOCK);
    control.begin(n as u64);
    let mut bits = vec![0u64; words * n_items as usize];
    for first in (0..n).step_by(64 * words) {
        let rows = first as u32..(first + 64 * words).min(n) as u32;
        for (place, row) in rows.clone().enumerate() {
            for &item in published.base.row(row).iter().chain(published.distance.row(row)) {
                bits[item as usize * words + place / 64] |= 1 << (place % 64);
            }
        }
        sieves.par_chunks_mut(RECORDS).try_for_each(|sieves| {
            let mut left = vec![0; words];
            for sieve in sieves {
                sieve.sift(&bits, rows.len(), &mut left);
                sieve.compare(published, records, first as u32, &left);
            }
            control.check()
        })?;
        for row in rows.clone() {
            for &item in published.base.row(row).iter().chain(published.distance.row(row)) {
                bits[item as usize * words..(item as usize + 1) * words].fill(0);
            }
        }
        control.advance(rows.len() as u64)?;
    }
    let mut counts = vec![0; records.n()];
    for sieve in sieves {
        counts[sieve.record as usize] = sieve.count;
    }
    Ok(kind.into_iter().map(|first| counts[first as usize]).collect())
}

/// The first of each kind of equal records, and for each record the first of its kind.
fn distinct(records: &Itemsets, control: &Control) -> Result<(Vec<u32>, Vec<u32>)> {
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

/// A record that is looked for.
struct Sieve {
    record: u32,
    /// Its rarest items.
    items: Box<[u32]>,
    /// Rows found so far.
    count: u32,
}

impl Sieve {
    /// Leaves the rows of a block that have all the items.
    fn sift(&self, bits: &[u64], rows: usize, left: &mut [u64]) {
        let words = left.len();
        for (i, word) in left.iter_mut().enumerate() {
            let places = rows.saturating_sub(64 * i);
            *word = if places < 64 { (1 << places) - 1 } else { u64::MAX };
        }
        for &item in &self.items {
            let mut any = 0;
            for (left, &bits) in left.iter_mut().zip(&bits[item as usize * words..]) {
                *left &= bits;
                any |= *left;
            }
            if any == 0 {
                return;
            }
        }
    }

    /// Counts those among the rows left that could be the record.
    fn compare(&mut self, published: &Published<'_>, records: &Itemsets, first: u32, left: &[u64]) {
        let record = records.row(self.record);
        for (word, &bits) in (0..).zip(left) {
            let mut bits = bits;
            while bits != 0 {
                let row = first + 64 * word + bits.trailing_zeros();
                bits &= bits - 1;
                let (base, distance) = (published.base.row(row), published.distance.row(row));
                self.count += u32::from(could_be(record, base, distance, published.threshold[row as usize]));
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
