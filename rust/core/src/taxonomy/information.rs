//! Information content of concepts, from the structure of the taxonomy or from counts.

use rayon::prelude::*;

use super::graph::{Marks, Taxonomy, reach};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Information content of every concept of a taxonomy.
#[derive(Debug, Clone)]
pub struct Information {
    /// By concept.
    pub of: Vec<f64>,
    /// The largest.
    pub max: f64,
}

impl Information {
    fn new(of: Vec<f64>) -> Self {
        let max = of.iter().copied().fold(0.0, f64::max);
        Self { of, max }
    }

    /// Content computed elsewhere; it must be finite, not negative, and not grow towards the root.
    pub fn given(taxonomy: &Taxonomy, of: Vec<f64>) -> Result<Self> {
        if of.len() != taxonomy.len() {
            return Err(Error::Parameter(format!("{} contents for {} concepts", of.len(), taxonomy.len())));
        }
        if let Some(bad) = of.iter().find(|x| !x.is_finite() || **x < 0.0) {
            return Err(Error::Parameter(format!("information content {bad} is not a number ≥ 0")));
        }
        Ok(Self::new(of))
    }

    /// Intrinsic content of Seco, Veale and Hayes (2004), equation 4.15: `1 − ln(hyponyms + 1) / ln(concepts)`.
    pub fn seco(taxonomy: &Taxonomy, control: &Control) -> Result<Self> {
        let all = (taxonomy.len() as f64).ln();
        let hyponyms = below(taxonomy, |_| 1.0, control)?;
        Ok(Self::new(hyponyms.into_iter().map(|h| 1.0 - ratio(h.ln(), all, 1.0)).collect()))
    }

    /// Intrinsic content of Zhou, Wang and Gu (2008), equation 4.16, with `k` between hyponyms and depth.
    pub fn zhou(taxonomy: &Taxonomy, k: f64, control: &Control) -> Result<Self> {
        if !(0.0..=1.0).contains(&k) {
            return Err(Error::Parameter(format!("the weight k of Zhou's content is {k}; it lies in 0 … 1")));
        }
        let deepest = f64::from(taxonomy.max_depth()).ln();
        let seco = Self::seco(taxonomy, control)?.of;
        let level = taxonomy.depths().iter().map(|&d| ratio(f64::from(d).ln(), deepest, 0.0));
        Ok(Self::new(seco.into_iter().zip(level).map(|(s, l)| k * s + (1.0 - k) * l).collect()))
    }

    /// Intrinsic content of Sánchez, Batet and Isern (2011), equation 4.17, from leaves below and subsumers above.
    pub fn sanchez(taxonomy: &Taxonomy, control: &Control) -> Result<Self> {
        let is_leaf = |c: u32| taxonomy.children(c).is_empty();
        let leaves = below(taxonomy, |c| f64::from(u8::from(is_leaf(c))), control)?;
        // A leaf has no leaf below itself; `below` counts the concept too.
        let strictly = |c: u32| if is_leaf(c) { 0.0 } else { leaves[c as usize] };
        let all = strictly(taxonomy.root()) + 1.0;
        memory::require(36 * taxonomy.len(), "information content")?;
        let (mut marks, mut queue) = (Marks::new(taxonomy.len()), Vec::new());
        let mut of = Vec::with_capacity(taxonomy.len());
        for c in 0..taxonomy.len() as u32 {
            control.check()?;
            let subsumers = if taxonomy.is_tree() {
                taxonomy.depth(c) as usize
            } else {
                reach(taxonomy.parent_lists(), c, &mut marks, &mut queue);
                queue.len()
            };
            of.push((all.ln() - (strictly(c) / subsumers as f64 + 1.0).ln()).max(0.0));
        }
        Ok(Self::new(of))
    }

    /// Content from counts of use, equation 4.11: `−ln P(c)`, a use of a concept being a use of all its subsumers.
    ///
    /// `counts` is by concept. A concept that is never used, nor anything below it, is an error.
    pub fn corpus(taxonomy: &Taxonomy, counts: &[f64], control: &Control) -> Result<Self> {
        if counts.len() != taxonomy.len() {
            return Err(Error::Parameter(format!("{} counts for {} concepts", counts.len(), taxonomy.len())));
        }
        let used = below(taxonomy, |c| counts[c as usize], control)?;
        let all = used[taxonomy.root() as usize].ln();
        match used.iter().position(|&u| u <= 0.0) {
            Some(unused) => Err(Error::Unused(unused as u32)),
            None => Ok(Self::new(used.into_iter().map(|u| (all - u.ln()).max(0.0)).collect())),
        }
    }
}

fn ratio(a: f64, b: f64, otherwise: f64) -> f64 {
    if b > 0.0 { a / b } else { otherwise }
}

/// Parts of a sum, added in order: threads must not change its last digit.
const PARTS: usize = 8;

/// For every concept, the sum of `weight` over the concept and all its descendants, each counted once.
///
/// On a tree, children report to their parents. A concept with several parents must not be counted along every path,
/// so there each concept reports to the set of its subsumers: O(sum of subsumer counts), a few million steps for the
/// largest ontologies.
fn below(taxonomy: &Taxonomy, weight: impl Fn(u32) -> f64 + Sync, control: &Control) -> Result<Vec<f64>> {
    // The sums and what callers make of them; the sums of each part, and marks and a queue for each thread.
    let parts = if taxonomy.is_tree() { 0 } else { 8 * PARTS + 28 * PARTS.min(rayon::current_num_threads()) };
    memory::require((16 + parts) * taxonomy.len(), "information content")?;
    let mut sum = vec![0.0; taxonomy.len()];
    if taxonomy.is_tree() {
        for &c in taxonomy.order().iter().rev() {
            sum[c as usize] += weight(c);
            if let Some(&p) = taxonomy.parents(c).first() {
                sum[p as usize] += sum[c as usize];
            }
        }
        return Ok(sum);
    }
    let part = taxonomy.len().div_ceil(PARTS);
    let parts: Result<Vec<Vec<f64>>> = (0..taxonomy.len())
        .into_par_iter()
        .step_by(part)
        .map(|start| {
            let (mut sum, mut marks, mut queue) = (vec![0.0; taxonomy.len()], Marks::new(taxonomy.len()), Vec::new());
            for c in start..taxonomy.len().min(start + part) {
                control.check()?;
                reach(taxonomy.parent_lists(), c as u32, &mut marks, &mut queue);
                for &(a, _) in &queue {
                    sum[a as usize] += weight(c as u32);
                }
            }
            Ok(sum)
        })
        .collect();
    for part in parts? {
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    Ok(sum)
}
