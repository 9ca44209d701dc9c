//! Structure and distances against brute force.

use crate::common::{best_subsumer, links, paths, shortest};
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::taxonomy::information::Information;
use nominym_core::taxonomy::{Measure, Taxonomy, distance};
use proptest::prelude::*;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

fn matrix(taxonomy: &Taxonomy, measure: &Measure) -> Vec<f64> {
    let values: Vec<u32> = (0..taxonomy.len() as u32).collect();
    let mut out = vec![0.0; values.len() * values.len()];
    distance::matrix(taxonomy, &values, measure, &mut out, &Control::new()).unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn depth_is_the_longest_path((n, child, parent) in links(20)) {
        let taxonomy = Taxonomy::new(n, &child, &parent).unwrap();
        for c in 0..n as u32 {
            let longest = paths(&taxonomy, c).into_iter().filter(|x| x.0 == 0).map(|x| x.1).max().unwrap();
            prop_assert_eq!(taxonomy.depth(c), longest + 1);
        }
    }

    #[test]
    fn wu_palmer_path_and_lin_follow_their_definitions((n, child, parent) in links(16)) {
        let taxonomy = Taxonomy::new(n, &child, &parent).unwrap();
        let content = Information::seco(&taxonomy, &Control::new()).unwrap();
        let found = [Measure::WuPalmer, Measure::Path, Measure::Lin(content.clone())].map(|m| matrix(&taxonomy, &m));
        for a in 0..n as u32 {
            for b in 0..n as u32 {
                let cell = a as usize * n + b as usize;
                let (top, depth, sum) = best_subsumer(&taxonomy, a, b);
                let (depth, sum) = (f64::from(depth), f64::from(sum));
                prop_assert!(close(found[0][cell], 1.0 - 2.0 * depth / (2.0 * depth + sum)));
                let over = |c| Some(shortest(&taxonomy, a, c)? + shortest(&taxonomy, b, c)?);
                let path = (0..n as u32).filter_map(over).min().unwrap();
                prop_assert!(close(found[1][cell], f64::from(path)));
                let ic = |c: u32| content.of[c as usize];
                let both = ic(a) + ic(b);
                let lin = if a == b || both == 0.0 { 0.0 } else { 1.0 - 2.0 * ic(top) / both };
                prop_assert!(close(found[2][cell], lin));
            }
        }
    }

    #[test]
    fn pairs_and_sums_agree_with_the_matrix((n, child, parent) in links(80), seed in any::<u64>()) {
        let taxonomy = Taxonomy::new(n, &child, &parent).unwrap();
        let whole = matrix(&taxonomy, &Measure::WuPalmer);
        let pick = |i: u64| ((seed ^ (i * 0x9E37_79B9)) % n as u64) as u32;
        let (a, b): (Vec<u32>, Vec<u32>) = (0..100).map(|i| (pick(i), pick(i + 500))).unzip();
        let control = Control::new();
        let pairs = distance::pairs(&taxonomy, &a, &b, &Measure::WuPalmer, &control).unwrap();
        for (i, &distance) in pairs.iter().enumerate() {
            prop_assert!(close(distance, whole[a[i] as usize * n + b[i] as usize]));
        }
        let counts: Vec<u64> = (0..n as u64).map(|i| 1 + i % 5).collect();
        let values: Vec<u32> = (0..n as u32).collect();
        let sums = distance::Sums::new(&taxonomy, &values, &counts, &Measure::WuPalmer, &control).unwrap();
        let exact = |c: usize| (0..n).map(|v| counts[v] as f64 * whole[c * n + v]).sum::<f64>();
        let least = (0..n).map(exact).fold(f64::INFINITY, f64::min);
        prop_assert!((0..n).all(|c| (sums.of(c as u32) - exact(c)).abs() < 1e-9));
        let mean = (0..n).find(|&c| exact(c) - least < 1e-9).unwrap();
        prop_assert_eq!(sums.smallest() as usize, mean);
    }
}

#[test]
fn bad_structures_are_named() {
    assert_eq!(Taxonomy::new(0, &[], &[]).unwrap_err(), Error::Empty);
    assert_eq!(Taxonomy::new(3, &[1], &[0]).unwrap_err(), Error::Roots(vec![0, 2]));
    assert_eq!(Taxonomy::new(2, &[1, 1, 0], &[0, 1, 1]).unwrap_err(), Error::Cycle(vec![0, 1]));
    assert!(matches!(Taxonomy::new(2, &[1], &[2]), Err(Error::Parameter(_))));
}

#[test]
fn stopped_work_says_so() {
    let taxonomy = Taxonomy::new(3, &[1, 2], &[0, 0]).unwrap();
    let control = Control::new();
    control.stop();
    let stopped = distance::matrix(&taxonomy, &[0, 1], &Measure::Path, &mut [0f32; 4], &control);
    assert_eq!(stopped, Err(Error::Stopped));
    let dag = Taxonomy::new(4, &[1, 2, 3, 3], &[0, 0, 1, 2]).unwrap();
    assert_eq!(Information::seco(&dag, &control).unwrap_err(), Error::Stopped);
    assert_eq!(Information::sanchez(&dag, &control).unwrap_err(), Error::Stopped);
    assert_eq!(dag.lcs(&[1, 2, 3], &control), Err(Error::Stopped));
}
