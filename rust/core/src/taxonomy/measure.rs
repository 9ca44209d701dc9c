//! The formulas of all measures, in one place.
//!
//! | measure | distance of `a` and `b` | range | source (thesis equation) |
//! |---|---|---|---|
//! | path | `p` | `0 … 2(D−1)` | 4.3, a distance already |
//! | Leacock–Chodorow | `ln(p+1) / ln(2D)` = 1 − sim/sim(a,a) | `0 … 1` | 4.4, 4.5 |
//! | Wu–Palmer | `s / (2·depth(L) + s)` = 1 − sim | `0 … 1` | 4.6, 6.1 |
//! | taxonomic feature | `log2(1 + (u−i)/u)` | `0 … 1` | 4.10, a distance already |
//! | Resnik | `1 − IC(L)/max IC`, and 0 for `a = b` | `0 … 1` | 4.12 |
//! | Lin | `1 − 2·IC(L)/(IC(a)+IC(b))` | `0 … 1` | 4.13 |
//! | Jiang–Conrath | `IC(a)+IC(b)−2·IC(L)` | `0 … 2·max IC` | 4.14, a distance already |
//!
//! `p` is the number of links on the shortest path over a common subsumer; `L` the common subsumer of greatest
//! depth (ties: smallest path sum, then lower index) and `s` the path sum over it; `D` the greatest depth; `u` and
//! `i` the sizes of union and intersection of the two sets of subsumers, the concepts included.

use super::information::Information;

/// A semantic distance.
#[derive(Debug, Clone)]
pub enum Measure {
    /// Links on the shortest path (Rada et al. 1989).
    Path,
    /// Logarithm of the path, by the depth of the taxonomy (Leacock and Chodorow 1998).
    LeacockChodorow,
    /// Path by the depth of the subsumer (Wu and Palmer 1994).
    WuPalmer,
    /// Share of subsumers not in common (Sánchez, Batet, Isern and Valls 2012).
    TaxonomicFeature,
    /// Information of the subsumer (Resnik 1995).
    Resnik(Information),
    /// Information of the subsumer, by that of the concepts (Lin 1998).
    Lin(Information),
    /// Information not in common (Jiang and Conrath 1997).
    JiangConrath(Information),
}

impl Measure {
    /// The largest value that a distance can take in a taxonomy of the given greatest depth.
    pub fn max(&self, max_depth: u32) -> f64 {
        match self {
            Self::Path => 2.0 * f64::from(max_depth - 1),
            Self::JiangConrath(information) => 2.0 * information.max,
            _ => 1.0,
        }
    }
}

/// The edge-counting measures, on integers: equal fractions give equal floats, because each is rounded once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Edges {
    Path,
    LeacockChodorow { max_depth: u32 },
    WuPalmer,
}

impl Edges {
    /// The formula of a measure that counts links, in a taxonomy of the given greatest depth.
    pub(crate) fn of(measure: &Measure, max_depth: u32) -> Option<Self> {
        match measure {
            Measure::Path => Some(Self::Path),
            Measure::LeacockChodorow => Some(Self::LeacockChodorow { max_depth }),
            Measure::WuPalmer => Some(Self::WuPalmer),
            _ => None,
        }
    }

    /// Whether deeper subsumers come first; if not, only the path counts.
    pub(crate) fn deepest(self) -> bool {
        matches!(self, Self::WuPalmer)
    }

    pub(crate) fn distance(self, depth: i64, path: i64) -> f64 {
        let path = path as f64;
        match self {
            Self::Path => path,
            Self::LeacockChodorow { max_depth } => (path + 1.0).ln() / (2.0 * f64::from(max_depth)).ln(),
            Self::WuPalmer => path / (2.0 * depth as f64 + path),
        }
    }
}

/// The taxonomic-feature distance from the number of all subsumers of two concepts and of those they share.
#[inline]
pub(crate) fn feature(all: u32, shared: u32) -> f64 {
    let all = f64::from(all);
    ((all - f64::from(shared)) / all + 1.0).log2()
}

/// The measures that take nothing of two concepts of a tree but depths: their own, and that of the concept where they meet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Depths {
    Edges(Edges),
    Feature,
}

impl Depths {
    /// The formula of a measure, in a taxonomy of the given greatest depth.
    pub(crate) fn of(measure: &Measure, max_depth: u32) -> Option<Self> {
        match measure {
            Measure::TaxonomicFeature => Some(Self::Feature),
            _ => Edges::of(measure, max_depth).map(Self::Edges),
        }
    }

    /// The distance of two concepts, given their depths and that of the concept where they meet.
    #[inline]
    pub(crate) fn distance(self, a: u32, b: u32, meet: u32) -> f64 {
        match self {
            Self::Edges(edges) => edges.distance(i64::from(meet), i64::from(a + b - 2 * meet)),
            Self::Feature => feature(a + b - meet, meet),
        }
    }
}

/// The measures of information content; which formula, and the content of every concept.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    Resnik { max: f64 },
    Lin,
    JiangConrath,
}

impl Content {
    /// The distance of two different concepts with content `sum` together, under a subsumer with content `l`.
    ///
    /// Where there is no information at all (0/0), concepts cannot be told apart: the distance is 0.
    #[inline]
    pub(crate) fn distance(self, sum: f64, l: f64) -> f64 {
        match self {
            Self::Resnik { max } if max > 0.0 => 1.0 - l / max,
            Self::Lin if sum > 0.0 => (1.0 - 2.0 * l / sum).max(0.0),
            Self::JiangConrath => (sum - 2.0 * l).max(0.0),
            _ => 0.0,
        }
    }
}
