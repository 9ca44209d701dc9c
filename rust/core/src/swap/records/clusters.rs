//! The clusters of all tuples, worked out in parallel.

use rayon::prelude::*;

use super::nearest::{Cluster, Range, Room, Search};
use crate::control::Control;
use crate::error::Result;
use crate::memory::Meter;
use crate::search::lanes::LANES;

/// Tuples whose clusters are stored together.
const CHUNK: usize = 256;
/// Ranges that are stored for one tuple; longer lists are worked out again when they are needed.
const STORED: usize = 512;

/// The clusters of all tuples, as far as they are short enough to be stored.
pub(super) struct Clusters {
    chunks: Vec<Chunk>,
}

#[derive(Default)]
struct Chunk {
    ranges: Vec<Range>,
    clusters: Vec<Stored>,
}

#[derive(Clone, Copy)]
struct Stored {
    /// Ends of its two lists among the ranges of the chunk; the first begins where the one before ends.
    inside: u32,
    boundary: u32,
    /// None if the lists are too long.
    drawn: Option<u32>,
}

impl Clusters {
    /// Works out all clusters in parallel.
    pub fn new(search: &Search<'_>, control: &Control) -> Result<Self> {
        let meter = Meter::default();
        let chunks = (0..search.len().div_ceil(CHUNK)).into_par_iter().map_init(Room::default, |room, index| {
            let tuples = index * CHUNK..search.len().min((index + 1) * CHUNK);
            let chunk = Chunk::new(search, tuples.clone(), room, &meter, control)?;
            control.advance(tuples.len() as u64)?;
            Ok(chunk)
        });
        Ok(Self { chunks: chunks.collect::<Result<_>>()? })
    }

    /// The cluster of a tuple, if it is stored.
    #[inline]
    pub fn of(&self, tuple: usize) -> Option<Cluster<'_>> {
        let (chunk, index) = (&self.chunks[tuple / CHUNK], tuple % CHUNK);
        let before = if index == 0 { 0 } else { chunk.clusters[index - 1].boundary as usize };
        let Stored { inside, boundary, drawn } = chunk.clusters[index];
        let (inside, boundary) = (inside as usize, boundary as usize);
        let drawn = drawn? as usize;
        Some(Cluster { inside: &chunk.ranges[before..inside], boundary: &chunk.ranges[inside..boundary], drawn })
    }
}

impl Chunk {
    fn new(
        search: &Search<'_>,
        mut tuples: std::ops::Range<usize>,
        room: &mut Room,
        meter: &Meter,
        control: &Control,
    ) -> Result<Self> {
        let mut chunk = Self::default();
        let mut batch = Vec::with_capacity(LANES);
        while !tuples.is_empty() {
            control.check()?;
            // Tuples that need no search may stand between those of a batch.
            let start = tuples.start;
            batch.clear();
            while batch.len() < LANES
                && let Some(tuple) = tuples.next()
            {
                if search.alone(tuple).is_none() {
                    batch.push(tuple as u32);
                }
            }
            search.find(&batch, room, control)?;
            let mut lanes = 0..;
            for tuple in start..tuples.start {
                let own;
                let cluster = if let Some((records, drawn)) = search.alone(tuple) {
                    own = [records];
                    Cluster { inside: &[], boundary: &own, drawn }
                } else {
                    room.cluster(lanes.next().unwrap_or(0))
                };
                chunk.push(cluster, meter)?;
            }
        }
        chunk.ranges.shrink_to_fit();
        Ok(chunk)
    }

    fn push(&mut self, cluster: Cluster<'_>, meter: &Meter) -> Result<()> {
        let ranges = cluster.inside.len() + cluster.boundary.len();
        let short = ranges <= STORED;
        let kept = if short { size_of::<Range>() * ranges } else { 0 };
        meter.keep(kept + 2 * size_of::<Stored>(), "the nearest records of all tuples")?;
        if short {
            self.ranges.extend_from_slice(cluster.inside);
        }
        let inside = self.ranges.len() as u32;
        if short {
            self.ranges.extend_from_slice(cluster.boundary);
        }
        let boundary = self.ranges.len() as u32;
        self.clusters.push(Stored { inside, boundary, drawn: short.then_some(cluster.drawn as u32) });
        Ok(())
    }
}
