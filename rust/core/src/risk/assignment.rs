//! The assignment problem: one column for each row of a matrix, no column twice, at the smallest total cost.

use crate::control::Control;
use crate::error::{Error, Result};

const NONE: u32 = u32::MAX;

/// The largest cost that keeps sums over any path exact.
pub(super) const LARGEST: f64 = (1u64 << 40) as f64;

/// The column of each row of a matrix that has at least as many columns as rows, row after row; costs are not above
/// [`LARGEST`] in absolute value.
///
/// Shortest augmenting paths on reduced costs (Jonker and Volgenant): rows whose cheapest column is free take it, and each
/// of the others is brought in by one run of Dijkstra's algorithm. O(rows² × columns) at most. Costs are whole numbers, so
/// that what is equal stays equal.
pub(super) fn assign(costs: &[i64], rows: usize, columns: usize, control: &Control) -> Result<Vec<u32>> {
    if rows > columns || costs.len() != rows * columns {
        return Err(Error::Parameter(format!("{} costs for {rows} rows and {columns} columns", costs.len())));
    }
    let line = |row: usize| &costs[row * columns..][..columns];
    let mut of_row: Vec<i64> = (0..rows).map(|row| line(row).iter().copied().min().unwrap_or(0)).collect();
    let mut of_column = vec![0i64; columns];
    let (mut column_of, mut row_of) = (vec![NONE; rows], vec![NONE; columns]);
    for row in 0..rows {
        let cheapest = (0..columns).find(|&column| row_of[column] == NONE && line(row)[column] == of_row[row]);
        if let Some(column) = cheapest {
            (column_of[row], row_of[column]) = (column as u32, row as u32);
        }
    }
    let mut shortest = vec![0i64; columns];
    let mut before = vec![NONE; columns];
    let (mut open, mut closed) = (Vec::with_capacity(columns), Vec::with_capacity(columns));
    for start in 0..rows {
        if column_of[start] != NONE {
            continue;
        }
        control.check()?;
        shortest.fill(i64::MAX);
        open.clear();
        open.extend(0..columns as u32);
        closed.clear();
        let (mut row, mut length) = (start, 0);
        let end = loop {
            let (costs, base) = (line(row), length - of_row[row]);
            // Of equally near columns a free one ends the search.
            let (mut nearest, mut place) = ((i64::MAX, true), 0);
            for (at, &column) in open.iter().enumerate() {
                let c = column as usize;
                let through = base + costs[c] - of_column[c];
                if through < shortest[c] {
                    (shortest[c], before[c]) = (through, row as u32);
                }
                let this = (shortest[c], row_of[c] != NONE);
                if this < nearest {
                    (nearest, place) = (this, at);
                }
            }
            length = nearest.0;
            let column = open.swap_remove(place);
            if row_of[column as usize] == NONE {
                break column;
            }
            closed.push(column);
            row = row_of[column as usize] as usize;
        };
        of_row[start] += length;
        for &column in &closed {
            let gain = length - shortest[column as usize];
            of_row[row_of[column as usize] as usize] += gain;
            of_column[column as usize] -= gain;
        }
        let mut column = end;
        loop {
            let row = before[column as usize];
            row_of[column as usize] = row;
            let next = std::mem::replace(&mut column_of[row as usize], column);
            if row as usize == start {
                break;
            }
            column = next;
        }
    }
    Ok(column_of)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::{Stream, Streams};

    /// The smallest total cost, by trying everything.
    fn least(costs: &[i64], columns: usize, taken: u32) -> i64 {
        if costs.is_empty() {
            return 0;
        }
        let free = (0..columns).filter(|column| taken & 1 << column == 0);
        free.map(|c| costs[c] + least(&costs[columns..], columns, taken | 1 << c)).min().unwrap()
    }

    #[test]
    fn no_assignment_is_cheaper() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(0), 0);
        for case in 0..2_000 {
            let rows = rng.random_range(0..7usize);
            let columns = rows + rng.random_range(0..3usize);
            let most = [1, 3, 20, 1 << 40][case % 4];
            let costs: Vec<i64> = (0..rows * columns).map(|_| rng.random_range(-most..=most)).collect();
            let found = assign(&costs, rows, columns, &Control::new()).unwrap();
            let total: i64 = found.iter().enumerate().map(|(row, &c)| costs[row * columns + c as usize]).sum();
            let mut once = found.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!((once.len(), total), (rows, least(&costs, columns, 0)), "{costs:?}");
        }
        assert!(assign(&[1, 2], 2, 1, &Control::new()).is_err());
    }
}
