//! Rows as text, one a line: the format of the frequent itemset mining repository, and releases in its manner.

use std::ops::Range;

use rayon::prelude::*;

use super::{Itemsets, rows};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// The largest item number that a file may have.
pub const LARGEST: u32 = i32::MAX as u32;

/// Bytes that one thread takes at a time.
const PIECE: usize = 1 << 20;

/// Reads transactions: whole numbers between blanks, one transaction a line. An empty line is a transaction without
/// items; a line feed at the very end begins none.
///
/// Item numbers may have gaps: the sets are numbered by the items that occur, which are returned in order.
/// O(bytes), in parallel. Errors name the line.
pub fn parse(data: &[u8], control: &Control) -> Result<(Itemsets, Vec<u32>)> {
    control.begin(2 * data.len() as u64);
    if data.is_empty() {
        return Ok((Itemsets::new(0, vec![0], vec![])?, vec![]));
    }
    let pieces = pieces(data.strip_suffix(b"\n").unwrap_or(data));
    let sizes = pieces.par_iter().map(|piece| {
        control.advance(piece.len() as u64)?;
        Ok(Size::of(piece))
    });
    let sizes = sizes.collect::<Result<Vec<_>>>()?;
    let (rows, total) = sizes.iter().fold((0, 0), |(rows, items), size| (rows + size.rows, items + size.items));
    memory::require(4 * total + 8 * (rows + 1), "reading item sets")?;
    let (mut starts, mut items) = (vec![0; rows + 1], vec![0; total]);
    fill(&pieces, &sizes, &mut starts[1..], &mut items, control)?;
    let mut end = 0;
    for start in &mut starts {
        end += *start;
        *start = end;
    }
    let ids = number(&mut items, control)?;
    if let Some((row, item)) = rows::sort(&starts, &mut items, control)? {
        let (line, id) = (row + 1, ids[item as usize]);
        return Err(Error::Parameter(format!("line {line}: item {id} occurs twice; an item is in a set or it is not")));
    }
    Ok((Itemsets::new(ids.len() as u32, starts, items)?, ids))
}

/// Cuts text at line feeds, about every `PIECE` bytes. The line feeds at the cuts belong to neither side.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let (mut pieces, mut left) = (vec![], text);
    while let Some(cut) = left.iter().skip(PIECE).position(|&byte| byte == b'\n') {
        let (piece, rest) = left.split_at(PIECE + cut);
        pieces.push(piece);
        left = &rest[1..];
    }
    pieces.push(left);
    pieces
}

/// How many lines a piece has, and how many items they hold.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    items: usize,
}

impl Size {
    fn of(piece: &[u8]) -> Self {
        let (mut size, mut before) = (Self { rows: 1, items: 0 }, true);
        for &byte in piece {
            let blank = byte.is_ascii_whitespace();
            size.rows += usize::from(byte == b'\n');
            size.items += usize::from(before && !blank);
            before = blank;
        }
        size
    }
}

/// Writes the length of each row and the number of each item.
fn fill(pieces: &[&[u8]], sizes: &[Size], lengths: &mut [usize], items: &mut [u32], control: &Control) -> Result<()> {
    let (mut lengths, mut items) = (lengths, items);
    let mut tasks = Vec::with_capacity(pieces.len());
    let mut line = 1;
    for (&piece, size) in pieces.iter().zip(sizes) {
        let (own_lengths, other_lengths) = std::mem::take(&mut lengths).split_at_mut(size.rows);
        let (own_items, other_items) = std::mem::take(&mut items).split_at_mut(size.items);
        (lengths, items) = (other_lengths, other_items);
        tasks.push((line, piece, own_lengths, own_items));
        line += size.rows;
    }
    let faults = tasks.into_par_iter().map(|(line, piece, lengths, items)| {
        let mut room = items.iter_mut();
        for (i, text) in piece.split(|&byte| byte == b'\n').enumerate() {
            for token in text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty()) {
                let Some(item) = whole(token) else {
                    let shown: String = String::from_utf8_lossy(token).chars().take(40).collect();
                    let fault =
                        format!("line {}: {shown:?} is not an item: whole numbers from 0 to {LARGEST}", line + i);
                    return Ok(Some(fault));
                };
                if let Some(cell) = room.next() {
                    *cell = item;
                }
                lengths[i] += 1;
            }
        }
        control.advance(piece.len() as u64)?;
        Ok(None)
    });
    match faults.collect::<Result<Vec<_>>>()?.into_iter().flatten().next() {
        Some(fault) => Err(Error::Parameter(fault)),
        None => Ok(()),
    }
}

fn whole(token: &[u8]) -> Option<u32> {
    let mut number = 0u32;
    for &byte in token {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u32::from(digit))?;
    }
    (number <= LARGEST).then_some(number)
}

/// Numbers the items by those that occur, in place, and gives these in order.
fn number(items: &mut [u32], control: &Control) -> Result<Vec<u32>> {
    // One bit for each possible item, and before each word the number of bits before it: a rank is one look-up.
    let words = items.par_iter().max().map_or(0, |&largest| largest as usize / 64 + 1);
    if words > 8 * items.len() + (1 << 16) {
        return number_few(items, control);
    }
    let most = items.len().min(64 * words);
    memory::require(16 * words + 4 * most, "numbering items")?;
    let mut occurs = vec![(0u64, 0u32); words];
    for part in items.chunks(PIECE) {
        control.check()?;
        for &item in part {
            occurs[item as usize / 64].0 |= 1 << (item % 64);
        }
    }
    let mut ids = Vec::with_capacity(occurs.iter().map(|word| word.0.count_ones() as usize).sum());
    for (place, word) in (0u32..).zip(&mut occurs) {
        word.1 = ids.len() as u32;
        let mut bits = word.0;
        while bits != 0 {
            ids.push(64 * place + bits.trailing_zeros());
            bits &= bits - 1;
        }
    }
    items.par_chunks_mut(PIECE).try_for_each(|part| {
        for item in part {
            let (bits, before) = occurs[*item as usize / 64];
            *item = before + (bits & ((1 << (*item % 64)) - 1)).count_ones();
        }
        control.check()
    })?;
    Ok(ids)
}

/// The same where items are few and their numbers large.
fn number_few(items: &mut [u32], control: &Control) -> Result<Vec<u32>> {
    memory::require(4 * items.len(), "numbering items")?;
    let mut ids = items.to_vec();
    ids.par_sort_unstable();
    ids.dedup();
    items.par_chunks_mut(PIECE).try_for_each(|part| {
        for item in part {
            *item = ids.partition_point(|id| id < item) as u32;
        }
        control.check()
    })?;
    Ok(ids)
}

/// What stands on a line of a release after the base: bits that may differ, how many of them do, and the label.
pub struct Margin<'a> {
    /// Items on which preimages disagree.
    pub distance: &'a Itemsets,
    /// Largest number of items in which a preimage differs.
    pub threshold: &'a [u32],
    /// Labels of the rows to be written, if there are any.
    pub labels: Option<&'a [String]>,
}

/// The lines of some rows: names of items between blanks; with a margin, `items | items | threshold | label`.
pub fn write(sets: &Itemsets, names: &[String], margin: Option<&Margin<'_>>, rows: Range<u32>) -> Result<Vec<u8>> {
    let n = sets.n();
    let fits = |m: &Margin<'_>| {
        let labels = m.labels.is_none_or(|labels| labels.len() == rows.len());
        m.distance.n() == n && m.distance.n_items() == sets.n_items() && m.threshold.len() == n && labels
    };
    if names.len() != sets.n_items() as usize || rows.end as usize > n || !margin.is_none_or(fits) {
        return Err(Error::Parameter("one name for each item, and one row of each kind for each record".to_owned()));
    }
    let mut out = vec![];
    for (place, row) in rows.enumerate() {
        line(sets.row(row), names, &mut out)?;
        if let Some(margin) = margin {
            out.extend_from_slice(b" | ");
            line(margin.distance.row(row), names, &mut out)?;
            out.extend_from_slice(format!(" | {}", margin.threshold[row as usize]).as_bytes());
            if let Some(labels) = margin.labels {
                memory::room(&mut out, labels[place].len() + MARKS, LINES)?;
                out.extend_from_slice(b" | ");
                out.extend_from_slice(labels[place].as_bytes());
            }
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// What lines of a release have beside names: bars, a threshold and the line feed, at most.
const MARKS: usize = 24;
const LINES: &str = "lines of item sets";

/// Writes the names of some items, and leaves room for the marks that follow.
fn line(row: &[u32], names: &[String], out: &mut Vec<u8>) -> Result<()> {
    let bytes: usize = row.iter().map(|&item| names[item as usize].len() + 1).sum();
    memory::room(out, bytes + MARKS, LINES)?;
    for (i, &item) in row.iter().enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(names[item as usize].as_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> std::result::Result<Vec<Vec<u32>>, String> {
        let (sets, ids) = parse(text.as_bytes(), &Control::new()).map_err(|e| e.to_string())?;
        Ok(sets.rows().map(|row| row.iter().map(|&item| ids[item as usize]).collect()).collect())
    }

    #[test]
    fn lines_are_rows() {
        for (text, rows) in [
            ("", vec![]),
            ("\n", vec![vec![]]),
            ("1 3 7 \n2 3", vec![vec![1, 3, 7], vec![2, 3]]),
            ("10000000\t5\r\n\n0\r\n", vec![vec![5, 10_000_000], vec![], vec![0]]),
            ("2147483647", vec![vec![LARGEST]]),
            (" \n\n", vec![vec![], vec![]]),
        ] {
            assert_eq!(read(text), Ok(rows), "{text:?}");
        }
        assert_eq!(read("1\n\n2 x3").unwrap_err(), "line 3: \"x3\" is not an item: whole numbers from 0 to 2147483647");
        for wrong in ["-1", "1.0", "2147483648", "99999999999999999999", "1,2"] {
            assert!(read(wrong).unwrap_err().starts_with("line 1: "));
        }
        assert!(read("1\n4 2 4").unwrap_err().starts_with("line 2: item 4 occurs twice"));
    }

    #[test]
    fn long_texts_are_cut_at_line_feeds() {
        let row = |i: u32| vec![i % 1_000, 1_000 + i % 7, 5_000_000 + i];
        let n = 300_000;
        let mut text = String::new();
        for i in 0..n {
            let row = row(i);
            text.push_str(&[row[2], row[0], row[1]].map(|item| item.to_string()).join(" "));
            text.push('\n');
        }
        assert!(text.len() > 4 * PIECE);
        assert_eq!(read(&text).unwrap(), (0..n).map(row).collect::<Vec<_>>());
        text.push_str("1 1\n2 2\n");
        assert!(read(&text).unwrap_err().starts_with("line 300001: item 1 "));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec(prop::collection::btree_set(0u32..5_000, 0..9), 0..40)) {
            let line = |row: &BTreeSet<u32>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ") + "\n";
            let text: String = rows.iter().map(line).collect();
            let (sets, ids) = parse(text.as_bytes(), &Control::new()).unwrap();
            let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let n = rows.len() as u32;
            let written = write(&sets, &names, None, 0..n).unwrap();
            prop_assert_eq!(parse(&written, &Control::new()).unwrap(), (sets.clone(), ids));
            prop_assert_eq!(String::from_utf8(written).unwrap(), text);
            prop_assert!(write(&sets, &names, None, 0..n + 1).is_err());
        }
    }

    #[test]
    fn a_release_has_four_fields() {
        let (base, ids) = parse(b"3 5\n\n", &Control::new()).unwrap();
        let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let distance = Itemsets::new(2, vec![0, 1, 2], vec![1, 1]).unwrap();
        let labels = ["flu".to_owned(), "a | b".to_owned()];
        let mut margin = Margin { distance: &distance, threshold: &[1, 0], labels: Some(&labels) };
        assert_eq!(write(&base, &names, Some(&margin), 0..2).unwrap(), b"3 5 | 5 | 1 | flu\n | 5 | 0 | a | b\n");
        margin.threshold = &[1];
        assert!(write(&base, &names, Some(&margin), 0..2).is_err());
    }
}
