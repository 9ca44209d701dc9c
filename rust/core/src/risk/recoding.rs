//! One-to-one recoding, undone: categories that were renamed column by column are known again by how often they occur, and
//! with what.
//!
//! The adversary has the people and the release as two sets of rows, in no order, and some *anchors*: columns that were not
//! renamed. First an exact attempt: categories get signatures from their counts, then again and again from the signatures in
//! all rows that they are in. Where both tables have the same signatures, one is the other renamed, and categories with
//! equal signatures are paired, one pair after another, each followed by what it implies.
//!
//! Where values were changed as well, no signature is the same. Then a pairing is wanted that maximises
//!
//! Σ √N(v, u) √N′(v′, u′)
//!
//! over all pairs of columns and of their categories v, u and the categories v′, u′ that these are paired with, where N and
//! N′ count the rows of either side that have both: the nearest in the sense of least squares of roots of counts, whose
//! variance does not depend on the counts. It is found from a start, one column after another: given the other columns this is
//! an assignment problem, solved exactly up to [`DENSE`] categories and greedily above, until nothing changes. Starts are
//! the order by frequency, and the same problem with the other columns' categories put together in bins of similar
//! frequency; the better end is taken.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::risk::assignment::{LARGEST, assign};
use crate::risk::columns::check;
use crate::rng::{Stream, Streams};
use crate::tuples::{Codes, Tuples};

/// Categories of a column up to which its assignment problem is solved exactly.
const DENSE: usize = 2_000;
/// Categories of a column up to which a renaming is looked for where values were changed as well. Of more, most occur so
/// seldom that nothing tells them apart; they are taken as they are.
const NEAR: usize = 5_000;
/// Candidates of a category where it is not.
const CANDIDATES: usize = 32;
/// How much farther down the order of frequencies each bin ends.
const BIN: f64 = 1.3;
/// Rounds through all columns at most.
const ROUNDS: usize = 40;
/// Cells that are read at most to tell interchangeable categories apart.
const CELLS: usize = 1 << 30;

/// A column that was not renamed: the same categories on both sides.
#[derive(Debug, Clone, Copy)]
pub struct Anchor<'a> {
    /// Category of each person.
    pub before: &'a [u32],
    /// Category of each row of the release.
    pub after: &'a [u32],
    /// Number of categories.
    pub categories: usize,
}

/// The category before that each category after is taken to be, by column; [`MISSING`] for those that do not occur, or for
/// which none is left.
///
/// O(n log n) for each pair of columns, and for each of a few rounds an assignment problem for each column of up to [`NEAR`]
/// categories.
pub fn attack<'a>(
    before: &[Codes<'a>],
    after: &[Codes<'a>],
    anchors: &[Anchor<'a>],
    streams: &Streams,
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    if before.len() != after.len() {
        return Err(Error::Parameter(format!("{} columns before and {} after", before.len(), after.len())));
    }
    if before.is_empty() {
        return Ok(vec![]);
    }
    let fixed = before.len();
    // Columns with few categories first: where values were changed as well, only these are looked for.
    let mut order: Vec<usize> = (0..fixed).collect();
    let many = |c: usize| before[c].1.max(after[c].1) > NEAR;
    order.sort_by_key(|&c| many(c));
    let few = order.partition_point(|&c| !many(c));
    let in_order = |columns: &[Codes<'a>]| order.iter().map(|&c| columns[c]).collect::<Vec<_>>();
    let (mut before, mut after) = (in_order(before), in_order(after));
    before.extend(anchors.iter().map(|a| (a.before, a.categories)));
    after.extend(anchors.iter().map(|a| (a.after, a.categories)));
    check(&before, before[0].0.len())?;
    check(&after, after[0].0.len())?;
    let mut sides = [Side::new(&before, fixed, control)?, Side::new(&after, fixed, control)?];
    let images = if let Some(images) = exact(&sides, &mut streams.generator(Stream::Recoding, 0), control)? {
        images
    } else {
        for side in &mut sides {
            side.renamed = few;
        }
        let mut images = near(&sides, streams, control)?;
        let as_it_is = |(old, new): (&Codes<'_>, &Codes<'_>)| {
            (0..old.1).map(|c| if c < new.1 { c as u32 } else { MISSING }).collect()
        };
        images.extend(before[few..fixed].iter().zip(&after[few..fixed]).map(as_it_is));
        images
    };
    // From the category after of each one before to the category before of each one after.
    let inverse = |(images, &(_, categories)): (&Vec<u32>, &Codes<'_>)| {
        let mut inverse = vec![MISSING; categories];
        for (category, &image) in (0..).zip(images) {
            if image != MISSING {
                inverse[image as usize] = category;
            }
        }
        inverse
    };
    let mut found: Vec<(usize, Vec<u32>)> = order.into_iter().zip(images.iter().zip(&after).map(inverse)).collect();
    found.sort_by_key(|&(column, _)| column);
    Ok(found.into_iter().map(|(_, inverse)| inverse).collect())
}

/// What needs memory here.
const WHAT: &str = "undoing a recoding";

/// Bytes of a category.
const CATEGORY: usize = 120;

/// One of the two tables.
struct Side {
    tuples: Tuples,
    /// Number of categories of each column, and of columns that were renamed: these come first.
    categories: Vec<usize>,
    renamed: usize,
    /// Rows with each category, by column.
    counts: Vec<Vec<u64>>,
}

impl Side {
    fn new(columns: &[Codes<'_>], renamed: usize, control: &Control) -> Result<Self> {
        let tuples = Tuples::of(columns, control)?;
        let categories: Vec<usize> = columns.iter().map(|&(_, categories)| categories).collect();
        // Counts, signatures and what they are refined from; classes, names and images.
        memory::require(CATEGORY * categories.iter().sum::<usize>(), WHAT)?;
        let mut counts: Vec<Vec<u64>> = categories.iter().map(|&categories| vec![0; categories]).collect();
        for (counts, (codes, _)) in counts.iter_mut().zip(columns) {
            for &code in *codes {
                counts[code as usize] += 1;
            }
        }
        Ok(Self { tuples, categories, renamed, counts })
    }

    /// Categories of a column that occur.
    fn occurring(&self, column: usize) -> Vec<u32> {
        (0..).zip(&self.counts[column]).filter(|&(_, &count)| count > 0).map(|(category, _)| category).collect()
    }

    /// Signatures from counts alone; a category of an anchor is known by itself.
    fn signatures(&self) -> Vec<Vec<u64>> {
        let columns = self.counts.iter().enumerate();
        columns
            .map(|(c, counts)| {
                let of = |(category, &count): (u64, &u64)| if c < self.renamed { count } else { category };
                (0..).zip(counts).map(|each| mix(of(each), c as u64)).collect()
            })
            .collect()
    }

    /// Signatures from those in the rows that each category is in. O(rows × columns).
    fn refine(&self, signatures: &mut [Vec<u64>]) {
        let mut sums: Vec<Vec<u64>> = self.categories[..self.renamed].iter().map(|&d| vec![0; d]).collect();
        for tuple in 0..self.tuples.len() {
            let codes = self.tuples.codes(tuple);
            let row = codes.iter().zip(&*signatures).fold(0u64, |row, (&code, s)| row.wrapping_add(s[code as usize]));
            let row = mix(row, 1).wrapping_mul(self.tuples.records(tuple).len() as u64);
            for (&code, sums) in codes.iter().zip(&mut sums) {
                let sum = &mut sums[code as usize];
                *sum = sum.wrapping_add(row);
            }
        }
        for (signatures, sums) in signatures.iter_mut().zip(&sums) {
            signatures.iter_mut().zip(sums).for_each(|(signature, &sum)| *signature = mix(*signature, sum));
        }
    }

    /// Categories of a column in classes of equal signatures, by signature.
    fn classes(&self, column: usize, signatures: &[u64]) -> Vec<(u64, Vec<u32>)> {
        let mut all: Vec<(u64, u32)> =
            self.occurring(column).into_iter().map(|category| (signatures[category as usize], category)).collect();
        all.sort_unstable();
        let equal = all.chunk_by(|a, b| a.0 == b.0);
        equal.map(|class| (class[0].0, class.iter().map(|&(_, category)| category).collect())).collect()
    }

    /// Roots of the numbers of rows that categories of one column share with those of another; categories are named by
    /// labels, of which those of the first are below `size`.
    fn profile(
        &self,
        size: usize,
        from: impl Fn(&[u32]) -> u32 + Sync,
        to: impl Fn(&[u32]) -> u32 + Sync,
    ) -> Result<Profile> {
        memory::require(size_of::<(u64, u32)>() * self.tuples.len() + size_of::<usize>() * (size + 1), WHAT)?;
        let tuples = (0..self.tuples.len()).into_par_iter();
        let mut pairs: Vec<(u64, u32)> = tuples
            .map(|tuple| {
                let codes = self.tuples.codes(tuple);
                let key = u64::from(from(codes)) << 32 | u64::from(to(codes));
                (key, self.tuples.records(tuple).len() as u32)
            })
            .collect();
        pairs.par_sort_unstable();
        let mut starts = vec![0; size + 1];
        let distinct = pairs.chunk_by(|a, b| a.0 == b.0);
        let count = distinct.clone().count();
        memory::require(size_of::<(u32, f64)>() * count, WHAT)?;
        let mut items = Vec::with_capacity(count);
        for equal in distinct {
            let count: u64 = equal.iter().map(|&(_, times)| u64::from(times)).sum();
            items.push((equal[0].0 as u32, (count as f64).sqrt()));
            starts[(equal[0].0 >> 32) as usize + 1] = items.len();
        }
        for label in 1..starts.len() {
            starts[label] = starts[label].max(starts[label - 1]);
        }
        Ok(Profile { starts, items })
    }
}

/// Roots of shared counts of the categories of one column with those of another.
struct Profile {
    starts: Vec<usize>,
    items: Vec<(u32, f64)>,
}

impl Profile {
    #[inline]
    fn of(&self, label: u32) -> &[(u32, f64)] {
        &self.items[self.starts[label as usize]..self.starts[label as usize + 1]]
    }

    /// Number of labels.
    fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// A number that two others, in this order, are scattered to (the finalizer of `SplitMix64`).
#[inline]
fn mix(a: u64, b: u64) -> u64 {
    let mut x = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.wrapping_add(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The category after of each one before, if one table is the other renamed.
fn exact(sides: &[Side; 2], rng: &mut ChaCha20Rng, control: &Control) -> Result<Option<Vec<Vec<u32>>>> {
    let renamed = sides[0].renamed;
    let work = sides[0].tuples.len() * sides[0].categories.len();
    let mut signatures = [sides[0].signatures(), sides[1].signatures()];
    let mut read = 0;
    loop {
        // Refined until no class is split.
        let mut before = 0;
        let classes = loop {
            control.check()?;
            for (side, signatures) in sides.iter().zip(&mut signatures) {
                side.refine(signatures);
            }
            read += 2 * work;
            let of = |side: usize| -> Vec<Vec<(u64, Vec<u32>)>> {
                (0..renamed).map(|c| sides[side].classes(c, &signatures[side][c])).collect()
            };
            let classes = [of(0), of(1)];
            let alike = classes[0]
                .iter()
                .zip(&classes[1])
                .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && a.1.len() == b.1.len()));
            if !alike {
                return Ok(None);
            }
            let number = classes[0].iter().map(Vec::len).sum();
            if number == before {
                break classes;
            }
            before = number;
        };
        // Of interchangeable categories a pair is chosen, and what follows from it is found in the next passes.
        let open = (0..renamed).flat_map(|c| (0..classes[0][c].len()).map(move |class| (c, class)));
        let open = open.filter(|&(c, class)| classes[0][c][class].1.len() > 1);
        match open.min_by_key(|&(c, class)| classes[0][c][class].1.len()) {
            Some((c, class)) if read < CELLS => {
                let [a, b] = [0, 1].map(|side: usize| {
                    let class = &classes[side][c][class].1;
                    class[rng.random_range(0..class.len())]
                });
                let new = mix(signatures[0][c][a as usize], read as u64);
                (signatures[0][c][a as usize], signatures[1][c][b as usize]) = (new, new);
            }
            _ => {
                let mut images: Vec<Vec<u32>> =
                    sides[0].categories[..renamed].iter().map(|&d| vec![MISSING; d]).collect();
                let [before, after] = classes;
                for (images, (before, after)) in images.iter_mut().zip(before.into_iter().zip(after)) {
                    for ((_, before), (_, mut after)) in before.into_iter().zip(after) {
                        after.shuffle(rng);
                        before.iter().zip(after).for_each(|(&a, b)| images[a as usize] = b);
                    }
                }
                return Ok(Some(images));
            }
        }
    }
}

/// The category after of each one before, where the tables differ.
fn near(sides: &[Side; 2], streams: &Streams, control: &Control) -> Result<Vec<Vec<u32>>> {
    let renamed = sides[0].renamed;
    control.begin((2 * ROUNDS * renamed) as u64);
    let names: Names =
        [0, 1].map(|side: usize| sides[side].categories.iter().map(|&d| (0..d as u32).collect()).collect());
    let shared = (0..renamed).map(|c| Shared::new(sides, c, &names, control)).collect::<Result<Vec<_>>>()?;
    let mut best: Option<(f64, Vec<Vec<u32>>)> = None;
    for start in 0..2 {
        let mut rng = streams.generator(Stream::Recoding, 1 + start);
        let occurring: Vec<Occurring> = (0..renamed).map(|c| Occurring::new(sides, c, &mut rng)).collect();
        let mut images: Vec<Vec<u32>> = occurring.iter().map(Occurring::by_rank).collect();
        if start == 1 {
            let bins = [0, 1].map(|side: usize| {
                let names = names[side].iter().enumerate();
                names.map(|(c, names)| occurring.get(c).map_or_else(|| names.clone(), |o| o.bins(side))).collect()
            });
            images = occurring
                .iter()
                .enumerate()
                .map(|(c, occurring)| {
                    let binned = Shared::new(sides, c, &bins, control)?;
                    Ok(binned.pair(occurring, |_, bin| bin, control)?.0)
                })
                .collect::<Result<_>>()?;
        }
        let mut total = 0.0;
        for _ in 0..ROUNDS {
            let (mut changed, mut sum) = (false, 0.0);
            for (c, occurring) in occurring.iter().enumerate() {
                let image = |other: usize, u: u32| images.get(other).map_or(u, |images| images[u as usize]);
                let (found, score) = shared[c].pair(occurring, image, control)?;
                changed |= found != images[c];
                sum += score;
                images[c] = found;
                control.advance(1)?;
            }
            // Columns with equally good pairings could change for ever: a round without gain is the last.
            if !changed || sum <= total * (1.0 + 1e-12) {
                break;
            }
            total = sum;
        }
        if best.as_ref().is_none_or(|(score, _)| total > *score) {
            best = Some((total, images));
        }
    }
    Ok(best.map_or_else(Vec::new, |(_, images)| images))
}

/// Labels of the categories of all columns, on both sides.
type Names = [Vec<Vec<u32>>; 2];

/// The categories of a renamed column that occur on both sides, with their counts, in a random order, so that their
/// numbers decide nothing.
struct Occurring {
    sides: [Vec<(u32, f64)>; 2],
    categories: [usize; 2],
}

impl Occurring {
    fn new(sides: &[Side; 2], c: usize, rng: &mut ChaCha20Rng) -> Self {
        let counted = sides.each_ref().map(|side| {
            let mut all = side.occurring(c);
            all.shuffle(rng);
            all.into_iter().map(|category| (category, side.counts[c][category as usize] as f64)).collect()
        });
        Self { sides: counted, categories: sides.each_ref().map(|side| side.categories[c]) }
    }

    /// Categories of a side, the most frequent first.
    fn ranked(&self, side: usize) -> Vec<u32> {
        let mut order = self.sides[side].clone();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order.into_iter().map(|(category, _)| category).collect()
    }

    /// The image of each category when they are paired in order of frequency.
    fn by_rank(&self) -> Vec<u32> {
        let mut images = vec![MISSING; self.categories[0]];
        self.ranked(0).iter().zip(self.ranked(1)).for_each(|(&a, b)| images[a as usize] = b);
        images
    }

    /// Bins of similar frequency: the most frequent categories by themselves, then ever more of them together.
    fn bins(&self, side: usize) -> Vec<u32> {
        let mut bins = vec![0; self.categories[side]];
        for (rank, category) in self.ranked(side).into_iter().enumerate() {
            bins[category as usize] = (f64::ln(rank as f64 + 1.0) / BIN.ln()) as u32;
        }
        bins
    }
}

/// Bytes that the pairing of so many categories takes: scores and costs of all pairs, or, where they are too many, those of a
/// category for each thread and the candidates of all.
fn pairing(rows: usize, columns: usize) -> usize {
    let figure = size_of::<f64>();
    let both = if rows.max(columns) <= DENSE {
        2 * figure * rows * columns
    } else {
        5 * figure * columns * rayon::current_num_threads() + 8 * figure * CANDIDATES * rows
    };
    both + 64 * (rows + columns)
}

/// What the categories of a renamed column share with the labels of all others.
struct Shared {
    column: usize,
    /// By other column: from the categories before to labels, from labels to the categories after.
    before: Vec<Profile>,
    after: Vec<Profile>,
}

impl Shared {
    fn new(sides: &[Side; 2], c: usize, names: &Names, control: &Control) -> Result<Self> {
        let (mut before, mut after) = (vec![], vec![]);
        for (other, [from, to]) in names[0].iter().zip(&names[1]).map(|(a, b)| [a, b]).enumerate() {
            control.check()?;
            let size = to.iter().max().map_or(0, |&last| last as usize + 1);
            before.push(sides[0].profile(
                sides[0].categories[c],
                |codes| codes[c],
                |codes| from[codes[other] as usize],
            )?);
            after.push(sides[1].profile(size, |codes| to[codes[other] as usize], |codes| codes[c])?);
        }
        Ok(Self { column: c, before, after })
    }

    /// Pairs the categories of the column, given the label after of each label before of the other columns: the image of each
    /// category, and the sum that they reach.
    fn pair(
        &self,
        occurring: &Occurring,
        image: impl Fn(usize, u32) -> u32 + Sync,
        control: &Control,
    ) -> Result<(Vec<u32>, f64)> {
        let [before, after] = &occurring.sides;
        let mut place = vec![0; occurring.categories[1]];
        (0..).zip(after).for_each(|(at, &(category, _))| place[category as usize] = at);
        let scores = |category: u32, count: f64| -> Result<Vec<f64>> {
            control.check()?;
            let mut scores: Vec<f64> = after.iter().map(|&(_, other)| (count * other).sqrt()).collect();
            let others = self.before.iter().zip(&self.after).enumerate().filter(|&(other, _)| other != self.column);
            for (other, (before, after)) in others {
                for &(label, root) in before.of(category) {
                    let label = image(other, label);
                    // A label of which the other side has none shares nothing with anything.
                    if (label as usize) < after.len() {
                        after
                            .of(label)
                            .iter()
                            .for_each(|&(to, with)| scores[place[to as usize] as usize] += root * with);
                    }
                }
            }
            Ok(scores)
        };
        let (rows, columns) = (before.len(), after.len());
        memory::require(pairing(rows, columns), WHAT)?;
        let mut images = vec![MISSING; occurring.categories[0]];
        let mut total = 0.0;
        if rows.max(columns) <= DENSE {
            let all: Vec<Vec<f64>> = before.par_iter().map(|&(v, count)| scores(v, count)).collect::<Result<_>>()?;
            let top = all.iter().flatten().copied().fold(0.0, f64::max);
            let factor = if top > 0.0 { LARGEST / top } else { 0.0 };
            let cost = |row: usize, column: usize| ((top - all[row][column]) * factor) as i64;
            let mut take = |row: usize, column: usize| {
                images[before[row].0 as usize] = after[column].0;
                total += all[row][column];
            };
            let mut costs: Vec<i64> = Vec::with_capacity(rows * columns);
            // The side with fewer categories looks for those of the other.
            if rows <= columns {
                costs.extend((0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).map(|(r, c)| cost(r, c)));
                let found = assign(&costs, rows, columns, control)?;
                found.iter().enumerate().for_each(|(row, &column)| take(row, column as usize));
            } else {
                costs.extend((0..columns).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| cost(r, c)));
                let found = assign(&costs, columns, rows, control)?;
                found.iter().enumerate().for_each(|(column, &row)| take(row as usize, column));
            }
            return Ok((images, total));
        }
        // Too many for that: the best pairs first, as shares of what a perfect pair of such counts would have.
        let candidates = before.par_iter().enumerate().map(|(row, &(v, count))| {
            let scores = scores(v, count)?;
            let mut some: Vec<(f64, f64, usize, usize)> = scores
                .iter()
                .zip(after)
                .enumerate()
                .map(|(column, (&score, &(_, other)))| (score / (count + other), score, row, column))
                .collect();
            let order =
                |a: &(f64, f64, usize, usize), b: &(f64, f64, usize, usize)| b.0.total_cmp(&a.0).then(a.3.cmp(&b.3));
            if some.len() > CANDIDATES {
                some.select_nth_unstable_by(CANDIDATES, order);
                some.truncate(CANDIDATES);
            }
            Ok(some)
        });
        let mut candidates = candidates.collect::<Result<Vec<_>>>()?.concat();
        candidates.par_sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.2, a.3).cmp(&(b.2, b.3))));
        let mut taken = vec![false; columns];
        for (_, score, row, column) in candidates {
            let image = &mut images[before[row].0 as usize];
            if *image == MISSING && !taken[column] {
                (*image, taken[column]) = (after[column].0, true);
                total += score;
            }
        }
        // The others by frequency.
        let left = occurring.ranked(1).into_iter().filter(|&w| !taken[place[w as usize] as usize]);
        let open = occurring.ranked(0).into_iter().filter(|&v| images[v as usize] == MISSING);
        let pairs: Vec<(u32, u32)> = open.zip(left).collect();
        for (v, w) in pairs {
            images[v as usize] = w;
        }
        Ok((images, total))
    }
}
