//! Runs core work away from the interpreter: other Python threads go on, Ctrl-C is seen, progress is told.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nominym_core::control::Control;
use nominym_core::error::Result;
use nominym_core::memory::require;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{exception, raise};

/// How long the waiting thread sleeps between two looks at signals and progress.
const TICK: Duration = Duration::from_millis(50);

/// Runs `work` on the thread pool, without the interpreter, and waits for it.
///
/// `progress` is called with (done, total) from the calling thread. A signal handler or a callback that raises stops
/// the work; a panic becomes `InternalError`.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Result<T> + Send,
) -> PyResult<T> {
    let progress = progress.map(|p| p.clone().unbind());
    let pool = pool()?;
    let control = Control::new();
    let tell = |py: Python<'_>| -> PyResult<()> {
        py.check_signals()?;
        match &progress {
            Some(callback) => callback.call1(py, control.progress()).map(|_| ()),
            None => Ok(()),
        }
    };
    let outcome = py.detach(|| {
        let (send, receive) = sync_channel(1);
        let control = &control;
        pool.in_place_scope(|scope| {
            scope.spawn(move |_| {
                // The receiver outlives the scope, so sending cannot fail.
                let _ = send.send(catch_unwind(AssertUnwindSafe(|| work(control))));
            });
            let mut raised = None;
            loop {
                match receive.recv_timeout(TICK) {
                    Ok(outcome) => break raised.map_or(Ok(outcome), Err),
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        if let Err(error) = Python::attach(tell) {
                            control.stop();
                            raised = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => {
                        break Err(raise("InternalError", "the work ended without a result", vec![]));
                    }
                }
            }
        })
    })?;
    let result = result(outcome)?;
    tell(py)?;
    Ok(result)
}

/// Does short work on the calling thread; a panic becomes `InternalError`.
pub fn guard<T>(work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    result(catch_unwind(AssertUnwindSafe(work)))
}

/// The result of work, or the exception that tells why there is none.
fn result<T>(outcome: std::thread::Result<Result<T>>) -> PyResult<T> {
    match outcome {
        Ok(done) => done.map_err(|e| exception(&e)),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            let place = std::mem::take(&mut *PLACE.lock().unwrap_or_else(PoisonError::into_inner));
            Err(raise("InternalError", &format!("a defect in the core: {text} ({place})"), vec![]))
        }
    }
}

/// Where the last panic happened.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Keeps panics from printing: the exception tells what happened and where. A backtrace would need memory, and waits for ever
/// where there is none.
pub fn set_panic_hook() {
    set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(|| "at an unknown place".into(), ToString::to_string);
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// How many threads callers asked for; 0 leaves it to the machine.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of threads for all further calls; 0 for one per core.
#[pyfunction]
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// A thread pool, with the process and the wish it was made for.
struct Crew {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

/// The pool of this process. A forked child has none of its parent's threads and would wait for them for ever, so
/// the pool is made anew where the process is not the one that made it.
fn pool() -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<Crew>> = Mutex::new(None);
    let mut held = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let (process, threads) = (std::process::id(), THREADS.load(Ordering::Relaxed));
    match held.take() {
        Some(made) if (made.process, made.threads) == (process, threads) => {
            let pool = made.pool.clone();
            *held = Some(made);
            return Ok(pool);
        }
        // Threads that never were in this process cannot be told to end.
        Some(made) if made.process != process => std::mem::forget(made),
        _ => {}
    }
    require(0, "starting threads").map_err(|e| exception(&e))?;
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        raise("SizeError", &format!("threads cannot be started: {e}; use fewer, or free memory"), vec![])
    })?;
    // What a thread takes from the address space for itself is taken before anybody asks what is left.
    pool.broadcast(|_| drop(black_box(Vec::<u8>::with_capacity(1))));
    let pool = Arc::new(pool);
    *held = Some(Crew { process, threads, pool: pool.clone() });
    Ok(pool)
}
