//! The best groups of numbers.

use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Cuts numbers in ascending order into groups of at least `k` with the smallest sum of squared distances to the means of the
/// groups; the size of each.
///
/// Some best groups are runs of neighbours of fewer than `2k` (Hansen and Mukherjee, A polynomial algorithm for optimal
/// univariate microaggregation, 2003), so the best cut before each number follows from those before it. O(n · k).
pub fn cut(numbers: &[f64], k: usize, control: &Control) -> Result<Vec<u32>> {
    let n = numbers.len();
    if k == 0 || n < k || n > u32::MAX as usize {
        return Err(Error::Parameter(format!("{n} numbers cannot make groups of k = {k}")));
    }
    if numbers.windows(2).any(|pair| pair[0] > pair[1]) || !numbers.iter().all(|x| x.is_finite()) {
        return Err(Error::Parameter("numbers in ascending order are needed".to_owned()));
    }
    memory::require(16 * (n + 1) + 4 * (n / k + 1), "the best groups of numbers")?;
    control.begin(n as u64);
    let mut least = vec![f64::INFINITY; n + 1];
    let mut size = vec![0u32; n + 1];
    least[0] = 0.0;
    for end in k..=n {
        if end % 4096 == 0 {
            control.advance(4096)?;
        }
        // Differences from the last number of a group are small, so no digits are lost.
        let last = numbers[end - 1];
        let (mut sum, mut squares) = (0.0, 0.0);
        for length in 1..(2 * k).min(end + 1) {
            let difference = last - numbers[end - length];
            sum += difference;
            squares += difference * difference;
            if length >= k {
                let cost = least[end - length] + f64::max(squares - sum * sum / length as f64, 0.0);
                // Of equal cuts the one with the smaller group.
                if cost < least[end] {
                    (least[end], size[end]) = (cost, length as u32);
                }
            }
        }
    }
    let (mut sizes, mut end) = (Vec::with_capacity(n / k + 1), n);
    while end > 0 {
        sizes.push(size[end]);
        end -= size[end] as usize;
    }
    sizes.reverse();
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::rng::{Stream, Streams};

    /// The cost of the best of all ways to cut.
    fn naive(numbers: &[f64], k: usize) -> f64 {
        if numbers.is_empty() {
            return 0.0;
        }
        let mut least = f64::INFINITY;
        for size in k..=numbers.len() {
            let (group, rest) = numbers.split_at(size);
            if rest.is_empty() || rest.len() >= k {
                least = least.min(cost(group) + naive(rest, k));
            }
        }
        least
    }

    fn cost(group: &[f64]) -> f64 {
        let mean = group.iter().sum::<f64>() / group.len() as f64;
        group.iter().map(|x| (x - mean).powi(2)).sum()
    }

    #[test]
    fn no_other_cut_is_better() {
        let mut rng = Streams::new(Some(5)).unwrap().generator(Stream::Synthetic(0), 0);
        for n in 2..14 {
            for k in 1..=n.min(4) {
                let mut numbers: Vec<f64> = (0..n)
                    .map(|_| f64::from(rng.random_range(0..9)) + 1e6 * f64::from(rng.random_range(0..2)))
                    .collect();
                numbers.sort_unstable_by(f64::total_cmp);
                let sizes = cut(&numbers, k, &Control::new()).unwrap();
                assert!(sizes.iter().all(|&size| size as usize >= k));
                let (mut rest, mut found) = (&numbers[..], 0.0);
                for &size in &sizes {
                    found += cost(&rest[..size as usize]);
                    rest = &rest[size as usize..];
                }
                assert!(rest.is_empty());
                let expected = naive(&numbers, k);
                assert!((found - expected).abs() <= 1e-9 * expected.max(1e-3), "{numbers:?} {k}: {found} {expected}");
            }
        }
    }

    #[test]
    fn bad_numbers_are_refused() {
        for (numbers, k) in [(&[1.0, 0.0][..], 1), (&[0.0, f64::NAN], 1), (&[0.0], 2), (&[0.0], 0)] {
            assert!(cut(numbers, k, &Control::new()).is_err());
        }
    }
}
