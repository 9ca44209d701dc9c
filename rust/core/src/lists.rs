//! Many short lists of numbers, without an allocation for each.

use crate::error::{Error, Result};
use crate::memory;

/// Lists of numbers in two flat arrays.
#[derive(Debug, Clone, Default)]
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Groups items by key: of each pair, the second goes to the list that the first names. Keeps their order. O(n + pairs).
    pub fn group(n: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; n + 1];
        for (key, _) in pairs.clone() {
            starts[key as usize + 1] += 1;
        }
        for i in 0..n {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut grouped = vec![0; starts[n] as usize];
        for (key, item) in pairs {
            let slot = &mut next[key as usize];
            grouped[*slot as usize] = item;
            *slot += 1;
        }
        Self { starts, items: grouped }
    }

    /// The records of each group, from the group of each record: in ascending order, or in that of `order`. A group number
    /// that no record has makes an empty list. O(n).
    pub fn by_group(group_of: &[u32], order: Option<&[u32]>) -> Result<Self> {
        let n = group_of.len();
        let groups = group_of.iter().max().map_or(0, |&last| last as usize + 1);
        if groups > n {
            return Err(Error::Parameter(format!("group {}, but there are {n} records", groups - 1)));
        }
        memory::require(Self::needs(groups, n), "the records of each group")?;
        Ok(match order {
            None => Self::group(groups, group_of.iter().copied().zip(0..)),
            Some(order) => {
                positions(order, n, "an order")?;
                Self::group(groups, order.iter().map(|&record| (group_of[record as usize], record)))
            }
        })
    }

    /// Bytes that [`Lists::group`] takes for so many lists and items.
    pub(crate) fn needs(lists: usize, items: usize) -> usize {
        8 * (lists + 1) + 4 * items
    }

    /// Starts an empty collection to which lists are [`Lists::push`]ed one after another.
    pub fn builder(lists: usize, items: usize) -> Self {
        let mut starts = Vec::with_capacity(lists + 1);
        starts.push(0);
        Self { starts, items: Vec::with_capacity(items) }
    }

    /// Appends one list.
    pub fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.items.extend(list);
        self.starts.push(self.items.len() as u32);
    }

    /// Appends one list where there was no room set aside for its items.
    pub(crate) fn try_push(&mut self, list: &[u32], what: &str) -> Result<()> {
        memory::room(&mut self.items, list.len(), what)?;
        self.push(list.iter().copied());
        Ok(())
    }

    /// The list `i`.
    #[inline]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// All lists in turn.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.starts.windows(2).map(|pair| &self.items[pair[0] as usize..pair[1] as usize])
    }

    /// The list `i`, to be put into another order.
    pub fn of_mut(&mut self, i: usize) -> &mut [u32] {
        &mut self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Number of lists.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// All items, list after list.
    pub fn into_items(self) -> Vec<u32> {
        self.items
    }

    /// Items in all lists.
    pub fn total(&self) -> usize {
        self.items.len()
    }
}

/// The position of each of `n` records in an order; fails unless each has one. O(n).
pub(crate) fn positions(order: &[u32], n: usize, what: &str) -> Result<Vec<u32>> {
    let mut positions = vec![u32::MAX; n];
    let once = |(position, &record): (u32, &u32)| {
        positions.get_mut(record as usize).is_some_and(|slot| std::mem::replace(slot, position) == u32::MAX)
    };
    if order.len() == n && (0..).zip(order).all(once) {
        Ok(positions)
    } else {
        Err(Error::Parameter(format!("{what} has each of the {n} records once")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_groups() {
        let lists = |group_of: &[u32], order: Option<&[u32]>| {
            Lists::by_group(group_of, order).map(|lists| lists.iter().map(<[u32]>::to_vec).collect::<Vec<_>>())
        };
        assert_eq!(lists(&[], None), Ok(vec![]));
        assert_eq!(lists(&[2, 0, 2], None), Ok(vec![vec![1], vec![], vec![0, 2]]));
        assert_eq!(lists(&[2, 0, 2], Some(&[2, 1, 0])), Ok(vec![vec![1], vec![], vec![2, 0]]));
        for (group_of, order) in
            [(&[0, 3, 0][..], None), (&[u32::MAX], None), (&[0, 0], Some(&[0, 0][..])), (&[0, 0], Some(&[0]))]
        {
            assert!(lists(group_of, order).is_err());
        }
    }
}
