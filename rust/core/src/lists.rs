//! Many short lists of numbers, without an allocation for each.

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

    /// The list `i`.
    #[inline]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
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
