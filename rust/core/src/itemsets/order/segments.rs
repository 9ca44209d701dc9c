//! Where to cut an order into segments.

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::{Error, Result};

/// Cuts a sequence into segments of `sizes.0` to `sizes.1` records such that the distances between the last record of a
/// segment and the first of the next sum up to the least; `gaps[i]` is the distance between records i and i + 1. (Equation 1
/// of the paper, with the minimum over the last breakpoint taken from a sliding window: O(n) for any sizes.)
///
/// Fewer records than `sizes.0` are one segment. Where no sizes in the range sum up to the whole, the upper bound is raised
/// to the smallest that allows it.
pub(super) fn segments(n: usize, gaps: &[u32], sizes: (usize, usize)) -> Result<Vec<Range<usize>>> {
    let (low, high) = sizes;
    if low == 0 || low > high {
        return Err(Error::Parameter(format!("segments of {low} to {high} records; sizes go up from at least 1")));
    }
    let most = n / low;
    if most == 0 {
        return Ok((n > 0).then_some(0..n).into_iter().collect());
    }
    let high = high.max(n.div_ceil(most));
    let gap = |i: usize| if i == 0 { 0 } else { u64::from(gaps[i - 1]) };
    // The least sum for the first i records, and where the last segment begins then.
    let mut least = vec![(u64::MAX, 0); n + 1];
    least[0] = (0, 0);
    // Beginnings of the last segment with their sums, such that each is smaller than all later ones.
    let mut window: VecDeque<(u64, usize)> = VecDeque::new();
    for end in low..=n {
        let begin = end - low;
        if least[begin].0 < u64::MAX {
            let sum = least[begin].0 + gap(begin);
            while window.back().is_some_and(|&(other, _)| other >= sum) {
                window.pop_back();
            }
            window.push_back((sum, begin));
        }
        while window.front().is_some_and(|&(_, begin)| begin + high < end) {
            window.pop_front();
        }
        if let Some(&best) = window.front() {
            least[end] = best;
        }
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while end > 0 {
        let begin = least[end].1;
        cuts.push(begin..end);
        end = begin;
    }
    cuts.reverse();
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The least sum by trying every last breakpoint, as in the paper.
    fn least(n: usize, gaps: &[u32], (low, high): (usize, usize)) -> Option<u32> {
        let mut sums: Vec<Option<u32>> = vec![Some(0)];
        for end in 1..=n {
            let begins = end.saturating_sub(high)..(end + 1).saturating_sub(low);
            let sum = |begin: usize| Some(sums[begin]? + if begin == 0 { 0 } else { gaps[begin - 1] });
            sums.push(begins.filter_map(sum).min());
        }
        sums[n]
    }

    proptest! {
        #[test]
        fn sums_are_least(gaps in prop::collection::vec(0u32..9, 0..60), low in 1usize..12, more in 0usize..5) {
            let (n, sizes) = (gaps.len() + 1, (low, low + more));
            let cuts = segments(n, &gaps, sizes).unwrap();
            prop_assert_eq!(cuts.iter().cloned().flatten().collect::<Vec<_>>(), (0..n).collect::<Vec<_>>());
            let sum: u32 = cuts.iter().skip(1).map(|cut| gaps[cut.start - 1]).sum();
            let longest = cuts.iter().map(ExactSizeIterator::len).max().unwrap();
            if n < low {
                prop_assert_eq!(cuts.len(), 1);
            } else {
                prop_assert!(cuts.iter().all(|cut| cut.len() >= low));
                let allowed = (sizes.1..=sizes.1 + n).find(|&high| least(n, &gaps, (low, high)).is_some()).unwrap();
                prop_assert!(longest <= allowed);
                prop_assert_eq!(Some(sum), least(n, &gaps, (low, allowed)));
            }
        }
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert!(segments(5, &[1; 4], (0, 3)).is_err());
        assert!(segments(5, &[1; 4], (4, 3)).is_err());
        assert_eq!(segments(0, &[], (3, 4)).unwrap(), []);
    }
}
