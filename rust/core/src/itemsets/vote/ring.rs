//! Votes over a window that slides along an order: one record enters, one leaves.

use std::cmp::Ordering;
use std::ops::Range;

use super::{Majority, Part};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::itemsets::Itemsets;
use crate::memory;

const NONE: u32 = u32::MAX;

/// Positions between two looks at the control handle.
const LOOK: usize = 1 << 9;

/// An item: how many records of the window hold it, how many it needs to be set, and who holds it, the oldest first.
#[derive(Clone, Copy)]
struct Held {
    count: u32,
    need: u32,
    oldest: u32,
    newest: u32,
}

/// One item of one record in the window.
struct Entry {
    /// The entry of the same item in a younger record.
    next: u32,
    /// The record's slot in the window.
    slot: u32,
}

/// The `k` records that vote at one position, and what follows from them.
///
/// Records leave in the order in which they came, so the holders of an item are a queue. When an item changes sides,
/// its queue says whose distance from the base changes: nobody else is looked at.
pub(super) struct Window<'a> {
    sets: &'a Itemsets,
    k: u32,
    held: Vec<Held>,
    entries: Vec<Entry>,
    /// For each slot: items shared with the base, items in all, and one over these.
    shared: Vec<u32>,
    size: Vec<u32>,
    weight: Vec<f64>,
    /// What changes because one record leaves, and because one enters. A change in both is none.
    leaving: Changes,
    entering: Changes,
    changed: Vec<u32>,
}

/// Items that change sides, and items that begin or cease to differ, in order.
#[derive(Default)]
struct Changes {
    turned: Vec<u32>,
    differing: Vec<u32>,
}

/// How many positions a window can be moved on before its entries have no more numbers.
pub(super) fn longest_part(sets: &Itemsets, k: usize) -> Result<usize> {
    let longest = sets.rows().map(<[u32]>::len).max().unwrap_or(0).max(1);
    let rows = NONE as usize / longest;
    if rows > k {
        Ok(rows - k)
    } else {
        Err(Error::Size(format!("a window of {k} records of {longest} items is more than 2^32 entries")))
    }
}

impl<'a> Window<'a> {
    pub fn new(sets: &'a Itemsets, majority: &Majority, k: usize) -> Self {
        let need = |item| majority.need(item, k as u32);
        let held = |item| Held { count: 0, need: need(item), oldest: NONE, newest: NONE };
        Self {
            sets,
            k: k as u32,
            held: (0..sets.n_items()).map(held).collect(),
            entries: vec![],
            shared: vec![0; k],
            size: vec![0; k],
            weight: vec![0.0; k],
            leaving: Changes::default(),
            entering: Changes::default(),
            changed: vec![],
        }
    }

    /// The votes at some positions of an order.
    pub fn vote(&mut self, order: &[u32], nodes: Range<usize>, control: &Control) -> Result<Part> {
        let (n, k) = (order.len(), self.k as usize);
        let record = |position: usize| order[position % n];
        // Positions are counted from the oldest that votes at the first node; none of them is negative so.
        let oldest = nodes.start + n - (k - 1);
        let mut part = Part::default();
        // All entries that the window will have, and the items of the first.
        let places = oldest..oldest + k + nodes.len() - 1;
        let held = |places: Range<usize>| places.map(|place| self.sets.row(record(place)).len()).sum::<usize>();
        let (items, all) = (held(oldest..oldest + k), held(places));
        memory::require(4 * items + size_of::<Entry>() * all, "votes")?;
        self.entries.reserve_exact(all);
        let mut first: Vec<u32> = Vec::with_capacity(items);
        for slot in 0..k {
            let row = self.sets.row(record(oldest + slot));
            self.seat(slot, row.len());
            first.extend_from_slice(row);
            for &item in row {
                self.held[item as usize].count += 1;
                self.push(item, slot);
            }
            if slot % LOOK == 0 {
                control.check()?;
            }
        }
        first.sort_unstable();
        first.dedup();
        for item in first {
            let held = self.held[item as usize];
            if held.count >= held.need {
                part.base.push(item)?;
            }
            if held.count < self.k {
                part.distance.push(item)?;
            }
        }
        part.base.close()?;
        part.distance.close()?;
        for slot in 0..k {
            self.shared[slot] = self.shared_with_base(self.sets.row(record(oldest + slot)));
        }
        self.close(&mut part);
        for step in 1..nodes.len() {
            let (leaves, enters) = (record(oldest + step - 1), record(oldest + step + k - 1));
            self.slide(leaves, enters, (step - 1) % k, &mut part)?;
            if step % LOOK == 0 {
                control.advance(LOOK as u64)?;
            }
        }
        control.advance(((nodes.len() - 1) % LOOK) as u64 + 1)?;
        for position in oldest + nodes.len() - 1..oldest + nodes.len() - 1 + k {
            for &item in self.sets.row(record(position)) {
                let held = &mut self.held[item as usize];
                (held.count, held.oldest) = (0, NONE);
            }
        }
        self.entries.clear();
        Ok(part)
    }

    /// Gives a slot to a record of so many items.
    fn seat(&mut self, slot: usize, size: usize) {
        self.size[slot] = size as u32;
        self.weight[slot] = 1.0 / size.max(1) as f64;
    }

    fn shared_with_base(&self, row: &[u32]) -> u32 {
        let held = row.iter().map(|&item| self.held[item as usize]);
        held.filter(|held| held.count >= held.need).count() as u32
    }

    fn push(&mut self, item: u32, slot: usize) {
        let entry = self.entries.len() as u32;
        self.entries.push(Entry { next: NONE, slot: slot as u32 });
        let held = &mut self.held[item as usize];
        match held.oldest {
            NONE => held.oldest = entry,
            _ => self.entries[held.newest as usize].next = entry,
        }
        held.newest = entry;
    }

    fn pop(&mut self, item: u32) {
        let held = &mut self.held[item as usize];
        held.oldest = self.entries[held.oldest as usize].next;
    }

    /// One record takes the slot of the oldest. O(items of both + holders of the items that change sides).
    fn slide(&mut self, leaves: u32, enters: u32, slot: usize, part: &mut Part) -> Result<()> {
        let sets = self.sets;
        for &item in sets.row(leaves) {
            self.pop(item);
            self.lose(item);
        }
        let (row, mut shared) = (sets.row(enters), 0);
        for &item in row {
            // Before it joins the holders: its own distance is not what an item that turns has changed.
            shared += u32::from(self.gain(item));
            self.push(item, slot);
        }
        self.seat(slot, row.len());
        self.shared[slot] = shared;
        exclusive(&self.leaving.turned, &self.entering.turned, &mut self.changed);
        part.base.push_changed(&self.changed)?;
        exclusive(&self.leaving.differing, &self.entering.differing, &mut self.changed);
        part.distance.push_changed(&self.changed)?;
        for changes in [&mut self.leaving, &mut self.entering] {
            changes.turned.clear();
            changes.differing.clear();
        }
        self.close(part);
        Ok(())
    }

    /// One holder less of an item.
    #[inline]
    fn lose(&mut self, item: u32) {
        let held = &mut self.held[item as usize];
        let (before, need, oldest) = (held.count, held.need, held.oldest);
        held.count -= 1;
        if before == need {
            self.leaving.turned.push(item);
            self.turn(oldest, u32::MAX);
        }
        if (before == 1) != (before == self.k) {
            self.leaving.differing.push(item);
        }
    }

    /// One holder more of an item; tells whether the item is set now.
    #[inline]
    fn gain(&mut self, item: u32) -> bool {
        let held = &mut self.held[item as usize];
        held.count += 1;
        let (after, need, oldest) = (held.count, held.need, held.oldest);
        if after == need {
            self.entering.turned.push(item);
            self.turn(oldest, 1);
        }
        if (after == 1) != (after == self.k) {
            self.entering.differing.push(item);
        }
        after >= need
    }

    /// An item changes sides: its holders share one item more with the base, or, adding the largest number, one less.
    fn turn(&mut self, oldest: u32, change: u32) {
        let mut entry = oldest;
        while entry != NONE {
            let Entry { next, slot } = self.entries[entry as usize];
            let shared = &mut self.shared[slot as usize];
            *shared = shared.wrapping_add(change);
            entry = next;
        }
    }

    /// Ends a position: threshold and error of the window as it is.
    fn close(&self, part: &mut Part) {
        let base = part.base.last_size();
        let (mut threshold, mut error) = (0, 0.0);
        for ((&shared, &size), &weight) in self.shared.iter().zip(&self.size).zip(&self.weight) {
            let flipped = base + size - 2 * shared;
            threshold = threshold.max(flipped);
            error += f64::from(flipped) * weight;
        }
        part.threshold.push(threshold);
        part.error += error / f64::from(self.k);
    }
}

/// Items that are in one of two ordered lists and not in the other.
fn exclusive(a: &[u32], b: &[u32], out: &mut Vec<u32>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => {
                out.push(a[i]);
                i += 1;
            }
            Ordering::Greater => {
                out.push(b[j]);
                j += 1;
            }
            Ordering::Equal => (i, j) = (i + 1, j + 1),
        }
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
}
