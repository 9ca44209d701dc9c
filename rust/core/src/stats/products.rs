//! Sums of products of two distances over all pairs of records, without going through the pairs.
//!
//! A distance of nested categories is a sum over the groups that two of them share (see [`crate::meaning`]). So the sum over
//! all pairs of records of a product of two such distances is a sum over pairs of groups, one of each column, of what the
//! records in both add: by the classes of these records, since nothing else counts. A record is in as many pairs of groups
//! as there are levels above its values, and once it is alone in one, all smaller ones come to a single term.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::meaning::nested::Nested;

/// Records that have the same two values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) count: f64,
}

/// Points from which work is given to other threads.
const SHARED: usize = 1 << 12;

/// Points up to which all pairs are less work than to sort them by class.
const FEW: usize = 12;

/// Bytes for each point that sums of products take: itself, a place to sort it, its part, and what that adds.
pub(super) const GROUPED: usize = 72;

/// The sum of products of both distances where values of both columns are in nested groups.
///
/// With `P` points, O(P log P · levels of the first column) and, for each pair of groups, the square of the number of
/// classes in it. Sums are added in the order of the groups, so threads cannot change the last digit.
pub(super) fn of_groups(points: &mut [Point], a: &Nested, b: &Nested, control: &Control) -> Result<f64> {
    control.begin(points.len() as u64);
    points.par_sort_unstable_by_key(|p| (b.place[p.y as usize], p.y, p.x));
    down(points, 0, a, b, control)
}

/// The part of points that share a group of the first column; they are in the order of the second.
fn down(points: &mut [Point], level: usize, a: &Nested, b: &Nested, control: &Control) -> Result<f64> {
    if points.len() < 2 {
        // Its distance from itself, in the second column, is a factor.
        control.advance(points.len() as u64)?;
        return Ok(0.0);
    }
    let kind = a.kind(a.groups(points[0].x)[level]);
    let sum = Cells { a, b, kind, control }.across(points, 0)?;
    let below = |p: &Point| a.groups(p.x).get(level + 1).copied();
    points.sort_unstable_by_key(|p| (below(p), b.place[p.y as usize], p.y, p.x));
    Ok(sum + of_parts(points, below, |part| down(part, level + 1, a, b, control), control)?)
}

/// Sums up parts of points, which are in their order: those that share a group `below`. The first may have none.
fn of_parts(
    points: &mut [Point],
    below: impl Fn(&Point) -> Option<u32>,
    of_part: impl Fn(&mut [Point]) -> Result<f64> + Send + Sync,
    control: &Control,
) -> Result<f64> {
    let shared = points.len() > SHARED;
    let mut parts = Vec::with_capacity(points.chunk_by(|p, q| below(p) == below(q)).count());
    parts.extend(points.chunk_by_mut(|p, q| below(p) == below(q)));
    if below(&parts[0][0]).is_none() {
        control.advance(parts.remove(0).len() as u64)?;
    }
    if shared {
        // Summed up one after another, so that the sum does not depend on threads.
        let sums: Result<Vec<f64>> = parts.into_par_iter().with_max_len(1).map(of_part).collect();
        return Ok(sums?.iter().sum());
    }
    parts.into_iter().map(of_part).sum()
}

/// Pairs of one group of the first column, and all of the second.
struct Cells<'a> {
    a: &'a Nested,
    b: &'a Nested,
    /// Kind of the group of the first column.
    kind: u32,
    control: &'a Control,
}

impl Cells<'_> {
    /// The part of points that share a group of the second column too.
    fn across(&self, points: &[Point], level: usize) -> Result<f64> {
        let b = self.b;
        let kind = b.kind(b.groups(points[0].y)[level]);
        if let &[Point { x, y, count }] = points {
            let (a, c) = (self.a.class(x), b.class(y));
            return Ok(-count * count * self.a.step(self.kind, a, a) * b.around(kind, c, c));
        }
        let mut sum = self.pairs(points, kind)?;
        let below = |p: &Point| b.groups(p.y).get(level + 1).copied();
        let parts = points.chunk_by(|p, q| below(p) == below(q)).filter(|part| below(&part[0]).is_some());
        if points.len() > SHARED {
            self.control.check()?;
            let parts: Vec<&[Point]> = parts.collect();
            let sums: Result<Vec<f64>> =
                parts.into_par_iter().with_max_len(1).map(|part| self.across(part, level + 1)).collect();
            sum += sums?.iter().sum::<f64>();
        } else {
            for part in parts {
                sum += self.across(part, level + 1)?;
            }
        }
        Ok(sum)
    }

    /// What a pair of groups adds, for all pairs of points in both, by their classes.
    fn pairs(&self, points: &[Point], kind: u32) -> Result<f64> {
        let classed = |p: &Point| (self.a.class(p.x), self.b.class(p.y), p.count);
        if points.len() <= FEW {
            let mut few = [(0, 0, 0.0); FEW];
            few.iter_mut().zip(points).for_each(|(cell, point)| *cell = classed(point));
            return Ok((0..points.len()).map(|i| self.row(&few[..=i], kind)).sum());
        }
        let mut cells: Vec<(u32, u32, f64)> = points.iter().map(classed).collect();
        cells.sort_unstable_by_key(|cell| (cell.0, cell.1));
        cells.dedup_by(|next, cell| {
            let same = (next.0, next.1) == (cell.0, cell.1);
            cell.2 += if same { next.2 } else { 0.0 };
            same
        });
        if cells.len() <= 256 {
            return Ok((0..cells.len()).map(|i| self.row(&cells[..=i], kind)).sum());
        }
        let rows: Result<Vec<f64>> = (0..cells.len())
            .into_par_iter()
            .map(|i| self.control.check().map(|()| self.row(&cells[..=i], kind)))
            .collect();
        Ok(rows?.iter().sum())
    }

    /// What the last of some classes adds, with itself and with those before it.
    fn row(&self, cells: &[(u32, u32, f64)], kind: u32) -> f64 {
        let Some((&(x, y, count), before)) = cells.split_last() else { return 0.0 };
        let step = |a: u32, b: u32| self.a.step(self.kind, x, a) * self.b.step(kind, y, b);
        let others: f64 = before.iter().map(|&(a, b, n)| n * step(a, b)).sum();
        count * (2.0 * others + count * step(x, y))
    }
}

/// The sum of products where the first column is on a line and the values of the second are in nested groups.
///
/// O(P log P · levels), and the classes of each group for each of its points.
pub(super) fn along_groups(points: &mut [Point], line: &[f64], b: &Nested, control: &Control) -> Result<f64> {
    control.begin(points.len() as u64);
    let order =
        |p: &Point, q: &Point| line[p.x as usize].total_cmp(&line[q.x as usize]).then((p.x, p.y).cmp(&(q.x, q.y)));
    points.par_sort_unstable_by(order);
    let low = points.first().map_or(0.0, |p| line[p.x as usize]);
    along(points, 0, &|x: u32| line[x as usize] - low, b, control)
}

fn along<F>(points: &mut [Point], level: usize, at: &F, b: &Nested, control: &Control) -> Result<f64>
where
    F: Fn(u32) -> f64 + Sync,
{
    if points.len() < 2 {
        control.advance(points.len() as u64)?;
        return Ok(0.0);
    }
    let kind = b.kind(b.groups(points[0].y)[level]);
    // Of the points that come before: class, number, and sum of positions.
    let mut before: Vec<(u32, f64, f64)> = Vec::new();
    let mut sum = 0.0;
    let classed = |p: &Point| b.class(p.y);
    let classes = {
        let mut found: Vec<u32> = points.iter().map(classed).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    before.extend(classes.iter().map(|&class| (class, 0.0, 0.0)));
    for (i, p) in points.iter().enumerate() {
        if i % 1024 == 1023 {
            control.check()?;
        }
        let (x, class) = (at(p.x), classed(p));
        let to_before: f64 = before.iter().map(|&(c, n, moment)| b.step(kind, class, c) * (x * n - moment)).sum();
        sum += 2.0 * p.count * to_before;
        let own = &mut before[classes.partition_point(|&c| c < class)];
        own.1 += p.count;
        own.2 += p.count * x;
    }
    drop((before, classes));
    let below = |p: &Point| b.groups(p.y).get(level + 1).copied();
    // Stable: the points of each group stay in the order of the line.
    points.sort_by_key(below);
    Ok(sum + of_parts(points, below, |part| along(part, level + 1, at, b, control), control)?)
}

/// The sum of |x − x'|·|y − y'| over all pairs of records: x, y and number of each. O(P log P).
///
/// That is (x − x')·(y − y'), a matter of moments, less twice the same of the pairs that x and y order differently. These
/// are found as in counting inversions.
pub(super) fn of_lines(points: &mut [[f64; 3]], control: &Control) -> Result<f64> {
    control.begin(points.len() as u64);
    let n: f64 = points.iter().map(|p| p[2]).sum();
    // Around the mean, moments lose fewer digits; from the smallest, a constant is exactly 0.
    for side in 0..2 {
        let low = points.iter().map(|p| p[side]).fold(f64::INFINITY, f64::min);
        for p in &mut *points {
            p[side] -= low;
        }
        let mean = points.iter().map(|p| p[2] * p[side]).sum::<f64>() / n;
        for p in &mut *points {
            p[side] -= mean;
        }
    }
    points.par_sort_unstable_by(|p, q| p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1])));
    let mut moments = [0.0; 3];
    for &[x, y, count] in &*points {
        moments.iter_mut().zip([x, y, x * y]).for_each(|(sum, product)| *sum += count * product);
    }
    let mut room = vec![[0.0; 3]; points.len()];
    let crossed = crossed(points, &mut room, control)?;
    Ok(2.0 * (n * moments[2] - moments[0] * moments[1]) - 4.0 * crossed)
}

/// The sum of (x − x')·(y − y') over pairs of which the first is lower in x and higher in y. Sorts points by y.
fn crossed(points: &mut [[f64; 3]], room: &mut [[f64; 3]], control: &Control) -> Result<f64> {
    let n = points.len();
    if n < 2 {
        return Ok(0.0);
    }
    if n <= SHARED {
        control.check()?;
    }
    let middle = n / 2;
    let (low, high) = points.split_at_mut(middle);
    let (room_low, room_high) = room.split_at_mut(middle);
    let (mut sum, other) = if n > SHARED {
        let (a, b) = rayon::join(|| crossed(low, room_low, control), || crossed(high, room_high, control));
        (a?, b?)
    } else {
        (crossed(low, room_low, control)?, crossed(high, room_high, control)?)
    };
    sum += other;
    // From the top: of the lower half, what is above in y so far.
    let [mut number, mut of_x, mut of_y, mut of_both] = [0.0; 4];
    let (mut i, mut j) = (middle, n);
    for slot in (0..n).rev() {
        if j == middle || (i > 0 && points[i - 1][1] > points[j - 1][1]) {
            i -= 1;
            let [x, y, count] = points[i];
            number += count;
            of_x += count * x;
            of_y += count * y;
            of_both += count * x * y;
            room[slot] = points[i];
        } else {
            j -= 1;
            let [x, y, count] = points[j];
            sum += count * (x * y * number - x * of_y - y * of_x + of_both);
            room[slot] = points[j];
        }
    }
    points.copy_from_slice(room);
    if n > SHARED / 2 && n <= SHARED {
        control.advance(n as u64)?;
    }
    Ok(sum)
}
