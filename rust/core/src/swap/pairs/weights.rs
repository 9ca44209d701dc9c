//! Fenwick trees on slices: weights that change, and the entry at which their sum passes a number. O(log n) each.

/// Turns weights into a tree of their sums.
pub fn build(tree: &mut [u64]) {
    for i in 1..=tree.len() {
        let above = i + (i & i.wrapping_neg());
        if above <= tree.len() {
            tree[above - 1] += tree[i - 1];
        }
    }
}

/// Takes from one weight.
pub fn take(tree: &mut [u64], at: usize, by: u64) {
    let mut i = at + 1;
    while i <= tree.len() {
        tree[i - 1] -= by;
        i += i & i.wrapping_neg();
    }
}

/// The entry that holds unit `unit` of all weights laid end to end, and how far inside it the unit lies.
///
/// `sum` gives the weight of a node of the tree, so that weights can be put together from several trees.
pub fn find(len: usize, sum: impl Fn(usize) -> u64, mut unit: u64) -> (usize, u64) {
    let mut at = 0;
    let mut step = if len == 0 { 0 } else { 1 << len.ilog2() };
    while step > 0 {
        if at + step <= len && sum(at + step - 1) <= unit {
            at += step;
            unit -= sum(at - 1);
        }
        step >>= 1;
    }
    (at, unit)
}

/// Sum of the weights before an entry.
pub fn before(tree: &[u64], at: usize) -> u64 {
    let (mut i, mut sum) = (at, 0);
    while i > 0 {
        sum += tree[i - 1];
        i &= i - 1;
    }
    sum
}

/// The weight of an entry.
pub fn of(tree: &[u64], at: usize) -> u64 {
    before(tree, at + 1) - before(tree, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_found_in_its_entry() {
        for len in 0..20usize {
            let mut weights: Vec<u64> = (0..len as u64).map(|i| i * 7 % 4).collect();
            let mut tree = weights.clone();
            build(&mut tree);
            if len > 3 {
                weights[3] -= 1;
                take(&mut tree, 3, 1);
            }
            let units: Vec<(usize, u64)> = (0..len).flat_map(|i| (0..weights[i]).map(move |u| (i, u))).collect();
            for (unit, &expected) in units.iter().enumerate() {
                assert_eq!(find(len, |node| tree[node], unit as u64), expected);
            }
            for (at, &weight) in weights.iter().enumerate() {
                assert_eq!(of(&tree, at), weight);
            }
            for at in 0..=len {
                assert_eq!(before(&tree, at), weights[..at].iter().sum::<u64>());
            }
        }
    }
}
