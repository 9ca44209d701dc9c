//! What the values inside every group must obey, and sets of records divided so that both parts obey it.
//!
//! A constraint is kept by two groups together if each keeps it: so one group of all records is where everything starts, and
//! groups can always be joined. [`Divider`] goes the other way.

use rand::seq::SliceRandom;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::rng::{Stream, Streams};

/// A limit to how many records of a group have the same value: a person's records among others, or a sensitive value.
#[derive(Debug, Clone, Copy)]
pub struct Constraint<'a> {
    /// Value of each record. Codes say what is equal, nothing else.
    pub values: &'a [u32],
    /// In every group, records with one value number at most one of so many.
    pub share: usize,
}

/// Values as codes without gaps, for each constraint.
pub(super) struct Coded {
    pub(super) values: Vec<u32>,
    pub(super) distinct: usize,
    pub(super) share: usize,
}

/// Checks that one group of all records keeps every constraint, and numbers the values by chance: groups are as likely
/// whatever codes were given. Constraints that any group keeps are left out.
pub(super) fn coded(
    constraints: &[Constraint<'_>],
    n: usize,
    streams: &Streams,
    control: &Control,
) -> Result<Vec<Coded>> {
    // The values of each, of one also in order, and their numbers.
    memory::require(size_of::<u32>() * n * (constraints.len() + 2), "the constraints of groups")?;
    let of_constraint = |(number, constraint): (usize, &Constraint<'_>)| {
        let Constraint { values, share } = *constraint;
        control.check()?;
        if values.len() != n {
            let message = format!("constraint {number} has {} values for {n} records", values.len());
            return Err(Error::Parameter(message));
        }
        if share == 0 {
            return Err(Error::Parameter(format!("constraint {number} has a share of 0; give at least 1")));
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let most = sorted.chunk_by(|a, b| a == b).max_by_key(|equal| (equal.len(), std::cmp::Reverse(equal[0])));
        if let Some(most) = most
            && most.len().saturating_mul(share) > n
        {
            return Err(Error::Parameter(format!(
                "constraint {number}: value {} is on {} of {n} records, but groups in which a value is on at most one of \
                 {share} need it on at most {}; choose a share of at most {}",
                most[0],
                most.len(),
                n / share,
                n / most.len()
            )));
        }
        sorted.dedup();
        let mut numbers: Vec<u32> = (0..sorted.len() as u32).collect();
        numbers.shuffle(&mut streams.generator(Stream::FirstOrder, number as u32 + 1));
        let code = |value: &u32| numbers[sorted.partition_point(|known| known < value)];
        Ok(Coded { values: values.iter().map(code).collect(), distinct: sorted.len(), share })
    };
    constraints.iter().enumerate().filter(|(_, c)| c.share != 1 || c.values.len() != n).map(of_constraint).collect()
}

/// Records that are looked at for an exchange where several constraints are in each other's way.
const LOOKS: usize = 512;

/// Distances from the half at which the first part may end, beside those that fit best.
const SIZES: usize = 8;

/// Divides records, given by their places in an order, so that both parts keep all constraints.
pub(super) struct Divider<'a> {
    shares: &'a [usize],
    /// Values of each place, one for each constraint; those of two constraints have no number in common.
    values: Vec<u32>,
    /// How often each value is in the first and in the second part; all zero between two calls.
    counts: [Vec<u32>; 2],
}

impl<'a> Divider<'a> {
    /// For records in their order, each with one value for each constraint.
    pub(super) fn new<'v>(shares: &'a [usize], records: impl ExactSizeIterator<Item = &'v [u32]>) -> Self {
        let constraints = shares.len();
        let mut values = vec![0; records.len() * constraints];
        for (place, record) in records.enumerate() {
            values[place * constraints..][..constraints].copy_from_slice(record);
        }
        // Numbered from 0, so that counts need little room.
        let mut distinct: Vec<u64> = Vec::with_capacity(values.len());
        let key = |cell: usize, value: u32| ((cell % constraints) as u64) << 32 | u64::from(value);
        distinct.extend(values.iter().enumerate().map(|(cell, &value)| key(cell, value)));
        distinct.sort_unstable();
        distinct.dedup();
        for (cell, value) in values.iter_mut().enumerate() {
            let key = key(cell, *value);
            *value = distinct.partition_point(|&known| known < key) as u32;
        }
        let counts = [vec![0; distinct.len()], vec![0; distinct.len()]];
        Self { shares, values, counts }
    }

    /// Bytes for the values of so many records, in order and counted in two parts; and for their division.
    pub(super) fn needs(records: usize, constraints: usize) -> usize {
        records * (constraints * (3 * size_of::<u32>() + size_of::<u64>()) + 10 * size_of::<u32>())
    }

    fn values(&self, place: u32) -> &[u32] {
        &self.values[place as usize * self.shares.len()..][..self.shares.len()]
    }

    /// Cuts places again and again, in two parts of consecutive ones but for what constraints ask, into groups of at least
    /// `k`. Parts of up to `enough` places are left as they are. Writes the sizes; the places are put into the order of the
    /// groups.
    pub(super) fn split(
        &mut self,
        places: &mut [u32],
        k: usize,
        enough: usize,
        sizes: &mut Vec<u32>,
        control: &Control,
    ) -> Result<()> {
        let n = places.len();
        if n > enough.max(2 * k - 1) {
            control.check()?;
            let base = self.base(places, k);
            for (first, base) in halves(n, k, base) {
                for proportional in [false, true] {
                    if self.divide(places, first, base, proportional) {
                        let (left, right) = places.split_at_mut(first);
                        self.split(left, k, enough, sizes, control)?;
                        return self.split(right, k, enough, sizes, control);
                    }
                }
            }
        }
        sizes.push(n as u32);
        Ok(())
    }

    /// The smallest size of equal groups in which there is room for every value, and for a tenth more if that is possible.
    fn base(&mut self, places: &[u32], k: usize) -> usize {
        let n = places.len();
        let mut most = vec![0; self.shares.len()];
        for &place in places {
            for (c, most) in most.iter_mut().enumerate() {
                let value = self.values(place)[c] as usize;
                self.counts[0][value] += 1;
                *most = self.counts[0][value].max(*most);
            }
        }
        self.clear(places);
        let limits = || most.iter().map(|&most| most as usize).zip(self.shares);
        let room = |size: usize| limits().all(|(most, &share)| capacity(n, size, share) >= most);
        let ample = |size: usize| {
            limits().all(|(most, &share)| size.is_multiple_of(share) || 10 * n * (size / share) >= 11 * most * size)
                && room(size)
        };
        (k..2 * k).find(|&size| ample(size)).or_else(|| (k..=n / 2).find(|&size| room(size))).unwrap_or(n)
    }

    /// Draws so many of the places, of all values alike, so that these and the others keep the constraints.
    pub(super) fn draw(&mut self, size: usize) -> Option<Vec<u32>> {
        let n = self.values.len() / self.shares.len();
        let mut places: Vec<u32> = (0..n as u32).collect();
        self.divide(&mut places, size, n, true).then(|| places[..size].to_vec())
    }

    fn clear(&mut self, places: &[u32]) {
        for &place in places {
            for c in 0..self.shares.len() {
                let value = self.values(place)[c] as usize;
                self.counts[0][value] = 0;
                self.counts[1][value] = 0;
            }
        }
    }

    /// Divides places in two so that there are `first` in the first part, and puts these to the front; each part in its
    /// former order. Both have room for groups of the size `base`. Leaves everything as it is where that was not found.
    ///
    /// Begins with the first ones, or with every value's share of them where it is to be proportional. Then values of which a
    /// part has too many go to the other one, those nearest to the border first; then others, until the sizes are right.
    ///
    /// With one constraint that finds a way wherever there is one: a value with too many can always go, since it has room in
    /// both parts together; and where a part is too large there is a value that the other has room for.
    fn divide(&mut self, places: &mut [u32], first: usize, base: usize, proportional: bool) -> bool {
        let n = places.len();
        let of_part = |size: usize| self.shares.iter().map(|&share| capacity(size, base, share) as u32).collect();
        let room: [Vec<u32>; 2] = [of_part(first), of_part(n - first)];
        let mut second: Vec<bool> = (0..n).map(|i| i >= first).collect();
        if proportional {
            let mut by_value: Vec<usize> = (0..n).collect();
            by_value.sort_by_key(|&i| self.values(places[i]));
            for (rank, i) in by_value.into_iter().enumerate() {
                second[i] = (rank + 1) * first / n == rank * first / n;
            }
        }
        for (&place, &second) in places.iter().zip(&second) {
            for c in 0..self.shares.len() {
                let value = self.values(place)[c] as usize;
                self.counts[usize::from(second)][value] += 1;
            }
        }
        let right = self.kept(places, &second, &room);
        let found = right || self.repair(places, &mut second, first, &room);
        self.clear(places);
        if found && (proportional || !right) {
            let mut parts = [Vec::with_capacity(first), Vec::with_capacity(n - first)];
            for (&place, &second) in places.iter().zip(&second) {
                parts[usize::from(second)].push(place);
            }
            places.copy_from_slice(&parts.concat());
        }
        found
    }

    /// Moves places between the parts until both have the right size and room for all their values.
    fn repair(&mut self, places: &[u32], second: &mut [bool], first: usize, room: &[Vec<u32>; 2]) -> bool {
        let n = places.len();
        // From the border outwards, on the side of a part first.
        let outwards = |part: usize| {
            let of_first = move |i: usize| if i < first { first - 1 - i } else { i };
            let of_second = move |i: usize| if i < n - first { first + i } else { n - 1 - i };
            (0..n).map(move |i| if part == 0 { of_first(i) } else { of_second(i) })
        };
        for part in [0, 1] {
            for i in outwards(part) {
                if usize::from(second[i]) == part
                    && self.too_many(places[i], part, room)
                    && self.fits(places[i], 1 - part, room)
                {
                    self.transfer(places[i], part);
                    second[i] = part == 0;
                }
            }
        }
        let now = second.iter().filter(|&&second| !second).count();
        let (part, mut surplus) = if now > first { (0, now - first) } else { (1, first - now) };
        for strict in [true, false] {
            for i in outwards(part) {
                if surplus == 0 {
                    break;
                }
                if usize::from(second[i]) == part && (!strict || self.fits(places[i], 1 - part, room)) {
                    self.transfer(places[i], part);
                    second[i] = part == 0;
                    surplus -= 1;
                }
            }
            if self.shares.len() == 1 {
                break; // no need, see above
            }
        }
        if surplus > 0 {
            return false;
        }
        let mut looks = LOOKS + 16 * n;
        for i in outwards(0) {
            let part = usize::from(second[i]);
            if !self.too_many(places[i], part, room) {
                continue;
            }
            if self.shares.len() == 1 {
                return false;
            }
            // Several constraints: an exchange with somebody that leaves less to be mended.
            for j in outwards(1 - part).filter(|&j| usize::from(second[j]) != part).take(LOOKS) {
                looks = looks.saturating_sub(1);
                if self.excess(places[i], places[j], part, room) < 0 {
                    self.transfer(places[i], part);
                    self.transfer(places[j], 1 - part);
                    second.swap(i, j);
                    break;
                }
            }
            if looks == 0 {
                return false;
            }
        }
        self.kept(places, second, room)
    }

    /// Whether both parts have room for all their values.
    fn kept(&self, places: &[u32], second: &[bool], room: &[Vec<u32>; 2]) -> bool {
        places.iter().zip(second).all(|(&place, &second)| !self.too_many(place, usize::from(second), room))
    }

    fn too_many(&self, place: u32, part: usize, room: &[Vec<u32>; 2]) -> bool {
        self.values(place).iter().zip(&room[part]).any(|(&value, &room)| self.counts[part][value as usize] > room)
    }

    fn fits(&self, place: u32, part: usize, room: &[Vec<u32>; 2]) -> bool {
        self.values(place).iter().zip(&room[part]).all(|(&value, &room)| self.counts[part][value as usize] < room)
    }

    fn transfer(&mut self, place: u32, from: usize) {
        for c in 0..self.shares.len() {
            let value = self.values(place)[c] as usize;
            self.counts[from][value] -= 1;
            self.counts[1 - from][value] += 1;
        }
    }

    /// What an exchange would add to the number of places that are too many.
    fn excess(&self, place: u32, other: u32, part: usize, room: &[Vec<u32>; 2]) -> i32 {
        let mut sum = 0;
        for (c, (&a, &b)) in self.values(place).iter().zip(self.values(other)).enumerate() {
            if a != b {
                let lost = |value: u32, part: usize| i32::from(self.counts[part][value as usize] > room[part][c]);
                let gained = |value: u32, part: usize| i32::from(self.counts[part][value as usize] >= room[part][c]);
                sum += gained(b, part) - lost(a, part) + gained(a, 1 - part) - lost(b, 1 - part);
            }
        }
        sum
    }
}

/// Draws copies of members, which have `values`, evenly over all, so that these and the others keep the constraints. Looks no
/// further where that is not easy; a [`Divider`] does, which takes several times as long.
pub(super) fn draw_evenly<'v>(
    shares: &[usize],
    copies: &[u32],
    size: usize,
    values: impl Fn(usize) -> &'v [u32],
) -> Option<Vec<u32>> {
    let total = copies.iter().sum::<u32>() as usize;
    let mut numbers = Numbers::new(copies.len() * shares.len());
    let numbered: Vec<usize> =
        (0..copies.len()).flat_map(|member| keys(values(member))).map(|k| numbers.get(k)).collect();
    let own = |member: usize| numbered[member * shares.len()..][..shares.len()].iter().zip(shares);
    let mut counts = vec![0; numbers.len()];
    for (member, &copies) in copies.iter().enumerate() {
        for (&value, share) in own(member) {
            counts[value] += copies as usize;
            if counts[value] * share > total - size {
                return None; // what is left may have too many
            }
        }
    }
    counts.fill(0);
    let mut drawn = vec![0; copies.len()];
    let (mut seen, mut done) = (0, 0);
    for (member, &copies) in copies.iter().enumerate() {
        seen += copies as usize;
        // Those that are due by now, also instead of earlier ones with too many of their value.
        while done * total < seen * size && drawn[member] < copies {
            if own(member).any(|(&value, share)| (counts[value] + 1) * share > size) {
                break;
            }
            own(member).for_each(|(&value, _)| counts[value] += 1);
            drawn[member] += 1;
            done += 1;
        }
    }
    (done == size).then_some(drawn)
}

/// Values, one for each constraint, told apart from those of other constraints.
pub(super) fn keys(values: &[u32]) -> impl Iterator<Item = u64> {
    (0..).zip(values).map(|(constraint, &value)| constraint << 32 | u64::from(value))
}

/// Numbers some keys from 0, in the order in which they come first.
pub(super) struct Numbers {
    /// Keys with their numbers, each at the first free place from where its hash is.
    slots: Vec<(u64, usize)>,
    count: usize,
}

impl Numbers {
    const FREE: u64 = u64::MAX;

    /// For up to so many keys.
    pub(super) fn new(keys: usize) -> Self {
        Self { slots: vec![(Self::FREE, 0); (2 * keys).next_power_of_two().max(2)], count: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The number of a key, which is a new one where it was not there before.
    #[inline]
    pub(super) fn get(&mut self, key: u64) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.slots.len().trailing_zeros())) as usize;
        loop {
            let (known, number) = &mut self.slots[slot];
            if *known == Self::FREE {
                (*known, *number) = (key, self.count);
                self.count += 1;
            }
            if *known == key {
                return *number;
            }
            slot = (slot + 1) & last;
        }
    }
}

/// How many of `n` records may have the same value if they make groups of the size `base`, but for what is left over.
fn capacity(n: usize, base: usize, share: usize) -> usize {
    let full = (n / base).saturating_sub(1);
    full * (base / share) + (n - full * base) / share
}

/// Sizes of the first of two parts, and sizes of the groups to come, in the order in which to try them.
fn halves(n: usize, k: usize, base: usize) -> Vec<(usize, usize)> {
    let half = (n / base / 2).max(1) * base;
    let mut sizes = vec![half, n.saturating_sub(half), base, n.saturating_sub(base)];
    let best = sizes.len();
    // The others are for few records, or for constraints that are in each other's way.
    let step = (n / 2 - k) / SIZES + 1;
    for distance in (0..SIZES).map(|i| i * step) {
        sizes.extend([n / 2 + distance, (n / 2).saturating_sub(distance)]);
    }
    let fitting = sizes[..best].iter().map(|&first| (first, base));
    let tries = fitting.chain(sizes.iter().map(|&first| (first, n)));
    tries.filter(|&(first, _)| (k..=n - k).contains(&first)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_draws_keep_constraints_on_both_sides() {
        // Copies of members with a first value of their own and few second ones.
        let mut easy = 0;
        for case in 0..200u32 {
            let copies: Vec<u32> = (0..10 + case % 30).map(|member| (member * 7 + case) % 4).collect();
            let values: Vec<[u32; 2]> = (0..).zip(&copies).map(|(member, _)| [member, member % 5]).collect();
            let (shares, total) = ([4, 2], copies.iter().sum::<u32>());
            let size = total / 3;
            let drawn = draw_evenly(&shares, &copies, size as usize, |member| &values[member]);
            let Some(drawn) = drawn else { continue };
            easy += 1;
            assert_eq!(drawn.iter().sum::<u32>(), size);
            let left: Vec<u32> = copies.iter().zip(&drawn).map(|(all, drawn)| all - drawn).collect();
            for part in [drawn, left] {
                for (c, share) in shares.into_iter().enumerate() {
                    for value in 0..copies.len() as u32 {
                        let with_value = part.iter().zip(&values).filter(|(_, values)| values[c] == value);
                        assert!(with_value.map(|(copies, _)| copies).sum::<u32>() * share as u32 <= part.iter().sum());
                    }
                }
            }
        }
        assert!(easy > 50, "{easy}");
    }

    #[test]
    fn numbers_tell_keys_apart() {
        let mut numbers = Numbers::new(1000);
        for round in 0..2 {
            for key in 0..1000 {
                assert_eq!(numbers.get((key * key) << 20), key as usize, "round {round}");
            }
        }
        assert_eq!(numbers.len(), 1000);
    }
}
