//! How much memory can still be had, and work that does not fit, refused before it begins.
//!
//! A failed allocation would end the process. So every kernel knows an upper bound of what it allocates and asks for it when it
//! begins; where that depends on what it finds on the way, for each of its steps, as soon as it is known what the step is about.
//! A question covers everything up to the next one.

use std::fs::read_to_string;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Bytes that are taken without a look at what the system says, which is now and then far too low for an instant.
const LITTLE: usize = 16 << 20;

/// Bytes left for what nobody counts: stacks of threads, the caller's own objects, holes in the heap. Just above 32 MiB, up
/// to which glibc would keep allocations like a given-back trial in its heap from then on.
const SPARE: usize = 33 << 20;

/// Bytes that are taken without a trial where one went well just now, and how many microseconds that is: short work, done again
/// and again, would take longer for its trials than for itself. Also what is kept, of results whose size nobody knows
/// beforehand, without asking.
const RECENT: u64 = 1_000;
const LEAST: usize = 1 << 18;

/// Bytes of a list that grows, for which a trial would take longer than what is done with them.
const FEW: usize = 1 << 15;

/// Looks at what is free before work is refused, and the time between them.
const LOOKS: usize = 3;
const PAUSE: Duration = Duration::from_millis(50);

/// Fails unless so many bytes can be had; `what` needs them.
pub fn require(bytes: usize, what: &str) -> Result<()> {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    static TRUSTED: AtomicU64 = AtomicU64::new(0);
    let now = BEGIN.elapsed().as_micros() as u64;
    if bytes <= LEAST && now < TRUSTED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let needed = bytes.saturating_add(SPARE);
    let fits = |looks: usize| {
        if looks > 0 {
            sleep(PAUSE);
        }
        free().is_none_or(|free| free >= needed as u64)
    };
    let fits = bytes <= LITTLE || (0..LOOKS).any(fits);
    // The trial also sees limits that the system does not tell. What is not touched takes no memory.
    if fits && Vec::<u8>::new().try_reserve_exact(needed).is_ok() {
        TRUSTED.store(now + RECENT, Ordering::Relaxed);
        return Ok(());
    }
    Err(Error::Memory { needed: needed as u64, free: free(), what: what.into() })
}

/// Makes room for `more` items in a list whose length nobody knows beforehand, or fails.
#[inline]
pub(crate) fn room<T>(list: &mut Vec<T>, more: usize, what: &str) -> Result<()> {
    if list.capacity() - list.len() >= more {
        return Ok(());
    }
    let items = (2 * list.capacity()).max(list.len() + more);
    let bytes = items.saturating_mul(size_of::<T>());
    if bytes > FEW {
        require(bytes, what)?;
    }
    list.reserve_exact(items - list.len());
    Ok(())
}

/// Counts what threads keep of results whose size nobody knows beforehand, and asks for more now and then on the way.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    kept: AtomicUsize,
    /// What threads have beside that, and may have given back for a moment when one of them asks.
    beside: usize,
}

impl Meter {
    /// For threads that have so many bytes in all beside what they keep.
    pub(crate) fn beside(bytes: usize) -> Self {
        Self { kept: AtomicUsize::new(0), beside: bytes }
    }

    /// So many bytes more are about to be kept; fails unless they, and as many as there are then, can be had.
    ///
    /// Asked whenever the total doubles, from a little on: seldom, and never for more than twice what is kept.
    pub(crate) fn keep(&self, bytes: usize, what: &str) -> Result<()> {
        let before = self.kept.fetch_add(bytes, Ordering::Relaxed);
        let next = (before + bytes + 1).next_power_of_two().max(LEAST);
        if next > (before + 1).next_power_of_two().max(LEAST) {
            require(next - before + self.beside, what)
        } else {
            Ok(())
        }
    }
}

/// Bytes that can still be had without swapping, or nothing where the system does not say.
///
/// The least of what the machine has, of what each control group from our own up to the root may still take, and of what the
/// limits of the process leave.
pub fn free() -> Option<u64> {
    free_under(Path::new("/"))
}

/// The same, with `/proc` and the mounted control groups below another folder than the root.
pub fn free_under(root: &Path) -> Option<u64> {
    let read = |name: &str| read_to_string(root.join("proc").join(name)).unwrap_or_default();
    let (limits, status) = (read("self/limits"), read("self/status"));
    let left = |limit, used| Some(number(&limits, limit)?.saturating_sub(1024 * number(&status, used)?));
    let machine = number(&read("meminfo"), "MemAvailable:").map(|kib| 1024 * kib);
    let process = [left("Max address space", "VmSize:"), left("Max data size", "VmData:")];
    let groups = headrooms(root, &read("self/cgroup"), &read("self/mountinfo"));
    machine.into_iter().chain(process.into_iter().flatten()).chain(groups).min()
}

/// The number after a name at the beginning of a line. A limit that is "unlimited" or "max" is none.
fn number(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

/// Where a version of control groups tells the limit, what is used, and what of that is given up as soon as it is needed.
struct Version {
    limit: &'static str,
    used: &'static str,
    reclaimable: &'static str,
}

const FIRST: Version =
    Version { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", reclaimable: "total_inactive_file" };
const SECOND: Version = Version { limit: "memory.max", used: "memory.current", reclaimable: "inactive_file" };

impl Version {
    /// What a control group may still take, if it has a limit.
    fn headroom(&self, group: &Path) -> Option<u64> {
        let read = |name: &str| read_to_string(group.join(name)).ok();
        let limit = number(&read(self.limit)?, "")?;
        let used = number(&read(self.used)?, "")?;
        let reclaimable = read("memory.stat").and_then(|stat| number(&stat, self.reclaimable));
        Some(limit.saturating_sub(used.saturating_sub(reclaimable.unwrap_or(0))))
    }
}

/// What the control groups from our own up to the root may still take.
fn headrooms(root: &Path, groups: &str, mounts: &str) -> Vec<u64> {
    let has_memory = |list: &str| list.split(',').any(|name| name == "memory");
    let mut found = vec![];
    for group in groups.lines() {
        let mut parts = group.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let version = match controllers {
            "" => SECOND,
            list if has_memory(list) => FIRST,
            _ => continue,
        };
        // Number, parent, device, root in the file system, mount point, …, "-", type, source, options.
        let mounted = mounts.lines().find_map(|mount| {
            let (place, kind) = mount.split_once(" - ")?;
            let mut kind = kind.split(' ');
            let own = match kind.next()? {
                "cgroup2" => controllers.is_empty(),
                "cgroup" => !controllers.is_empty() && has_memory(kind.nth(1)?),
                _ => false,
            };
            let mut place = place.split(' ').skip(3);
            own.then_some((place.next()?, place.next()?))
        });
        let Some((top, point)) = mounted else { continue };
        let point = root.join(point.trim_start_matches('/'));
        let own = point.join(Path::new(path).strip_prefix(top).unwrap_or(Path::new("")));
        let upwards = own.ancestors().take_while(|group| group.starts_with(&point));
        found.extend(upwards.filter_map(|group| version.headroom(group)));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, remove_dir_all, write};

    use super::*;

    const MIB: u64 = 1 << 20;

    /// What is free in a made-up system of these files.
    fn free_with(name: &str, files: &[(&str, &str)]) -> Option<u64> {
        let root = std::env::temp_dir().join(format!("nominym-memory-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text).unwrap();
        }
        let free = free_under(&root);
        remove_dir_all(&root).unwrap();
        free
    }

    const MEMINFO: (&str, &str) = ("proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:    8192000 kB\n");

    #[test]
    fn the_machine_alone() {
        assert_eq!(free_with("machine", &[MEMINFO]), Some(8000 * MIB));
        assert_eq!(free_with("unknown", &[("proc/version", "")]), None);
        #[cfg(target_os = "linux")]
        assert!(free().unwrap() > MIB);
    }

    #[test]
    fn limits_of_the_process() {
        let limits = |data: &str, space: &str| {
            format!(
                "Limit  Soft Limit  Units\nMax data size   {data}  unlimited bytes\nMax address space {space} unlimited bytes\n"
            )
        };
        let status = ("proc/self/status", "VmPeak: 9 kB\nVmSize:\t  102400 kB\nVmData:\t 51200 kB\n");
        let free = |name, data: &str, space: &str| {
            free_with(name, &[MEMINFO, status, ("proc/self/limits", &limits(data, space))])
        };
        assert_eq!(free("none", "unlimited", "unlimited"), Some(8000 * MIB));
        assert_eq!(free("space", "unlimited", "209715200"), Some(100 * MIB));
        assert_eq!(free("data", "104857600", "209715200"), Some(50 * MIB));
        assert_eq!(free("over", "1024", "unlimited"), Some(0));
    }

    #[test]
    fn control_groups_up_to_the_root() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "0::/a/b\n"),
            ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/memory.max", "1073741824\n"),
            ("sys/fs/cgroup/a/memory.current", "629145600\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 104857600\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "1\n"),
        ];
        assert_eq!(free_with("second", &files), Some(524 * MIB));
    }

    #[test]
    fn control_groups_of_the_first_version_in_a_container() {
        let files = [
            MEMINFO,
            ("proc/self/cgroup", "5:cpu:/pod/x\n4:cpuset,memory:/pod/x\n0::/\n"),
            (
                "proc/self/mountinfo",
                "34 31 0:31 /pod /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                 35 31 0:32 /pod /sys/fs/cgroup/memory rw - cgroup cgroup rw,cpuset,memory\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4096\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "314572800\n"),
            ("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "209715200\n"),
            ("sys/fs/cgroup/memory/x/memory.stat", "inactive_file 7\ntotal_inactive_file 52428800\n"),
        ];
        assert_eq!(free_with("first", &files), Some(150 * MIB));
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        assert_eq!(require(0, "nothing"), Ok(()));
        for bytes in [1 << 60, usize::MAX] {
            let error = require(bytes, "a join").unwrap_err();
            assert!(matches!(&error, Error::Memory { needed, .. } if *needed >= bytes as u64));
        }
    }

    #[test]
    fn the_error_tells_both_sizes() {
        let text = |free| Error::Memory { needed: 5 << 28, free, what: "a join".into() }.to_string();
        assert_eq!(text(Some(400 * MIB)), "a join needs 1.2 GiB, 400.0 MiB are free");
        assert_eq!(text(None), "a join needs 1.2 GiB, more than is available");
    }
}
