//! First groups of records with distinct labels.

use std::collections::BTreeSet;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;

/// Groups between two looks at the control handle.
const STEPS: usize = 1 << 10;

/// What needs memory here.
const WHAT: &str = "groups of records with distinct labels";

/// Bytes of a label, in lists and two ordered sets.
const LABEL: usize = 96;

/// Puts the records into groups of at least `l`, along the order, so that no two of a group share a label.
///
/// Every group takes the first records of the order that are left and whose labels it does not have yet. There are
/// g = ⌊n / l⌋ groups of ⌊n / g⌋ or ⌈n / g⌉ records. This always completes if no label is on more than n / l records,
/// because of one rule: while t groups are still to be formed, the next one takes a record of every label that is on t of
/// the r records left. That keeps every label on at most as many records as there are groups to come:
///
/// - At first t = g, and a label is on at most n / l records; so, being whole, on at most g.
/// - The next group has room for what it must take. Labels on t records each make up t records, so there are at most
///   ⌊r / t⌋ of them; and the group has ⌊r / t⌋ or ⌈r / t⌉ records.
/// - The next group finds enough labels. Each is on at most t records, so there are at least ⌈r / t⌉ of them.
/// - Afterwards every label is on at most t − 1 records: one with t lost one, others had no more than that.
///
/// O(n log labels).
pub(super) fn first(labels: &[u32], order: &[u32], l: usize, control: &Control) -> Result<Lists> {
    let n = order.len();
    memory::require(5 * size_of::<u32>() * n, WHAT)?;
    let mut coded: Vec<u32> = labels.to_vec();
    coded.sort_unstable();
    coded.dedup();
    memory::require(4 * size_of::<u32>() * n + LABEL * coded.len(), WHAT)?;
    let code = |record: u32| coded.partition_point(|&label| label < labels[record as usize]) as u32;
    // Positions in the order, by label.
    let codes: Vec<u32> = order.iter().map(|&record| code(record)).collect();
    let positions = Lists::group(coded.len(), codes.iter().zip(0..).map(|(&code, position)| (code, position)));
    let count = |code: usize| positions.of(code).len();
    if let Some(most) = (0..coded.len()).max_by_key(|&code| (count(code), std::cmp::Reverse(code)))
        && count(most) * l > n
    {
        return Err(Error::Parameter(format!(
            "label {} is on {} of {n} records; groups of {l} distinct labels need every label on at most {}",
            coded[most],
            count(most),
            n / l
        )));
    }
    let mut taken = vec![0; coded.len()];
    // Labels by the first record left, and by how many are left.
    let mut nearest: BTreeSet<(u32, u32)> = (0..coded.len()).map(|code| (positions.of(code)[0], code as u32)).collect();
    let mut left: BTreeSet<(usize, u32)> = (0..coded.len()).map(|code| (count(code), code as u32)).collect();
    let groups = n / l;
    let mut lists = Lists::builder(groups, n);
    let mut rest = n;
    // The number of groups to come at which a label was last forced.
    let mut forced_at = vec![0; coded.len()];
    let mut chosen = Vec::new();
    for to_come in (1..=groups).rev() {
        if to_come % STEPS == 0 {
            control.check()?;
        }
        let size = rest / to_come;
        rest -= size;
        let forced = || left.iter().rev().take_while(|(count, _)| *count == to_come).map(|&(_, code)| code);
        for code in forced() {
            forced_at[code as usize] = to_come;
        }
        chosen.clear();
        chosen.extend(forced().map(|code| (positions.of(code as usize)[taken[code as usize]], code)));
        let free = size - chosen.len();
        chosen.extend(nearest.iter().filter(|(_, code)| forced_at[*code as usize] != to_come).take(free));
        for &(position, code) in &chosen {
            let (all, taken) = (positions.of(code as usize), &mut taken[code as usize]);
            nearest.remove(&(position, code));
            left.remove(&(all.len() - *taken, code));
            *taken += 1;
            if let Some(&next) = all.get(*taken) {
                nearest.insert((next, code));
                left.insert((all.len() - *taken, code));
            }
        }
        lists.push(chosen.iter().map(|&(position, _)| order[position as usize]));
    }
    Ok(lists)
}
