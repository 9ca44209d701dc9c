//! Counting queries: how many records hold all of some items, or none of them.
//!
//! Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012, section 5.2.

use rand::seq::index::sample;
use rayon::prelude::*;

use super::Itemsets;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::rng::{Stream, Streams};

const NONE: u32 = u32::MAX;

/// Words that the bitmaps of one block of records may take.
const WORDS: usize = 1 << 18;

/// Draws item sets, each uniformly among all that have `size` of the items. O(queries · size).
pub fn draw(n_items: u32, size: u32, queries: u32, streams: &Streams, control: &Control) -> Result<Itemsets> {
    if size == 0 || size > n_items {
        return Err(Error::Parameter(format!("size = {size}: give 1 to {n_items} for as many items")));
    }
    let mut rng = streams.generator(Stream::Queries, 0);
    let total = size as usize * queries as usize;
    // Beside the queries: what one draw takes, which lists all items where a query has a good part of them.
    let draw = (4 * n_items as usize).min(2048 * size as usize) + 64 * size as usize;
    memory::require(total.saturating_mul(4).saturating_add(8 * (queries as usize + 1) + draw), "drawing queries")?;
    let (mut starts, mut items) = (Vec::with_capacity(queries as usize + 1), Vec::with_capacity(total));
    starts.push(0);
    for _ in 0..queries {
        control.check()?;
        let start = items.len();
        items.extend(sample(&mut rng, n_items as usize, size as usize).iter().map(|item| item as u32));
        items[start..].sort_unstable();
        starts.push(items.len());
    }
    Itemsets::new(n_items, starts, items)
}

/// For each query, how many records hold all its items, or, with `absent`, none of them.
///
/// The items that queries ask for become bitmaps over blocks of records. O(items + queries' items · n / 64), in
/// parallel.
pub fn count(sets: &Itemsets, queries: &Itemsets, absent: bool, control: &Control) -> Result<Vec<u64>> {
    if queries.n_items() > sets.n_items() {
        let message = format!("queries about {} items, but there are {}", queries.n_items(), sets.n_items());
        return Err(Error::Parameter(message));
    }
    let most = queries.items().len().min(sets.n_items() as usize);
    let blocks = sets.n().div_ceil(64 * words_of(most));
    let threads = rayon::current_num_threads().min(blocks);
    // A thread has bitmaps and counts. Where it has taken work from others, it keeps counts for each time that the work was halved.
    let bits = most.max(WORDS).min(256 * most);
    let counts = queries.n() * (3 + blocks.next_power_of_two().ilog2() as usize);
    memory::require(4 * sets.n_items() as usize + 8 * (threads * (bits + counts) + queries.n()), "counting queries")?;
    let mut slots = vec![NONE; sets.n_items() as usize];
    let mut asked = 0;
    for &item in queries.items() {
        if slots[item as usize] == NONE {
            slots[item as usize] = asked;
            asked += 1;
        }
    }
    let words = words_of(asked as usize);
    let block = 64 * words;
    control.begin(sets.n() as u64);
    let counts = (0..sets.n().div_ceil(block)).into_par_iter().try_fold(
        || Tally { bits: vec![0; words * asked as usize], met: vec![0; words], counts: vec![0; queries.n()] },
        |mut tally, number| {
            let records = number * block..((number + 1) * block).min(sets.n());
            tally.bits.fill(0);
            for (place, record) in records.clone().enumerate() {
                for &item in sets.row(record as u32) {
                    let slot = slots[item as usize];
                    if slot != NONE {
                        tally.bits[slot as usize * words + place / 64] |= 1 << (place % 64);
                    }
                }
            }
            control.check()?;
            for (query, count) in queries.rows().zip(&mut tally.counts) {
                tally.met.fill(if absent { 0 } else { u64::MAX });
                for &item in query {
                    let start = slots[item as usize] as usize * words;
                    for (met, &bits) in tally.met.iter_mut().zip(&tally.bits[start..start + words]) {
                        *met = if absent { *met | bits } else { *met & bits };
                    }
                }
                let met = tally.met.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
                // Places after the last record hold nothing, so they are never among those that hold something.
                *count += match (query.is_empty(), absent) {
                    (true, _) => records.len() as u64,
                    (false, true) => records.len() as u64 - met,
                    (false, false) => met,
                };
            }
            control.advance(records.len() as u64)?;
            Ok(tally)
        },
    );
    let add = |mut a: Vec<u64>, b: Vec<u64>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        Ok(a)
    };
    counts.map(|tally| tally.map(|tally| tally.counts)).try_reduce(|| vec![0; queries.n()], add)
}

/// Words of the bitmap of an item over one block, where so many items are asked for.
fn words_of(asked: usize) -> usize {
    (WORDS / asked.max(1)).clamp(1, 256)
}

/// What one thread counts.
struct Tally {
    /// For each item that is asked for, which records of the block hold it.
    bits: Vec<u64>,
    /// The records that hold all of a query, or some of it.
    met: Vec<u64>,
    counts: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sets(n_items: u32, rows: &[Vec<u32>]) -> Itemsets {
        let mut starts = vec![0];
        starts.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        Itemsets::new(n_items, starts, rows.concat()).unwrap()
    }

    fn rows(n_items: u32, most: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
        let row = prop::collection::btree_set(0..n_items, 0..n_items as usize);
        prop::collection::vec(row.prop_map(|row| row.into_iter().collect()), 0..most)
    }

    proptest! {
        #[test]
        fn counts_are_those_of_the_definition(rows in rows(8, 200), asked in rows(8, 9), absent: bool) {
            let found = count(&sets(8, &rows), &sets(8, &asked), absent, &Control::new()).unwrap();
            let meets = |query: &[u32], row: &[u32]| query.iter().all(|item| row.contains(item) != absent);
            let expected = asked.iter().map(|query| rows.iter().filter(|row| meets(query, row)).count() as u64);
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_records_are_counted_in_blocks() {
        let rows: Vec<Vec<u32>> = (0..100_000).map(|i| vec![i % 5, 5 + i % 3, 8 + i % 1_000]).collect();
        let all = sets(1_008, &rows);
        let asked = sets(1_008, &[vec![0, 5], vec![8 + 7], vec![1, 5, 8 + 6]]);
        assert_eq!(count(&all, &asked, false, &Control::new()).unwrap(), [6_667, 100, 34]);
        assert_eq!(count(&all, &asked, true, &Control::new()).unwrap()[1], 99_900);
        assert!(count(&asked, &sets(2_000, &[]), true, &Control::new()).is_err());
    }

    #[test]
    fn every_query_is_as_likely_as_any_other() {
        // 10 pairs of 5 items, 10,000 draws: chi-square with 9 degrees of freedom is above 27.9 once in a thousand.
        let (streams, control) = (Streams::new(Some(1)).unwrap(), Control::new());
        let drawn = draw(5, 2, 10_000, &streams, &control).unwrap();
        let mut times = std::collections::HashMap::new();
        for query in drawn.rows() {
            *times.entry(query).or_insert(0.0) += 1.0;
        }
        let chi_square: f64 = times.values().map(|t: &f64| (t - 1_000.0).powi(2) / 1_000.0).sum();
        assert!(times.len() == 10 && chi_square < 27.9, "{chi_square}");
        for size in [0, 6] {
            assert!(draw(5, size, 1, &streams, &control).is_err());
        }
        assert!(matches!(draw(u32::MAX, u32::MAX, u32::MAX, &streams, &control), Err(Error::Memory { .. })));
        control.stop();
        assert_eq!(draw(5, 2, 1, &streams, &control), Err(Error::Stopped));
    }
}
