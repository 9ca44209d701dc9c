//! Semantic noise: values are replaced by concepts as far away as a drawn error says.
//!
//! - [`circles`]: the concepts of a domain around one of them, by distance.
//! - [`shift`]: replacement under given errors, farther from or closer to a reference (thesis, chapter 6).
//! - [`exponential`]: the exponential mechanism, each concept the less likely the farther away.
//!
//! Candidates depend on the category only: each category's are ordered once, and a record costs one search. Categories are
//! worked on a few at a time, so memory is O(n + V) and not O(d·V).

pub mod circles;
pub mod exponential;
pub mod shift;

use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::rng::{Stream, Streams};
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
    Measured(Box<Rows<f64>>),
    Given(&'a [f64], &'a [u32]),
}

impl<'a> Distances<'a> {
    /// There is memory then for rows that each thread fills, and for what the caller will take beside them.
    fn new(domain: Domain<'a>, sources: &'a [u32], beside: usize) -> Result<Self> {
        Ok(match domain {
            Domain::Taxonomy(taxonomy, measure) => {
                memory::require(4 * taxonomy.len(), "noise")?;
                let every: Vec<u32> = (0..taxonomy.len() as u32).collect();
                Self::Measured(Box::new(Rows::new(taxonomy, sources, &every, measure, beside)?))
            }
            Domain::Matrix(cells, width) => {
                let threads = rayon::current_num_threads().min(sources.len().div_ceil(LANES));
                memory::require(beside + threads * 8 * LANES.min(sources.len()) * width, "noise")?;
                Self::Given(cells, sources)
            }
        })
    }

    /// Writes rows `first ..`, as many as `out` has room for; at most [`LANES`].
    fn fill(&self, first: usize, width: usize, out: &mut [f64]) {
        match self {
            Self::Measured(rows) => rows.fill(first, out),
            Self::Given(cells, sources) => {
                for (row, &source) in out.chunks_mut(width).zip(&sources[first..]) {
                    row.copy_from_slice(&cells[source as usize * width..][..width]);
                }
            }
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
    /// `work` gets a category, the distances from it to all concepts, its records, a generator of its own and the list
    /// to which it adds a concept for each record. O(d·(E/32 + V)) time, O(32·V) memory a thread.
    fn by_category<T: Default + Send>(
        &self,
        records: &Lists,
        streams: &Streams,
        stream: Stream,
        control: &Control,
        work: impl Fn(usize, &[f64], &[u32], &mut ChaCha20Rng, &mut Vec<u32>, &mut T) + Sync,
    ) -> Result<(Vec<Vec<u32>>, Vec<T>)> {
        let width = self.domain.len();
        let threads = rayon::current_num_threads().min(self.concepts.len().div_ceil(LANES));
        let needs = 4 * records.total() + threads * CIRCLES * width;
        let rows = Distances::new(self.domain, self.concepts, needs)?;
        let blocks: Vec<usize> = (0..self.concepts.len()).step_by(LANES).collect();
        let done: Result<Vec<(Vec<u32>, T)>> = blocks
            .par_iter()
            .with_max_len(1)
            .map_init(Vec::new, |cells: &mut Vec<f64>, &first| {
                let lanes = LANES.min(self.concepts.len() - first);
                let mut told = T::default();
                let members = (first..first + lanes).map(|category| records.of(category).len());
                let mut found = Vec::with_capacity(members.sum());
                if (first..first + lanes).any(|category| !records.of(category).is_empty()) {
                    cells.resize(lanes * width, 0.0);
                    rows.fill(first, width, cells);
                }
                for (lane, category) in (first..first + lanes).enumerate() {
                    let members = records.of(category);
                    if !members.is_empty() {
                        let row = &cells[lane * width..][..width];
                        let mut rng = streams.generator(stream, category as u32);
                        work(category, row, members, &mut rng, &mut found, &mut told);
                    }
                    control.advance(1 + members.len() as u64)?;
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

/// Bytes for each concept, at most, of circles around one and of what is drawn from them.
const CIRCLES: usize = 72;

/// Puts what was found, category after category, to the records it is for.
fn scatter(records: &Lists, found: Vec<Vec<u32>>, out: &mut [u32]) {
    let places = (0..records.len()).flat_map(|category| records.of(category));
    for (&record, concept) in places.zip(found.into_iter().flatten()) {
        out[record as usize] = concept;
    }
}
