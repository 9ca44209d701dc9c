//! Semantic noise: values are replaced by concepts as far away as a drawn error says.
//!
//! - [`circles`]: the concepts of a domain around one of them, by distance.
//! - [`branches`]: the same in a tree, for very many categories.
//! - [`shift`]: replacement under given errors, farther from or closer to a reference (thesis, chapter 6).
//! - [`exponential`]: the exponential mechanism, each concept the less likely the farther away.
//!
//! Candidates depend on the category only: each category's are counted once, and a record costs one search. Categories are
//! worked on a few at a time, so memory is O(n + V) and not O(d·V).

mod branches;
pub mod circles;
pub mod exponential;
pub mod shift;

use circles::{Circles, Row};
use rayon::prelude::*;

use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::taxonomy::sweep::{LANES, Rows};
use crate::taxonomy::{Measure, Taxonomy};

/// The concepts that may replace a value, and how far they are from each other.
#[derive(Debug, Clone, Copy)]
pub enum Domain<'a> {
    /// All concepts of a taxonomy, by a measure.
    Taxonomy(&'a Taxonomy, &'a Measure),
    /// As many concepts as a square matrix of distances has rows.
    Matrix(&'a [f64], usize),
}

impl Domain<'_> {
    /// Number of concepts.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        match self {
            Self::Taxonomy(taxonomy, _) => taxonomy.len(),
            Self::Matrix(_, size) => *size,
        }
    }

    fn check(&self, concepts: &[u32]) -> Result<()> {
        match concepts.iter().find(|&&c| c != MISSING && c as usize >= self.len()) {
            Some(c) => Err(Error::Parameter(format!("no concept {c}: there are {}", self.len()))),
            None => Ok(()),
        }
    }
}

/// Distances from some concepts to all of a domain, a few rows at a time.
enum Distances<'a> {
    /// By their places among all that there can be.
    Ranked(Box<Rows<u16>>, Vec<f64>),
    Measured(Box<Rows<f64>>),
    Given(&'a [f64], &'a [u32]),
}

/// Rows of distances that a thread fills again and again.
#[derive(Debug, Default)]
struct Cells {
    ranks: Vec<u16>,
    distances: Vec<f64>,
}

impl<'a> Distances<'a> {
    /// There is memory then for rows that each thread fills, and for what the caller will take beside them, given how many
    /// different distances there can be if they are ranked.
    fn new(domain: Domain<'a>, sources: &'a [u32], beside: impl Fn(Option<usize>) -> usize) -> Result<Self> {
        Ok(match domain {
            Domain::Taxonomy(taxonomy, measure) => {
                memory::require(4 * taxonomy.len(), "noise")?;
                let every: Vec<u32> = (0..taxonomy.len() as u32).collect();
                let ranked = Rows::ranked(taxonomy, sources, &every, measure, |radii| beside(Some(radii)))?;
                if let Some((rows, radii)) = ranked {
                    Self::Ranked(Box::new(rows), radii)
                } else {
                    Self::Measured(Box::new(Rows::new(taxonomy, sources, &every, measure, beside(None))?))
                }
            }
            Domain::Matrix(cells, _) => {
                memory::require(beside(None), "noise")?;
                Self::Given(cells, sources)
            }
        })
    }

    /// Works out rows `first ..`, as many as asked for; at most [`LANES`].
    fn fill(&self, first: usize, rows: usize, width: usize, cells: &mut Cells) {
        match self {
            Self::Ranked(source, _) => {
                cells.ranks.resize(rows * width, 0);
                source.fill(first, &mut cells.ranks);
            }
            Self::Measured(source) => {
                cells.distances.resize(rows * width, 0.0);
                source.fill(first, &mut cells.distances);
            }
            Self::Given(..) => {}
        }
    }

    /// The row of source `first + lane`, where rows were worked out from `first` on.
    fn row<'b>(&'b self, first: usize, lane: usize, width: usize, cells: &'b Cells) -> Row<'b> {
        match self {
            Self::Ranked(_, radii) => Row::Ranked(&cells.ranks[lane * width..][..width], radii),
            Self::Measured(_) => Row::Measured(&cells.distances[lane * width..][..width]),
            Self::Given(given, sources) => Row::Measured(&given[sources[first + lane] as usize * width..][..width]),
        }
    }
}

/// A coded column whose categories are concepts of a domain.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// What may replace a value.
    pub domain: Domain<'a>,
    /// Concept of each category.
    pub concepts: &'a [u32],
    /// Category of each record, or [`MISSING`].
    pub codes: &'a [u32],
}

impl Column<'_> {
    fn check(&self) -> Result<()> {
        self.domain.check(self.concepts)?;
        let d = self.concepts.len();
        match self.codes.par_iter().find_any(|&&c| c != MISSING && c as usize >= d) {
            Some(code) => Err(Error::Parameter(format!("code {code} in a column of {d} categories"))),
            None => Ok(()),
        }
    }

    /// Works through the records category by category and gives the concept of each record afterwards.
    ///
    /// `records` has so many lists for each category. `work` gets a category, the distances from it to all concepts, circles to
    /// use, and the list to which it adds a concept for each record. O(d·(E/32 + V)) time, O(32·V) memory a thread.
    fn by_category<T: Default + Send>(
        &self,
        records: &Lists,
        lists: usize,
        control: &Control,
        work: impl Fn(usize, Row<'_>, &mut Circles, &mut Vec<u32>, &mut T) -> Result<()> + Sync,
    ) -> Result<(Vec<Vec<u32>>, Vec<T>)> {
        let width = self.domain.len();
        let members = |category: usize| -> usize {
            (category * lists..(category + 1) * lists).map(|list| records.of(list).len()).sum()
        };
        let most = (0..self.concepts.len()).map(members).max().unwrap_or(0);
        let threads = rayon::current_num_threads().min(self.concepts.len().div_ceil(LANES));
        let rows = Distances::new(self.domain, self.concepts, |radii| {
            4 * records.total() + threads * (Circles::needs(width, radii.unwrap_or(width)) + DRAWN * most)
        })?;
        let blocks: Vec<usize> = (0..self.concepts.len()).step_by(LANES).collect();
        let done: Result<Vec<(Vec<u32>, T)>> = blocks
            .par_iter()
            .with_max_len(1)
            .map_init(<(Cells, Circles)>::default, |(cells, circles), &first| {
                let lanes = LANES.min(self.concepts.len() - first);
                let mut told = T::default();
                let mut found = Vec::with_capacity((first..first + lanes).map(members).sum());
                if found.capacity() > 0 {
                    rows.fill(first, lanes, width, cells);
                }
                for (lane, category) in (first..first + lanes).enumerate() {
                    let members = members(category);
                    if members > 0 {
                        work(category, rows.row(first, lane, width, cells), circles, &mut found, &mut told)?;
                    }
                    control.advance(1 + members as u64)?;
                }
                Ok((found, told))
            })
            .collect();
        Ok(done?.into_iter().unzip())
    }

    /// Bytes for the records by category and for the concept of each record.
    fn needs(&self) -> usize {
        Lists::needs(self.concepts.len(), self.codes.len()) + 4 * self.codes.len()
    }

    /// Records by category.
    fn records(&self) -> Lists {
        let known = (0u32..).zip(self.codes).filter(|&(_, &c)| c != MISSING).map(|(i, &c)| (c, i));
        Lists::group(self.concepts.len(), known)
    }
}

/// Bytes for what is drawn for a record, until it is known which concept that is.
const DRAWN: usize = 16;

/// Puts what was found, category after category, to the records it is for.
fn scatter(records: &Lists, found: Vec<Vec<u32>>, out: &mut [u32]) {
    let places = (0..records.len()).flat_map(|category| records.of(category));
    for (&record, concept) in places.zip(found.into_iter().flatten()) {
        out[record as usize] = concept;
    }
}
