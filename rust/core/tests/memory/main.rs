//! Kernels ask for what they take, and for not much more: every allocation of this program is counted.
//!
//! The trial of `memory::require` is the only allocation of more than its spare here, since no list of these tests is as long.
//! So the allocator knows what was asked for and when, and can compare it with what is taken.

mod attacks;
mod itemsets;
mod statistics;
mod swaps;
mod tables;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::ThreadPoolBuilder;

/// What `require` asks for beside what it is told.
const SPARE: isize = 33 << 20;
/// What nobody counts: it fits into the spare many times.
const UNCOUNTED: isize = 3 << 19;

/// Bytes in use; the most that were; the most that was asked for, with what was in use then; the most by which more was in use.
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);
static ASKED: AtomicIsize = AtomicIsize::new(0);
static EXCESS: AtomicIsize = AtomicIsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn took(bytes: isize) {
    if bytes >= SPARE {
        ASKED.fetch_max(LIVE.load(SeqCst) + bytes - SPARE, SeqCst);
    } else {
        let live = LIVE.fetch_add(bytes, SeqCst) + bytes;
        PEAK.fetch_max(live, SeqCst);
        EXCESS.fetch_max(live - ASKED.load(SeqCst), SeqCst);
    }
}

fn gave(bytes: isize) {
    if bytes < SPARE {
        LIVE.fetch_sub(bytes, SeqCst);
    }
}

#[allow(unsafe_code)]
// SAFETY: all memory is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        gave(layout.size() as isize);
        unsafe { System.dealloc(place, layout) }
    }

    /// Lists that grow are copied, as they may be; lists that shrink stay where they are.
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let shrinks = size < layout.size();
        if shrinks {
            gave(layout.size() as isize);
        }
        took(size as isize);
        if !shrinks {
            gave(layout.size() as isize);
        }
        unsafe { System.realloc(place, layout, size) }
    }
}

/// Keeps other tests waiting: whatever they allocate would be counted.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a kernel on one thread and on several; it must have asked for what it takes, and for at most three times that.
pub fn check<T: Send>(what: &str, work: impl Fn() -> T + Sync) {
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let before = LIVE.load(SeqCst);
            PEAK.store(before, SeqCst);
            ASKED.store(before, SeqCst);
            EXCESS.store(0, SeqCst);
            drop(work());
            let [peak, asked] = [&PEAK, &ASKED].map(|most| most.load(SeqCst) - before);
            let excess = EXCESS.load(SeqCst);
            let shape = format!("{what}, {threads} threads: took {peak} bytes and asked for {asked}");
            assert!(excess <= UNCOUNTED, "{shape}; {excess} more than it had asked for until then");
            assert!(asked <= 3 * peak + UNCOUNTED, "{shape}");
        });
    }
}
