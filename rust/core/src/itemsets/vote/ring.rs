//! Votes over a window that slides along an order: one record enters, one leaves.

use std::ops::Range;

use super::{Majority, Part};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::itemsets::Itemsets;

const NONE: u32 = u32::MAX;

/// Positions between two looks at the control handle.
const LOOK: usize = 1 << 9;

/// An item inside the window: how many records hold it, and these, the oldest first.
#[derive(Clone, Copy)]
struct Held {
    count: u32,
    oldest: u32,
    newest: u32,
}

const ABSENT: Held = Held { count: 0, oldest: NONE, newest: NONE };

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
    majority: &'a Majority,
    k: u32,
    held: Vec<Held>,
    entries: Vec<Entry>,
    /// For each slot: items shared with the base, items in all, and one over these.
    shared: Vec<u32>,
    size: Vec<u32>,
    weight: Vec<f64>,
    /// Items that change sides or begin or cease to differ, in order.
    turned: Vec<u32>,
    differing: Vec<u32>,
}

/// How many positions a window can be moved on before its entries have no more numbers.
pub(super) fn longest_part(sets: &Itemsets, k: usize) -> Result<usize> {
    let longest = sets.rows().map(<[u32]>::len).max().unwrap_or(0).max(1);
    let rows = NONE as usize / longest;
    if rows > k { Ok(rows - k) } else { Err(Error::Memory(k * longest)) }
}

impl<'a> Window<'a> {
    pub fn new(sets: &'a Itemsets, majority: &'a Majority, k: usize) -> Self {
        Self {
            sets,
            majority,
            k: k as u32,
            held: vec![ABSENT; sets.n_items() as usize],
            entries: vec![],
            shared: vec![0; k],
            size: vec![0; k],
            weight: vec![0.0; k],
            turned: vec![],
            differing: vec![],
        }
    }

    /// The votes at some positions of an order.
    pub fn vote(&mut self, order: &[u32], nodes: Range<usize>, control: &Control) -> Result<Part> {
        let (n, k) = (order.len(), self.k as usize);
        let record = |position: usize| order[position % n];
        // Positions are counted from the oldest that votes at the first node; none of them is negative so.
        let oldest = nodes.start + n - (k - 1);
        let mut part = Part::default();
        let mut first: Vec<u32> = vec![];
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
            let count = self.held[item as usize].count;
            if self.majority.holds(item, count, self.k) {
                part.base.items.push(item);
            }
            if count < self.k {
                part.distance.items.push(item);
            }
        }
        part.base.close();
        part.distance.close();
        for slot in 0..k {
            self.shared[slot] = self.shared_with_base(self.sets.row(record(oldest + slot)));
        }
        self.close(&mut part);
        for step in 1..nodes.len() {
            let (leaves, enters) = (record(oldest + step - 1), record(oldest + step + k - 1));
            self.slide(leaves, enters, (step - 1) % k, &mut part);
            if step % LOOK == 0 {
                control.advance(LOOK as u64)?;
            }
        }
        control.advance(((nodes.len() - 1) % LOOK) as u64 + 1)?;
        for position in oldest + nodes.len() - 1..oldest + nodes.len() - 1 + k {
            for &item in self.sets.row(record(position)) {
                self.held[item as usize] = ABSENT;
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
        let holds = |&&item: &&u32| self.majority.holds(item, self.held[item as usize].count, self.k);
        row.iter().filter(holds).count() as u32
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
    fn slide(&mut self, leaves: u32, enters: u32, slot: usize, part: &mut Part) {
        let sets = self.sets;
        let (old, new) = (sets.row(leaves), sets.row(enters));
        self.turned.clear();
        self.differing.clear();
        let (mut i, mut j) = (0, 0);
        while i < old.len() || j < new.len() {
            let (out, into) = (old.get(i).copied().unwrap_or(NONE), new.get(j).copied().unwrap_or(NONE));
            let item = out.min(into);
            if out == item {
                self.pop(item);
                i += 1;
            }
            if out != into {
                self.recount(item, into == item);
            }
            if into == item {
                // Only now: the newcomer is not among those whose distance an item that turns has changed.
                self.push(item, slot);
                j += 1;
            }
        }
        self.seat(slot, new.len());
        self.shared[slot] = self.shared_with_base(new);
        part.base.push_changed(&self.turned);
        part.distance.push_changed(&self.differing);
        self.close(part);
    }

    /// One holder more or less of an item.
    fn recount(&mut self, item: u32, more: bool) {
        let held = &mut self.held[item as usize];
        let before = held.count;
        held.count = if more { before + 1 } else { before - 1 };
        let (after, mut entry) = (held.count, held.oldest);
        let holds = self.majority.holds(item, after, self.k);
        if self.majority.holds(item, before, self.k) != holds {
            self.turned.push(item);
            while entry != NONE {
                let Entry { next, slot } = self.entries[entry as usize];
                let shared = &mut self.shared[slot as usize];
                *shared = if holds { *shared + 1 } else { *shared - 1 };
                entry = next;
            }
        }
        let differs = |count| count > 0 && count < self.k;
        if differs(before) != differs(after) {
            self.differing.push(item);
        }
    }

    /// Ends a position: threshold and error of the window as it is.
    fn close(&self, part: &mut Part) {
        let rows = part.base.starts.len() - 1;
        let base = part.base.row(rows - 1).len() as u32;
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
