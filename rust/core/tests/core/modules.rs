//! The modules of the core depend on each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The top-level modules that some code names after `crate::`, in a list or one by one.
fn named(code: &str) -> impl Iterator<Item = &str> {
    let lists = code.split("crate::").skip(1).map(|rest| {
        let end = rest.find(if rest.starts_with('{') { '}' } else { ';' }).unwrap_or(rest.len());
        &rest[..end]
    });
    lists.flat_map(|list| list.trim_start_matches('{').split(if list.starts_with('{') { ',' } else { '\0' })).map(
        |path| {
            let path = path.trim();
            &path[..path.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(path.len())]
        },
    )
}

/// Which top-level modules each of them names.
fn collect(path: &Path, module: Option<&str>, uses: &mut BTreeMap<String, BTreeSet<String>>) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = module.unwrap_or(&stem);
        if path.is_dir() {
            collect(&path, Some(module), uses);
        } else if module != "lib" {
            let code = fs::read_to_string(&path).unwrap();
            let others = named(&code).filter(|&other| other != module).map(str::to_owned);
            uses.entry(module.to_owned()).or_default().extend(others);
        }
    }
}

#[test]
fn no_two_modules_need_each_other() {
    let mut uses = BTreeMap::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut uses);
    assert!(uses["swap"].contains("tuples") && uses["risk"].contains("search"), "{uses:?}");
    // Modules that need no other that is left are taken away, until none is left, or only circles are.
    while !uses.is_empty() {
        let left: BTreeSet<String> = uses.keys().cloned().collect();
        uses.retain(|_, others| !others.is_disjoint(&left));
        assert!(uses.len() < left.len(), "a circle among {uses:#?}");
    }
}

#[test]
fn names_after_crate() {
    let code = "use crate::error::{Error, Result};\nuse crate::{lists, rng::Streams};\nlet x = crate::MISSING;";
    assert_eq!(named(code).collect::<Vec<_>>(), ["error", "lists", "rng", "MISSING"]);
}
