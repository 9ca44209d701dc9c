//! Pairs of records for data swapping: drawn without replacement, each uniformly among all feasible pairs that are left.
//!
//! Records that agree in the *equal* columns form a class, and pairs are made inside classes. There, a pair is feasible if
//! it differs in every *unequal* key (a key is a column, or several taken as one value). The number of feasible pairs of
//! each class is known throughout: the partners of a record are counted by inclusion and exclusion over the keys
//! ([`cells`]), and with each record that goes, its partners go from the count. A class is drawn by these counts, then a
//! pair inside it: exactly at once where there is no key or one ([`key`]); with several, among the pairs that differ in
//! the scarcest key, until the others differ too; and where few of them do, by going through the cells of the class, which
//! are the records that agree in all keys.
//!
//! O(n·2^m) time and memory for m keys before the first pair, O(log n + 2^m) for each pair, times the tries that it takes,
//! which never cost more than going through the cells would.

mod cells;
mod ids;
mod key;
mod weights;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use self::cells::{Cells, MOST_KEYS};
use self::ids::Ids;
use self::key::{Groups, Key};
use super::STEPS;
use crate::coded::Coded;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Pairs, and what there was to draw them from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The records of each pair; no record is in two.
    pub pairs: Vec<(u32, u32)>,
    /// Feasible pairs among all records.
    pub feasible: u64,
    /// Records that no other can be paired with.
    pub alone: u64,
}

/// Draws up to `wanted` pairs of `n` records that agree in all `equal` columns and differ in every `unequal` key.
///
/// Ends early where no feasible pair is left.
pub fn draw(
    n: usize,
    equal: &[Coded<'_>],
    unequal: &[Vec<Coded<'_>>],
    wanted: usize,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<Drawn> {
    equal.iter().chain(unequal.iter().flatten()).try_for_each(|column| column.check(n))?;
    if n > u32::MAX as usize {
        return Err(Error::Parameter(format!("{n} records are more than 2^32")));
    }
    if unequal.len() > MOST_KEYS {
        return Err(Error::Parameter(format!("{} keys to differ in, but {MOST_KEYS} is the most", unequal.len())));
    }
    control.begin(wanted as u64);
    let mut pool = Pool::new(n, equal, unequal, control)?;
    let (feasible, alone) = pool.weigh(control)?;
    memory::require(size_of::<(u32, u32)>() * wanted.min(n / 2), WHAT)?;
    let mut pairs = Vec::with_capacity(wanted.min(n / 2));
    while pairs.len() < wanted && pool.feasible > 0 {
        let (class, _) =
            weights::find(pool.classes.len(), |node| pool.classes[node], rng.random_range(0..pool.feasible));
        let (a, b) = pool.draw(class, rng, control)?;
        pool.take(a, class);
        pool.take(b, class);
        pairs.push((a, b));
        if (pairs.len() as u64).is_multiple_of(STEPS) {
            control.advance(STEPS)?;
        }
    }
    control.advance((wanted - pairs.len()) as u64 + pairs.len() as u64 % STEPS)?;
    Ok(Drawn { pairs, feasible, alone })
}

/// What needs memory here.
const WHAT: &str = "drawing pairs of records";

/// How the records of a class are told apart.
enum Rule {
    /// Not at all.
    Any(Groups),
    /// By one key.
    One(Key),
    /// By several.
    All(Vec<Key>, Cells),
}

/// The records that are left.
struct Pool {
    class_of: Vec<u32>,
    /// Records left by class.
    sizes: Vec<u64>,
    /// Feasible pairs left by class, as a tree, and in all.
    classes: Vec<u64>,
    feasible: u64,
    rule: Rule,
}

impl Pool {
    fn new(n: usize, equal: &[Coded<'_>], unequal: &[Vec<Coded<'_>>], control: &Control) -> Result<Self> {
        memory::require(size_of::<u32>() * n, WHAT)?;
        let mut classes = Ids::one(n);
        for column in equal {
            classes = classes.refined(*column)?;
            control.check()?;
        }
        let mut keys = Vec::with_capacity(unequal.len());
        for columns in unequal {
            memory::require(size_of::<u32>() * n, WHAT)?;
            let key = columns.iter().try_fold(classes.clone(), |ids, column| ids.refined(*column))?;
            control.check()?;
            keys.push(Key::new(key, &classes)?);
            control.check()?;
        }
        // The class of each record; records and pairs of each class.
        memory::require(size_of::<u32>() * n + 2 * size_of::<u64>() * classes.count, WHAT)?;
        let mut sizes = vec![0u64; classes.count];
        for &class in &classes.of {
            sizes[class as usize] += 1;
        }
        let class_of = classes.of.clone();
        let rule = if keys.len() > 1 {
            let cells = Cells::new(&classes, &keys, control)?;
            Rule::All(keys, cells)
        } else if let Some(key) = keys.pop() {
            Rule::One(key)
        } else {
            Rule::Any(Groups::new(classes)?)
        };
        Ok(Self { class_of, sizes, classes: Vec::new(), feasible: 0, rule })
    }

    /// Counts the feasible pairs of each class. Gives their number, and how many records are in none.
    fn weigh(&mut self, control: &Control) -> Result<(u64, u64)> {
        let mut alone = 0;
        let mut pairs = vec![0; self.sizes.len()];
        for (record, &class) in (0u32..).zip(&self.class_of) {
            if u64::from(record).is_multiple_of(STEPS) {
                control.check()?;
            }
            let partners = self.partners(record, class as usize);
            alone += u64::from(partners == 0);
            pairs[class as usize] += partners;
        }
        // Each pair was counted from both ends.
        for pairs in &mut pairs {
            *pairs /= 2;
        }
        self.feasible = pairs.iter().sum();
        weights::build(&mut pairs);
        self.classes = pairs;
        Ok((self.feasible, alone))
    }

    /// How many of the records left a record can be paired with.
    fn partners(&self, record: u32, class: usize) -> u64 {
        let size = self.sizes[class];
        match &self.rule {
            Rule::Any(_) => size - 1,
            Rule::One(key) => size - key.groups.left(key.groups.of(record)),
            Rule::All(_, cells) => cells.partners(record, size),
        }
    }

    fn take(&mut self, record: u32, class: usize) {
        let partners = self.partners(record, class);
        weights::take(&mut self.classes, class, partners);
        self.feasible -= partners;
        self.sizes[class] -= 1;
        match &mut self.rule {
            Rule::Any(groups) => groups.take(record),
            Rule::One(key) => key.take(record, class),
            Rule::All(keys, cells) => {
                for key in keys {
                    key.take(record, class);
                }
                cells.take(record);
            }
        }
    }

    /// One of the feasible pairs of a class, all alike.
    fn draw(&self, class: usize, rng: &mut ChaCha20Rng, control: &Control) -> Result<(u32, u32)> {
        let size = self.sizes[class];
        match &self.rule {
            Rule::Any(groups) => Ok(groups.draw(class, rng)),
            Rule::One(key) => Ok(key.draw(class, size, rng)),
            Rule::All(keys, cells) => {
                let scarcest = keys.iter().min_by_key(|key| key.ordered_pairs(class, size)).ok_or_else(lost)?;
                // So many pairs differ in this key for each one that differs in all.
                let tries = scarcest.ordered_pairs(class, size) / (2 * weights::of(&self.classes, class)).max(1);
                if tries > cells.cost(class) {
                    return cells.draw(class, size, rng, control);
                }
                for trial in 1u64.. {
                    let (a, b) = scarcest.draw(class, size, rng);
                    if differ(keys, a, b) {
                        return Ok((a, b));
                    }
                    if trial.is_multiple_of(STEPS) {
                        control.check()?;
                    }
                }
                Err(lost())
            }
        }
    }
}

fn differ(keys: &[Key], a: u32, b: u32) -> bool {
    keys.iter().all(|key| key.groups.of(a) != key.groups.of(b))
}

fn lost() -> Error {
    Error::Parameter("the count of feasible pairs is wrong; please report this".into())
}
