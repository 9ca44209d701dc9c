//! Core errors become the exceptions of `nominym.error`.

use nominym_core::error::Error;
use pyo3::prelude::*;

/// The exception for a core error. Concepts that it names travel by index in `concepts`; the Python side, which
/// knows the ids, words the message anew.
pub fn exception(error: &Error) -> PyErr {
    let (class, concepts) = match error {
        Error::Cycle(circle) => ("CycleError", circle.clone()),
        Error::Roots(roots) => ("RootError", roots.clone()),
        Error::Empty => ("TaxonomyError", vec![]),
        Error::NotATree(concept) => ("TaxonomyError", vec![*concept]),
        Error::Unused(concept) => ("ParameterError", vec![*concept]),
        Error::Memory { .. } | Error::Size(_) => ("SizeError", vec![]),
        Error::Parameter(_) | Error::Stopped => ("ParameterError", vec![]),
    };
    raise(class, &error.to_string(), concepts)
}

/// An exception of `nominym.error` by name.
pub fn raise(class: &str, message: &str, concepts: Vec<u32>) -> PyErr {
    Python::attach(|py| {
        let make = || -> PyResult<PyErr> {
            let exception = py.import("nominym.error")?.getattr(class)?.call1((message,))?;
            exception.setattr("concepts", concepts)?;
            Ok(PyErr::from_value(exception))
        };
        make().unwrap_or_else(|error| error)
    })
}
