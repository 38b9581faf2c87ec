//! Names that the notation knows: data types, list types; and the nearest of some names.

use crate::graph::{DATA_TYPES, dtype_name as ge_name};

/// What every GE name begins with.
const PREFIX: &str = "DT_";

/// Where the notation's name is not the GE name in lower case.
const READABLE: [(&str, &str); 3] = [("FLOAT", "float32"), ("DOUBLE", "float64"), ("BF16", "bfloat16")];

/// `val_type` numbers by name (`graph_formats.md` 2, ListValue).
const LIST_TYPES: [&str; 11] =
    ["none", "string", "int", "float", "bool", "bytes", "desc", "tensor", "graph", "attrs", "dtype"];

/// The notation's name for a GE name.
fn readable(ge: &str) -> String {
    let short = ge.strip_prefix(PREFIX).unwrap_or(ge);
    match READABLE.iter().find(|(name, _)| *name == short) {
        Some((_, readable)) => (*readable).to_owned(),
        None => short.to_ascii_lowercase(),
    }
}

/// The proto number of `float32`, `DT_FLOAT`, `float` or `dtype77`.
pub(super) fn dtype(name: &str) -> Option<i32> {
    if let Some(number) = name.strip_prefix("dtype") {
        return number.parse().ok();
    }
    let is_meant = |ge: &str| match name.starts_with(PREFIX) {
        true => ge == name,
        false => readable(ge) == name || ge[PREFIX.len()..].to_ascii_lowercase() == name,
    };
    (0..).zip(&DATA_TYPES).find(|(_, known)| is_meant(known.name)).map(|(proto, _)| proto)
}

pub(super) fn dtype_name(proto: i32) -> String {
    ge_name(proto).map_or_else(|| format!("dtype{proto}"), readable)
}

pub(super) fn dtype_names() -> impl Iterator<Item = String> {
    DATA_TYPES.iter().map(|known| readable(known.name))
}

/// The C++ number of `DT_FLOAT` or `DT_77`, as attribute values hold it.
pub(super) fn cpp_dtype(name: &str) -> Option<i64> {
    let number = name.strip_prefix(PREFIX)?;
    match DATA_TYPES.iter().find(|known| known.name == name) {
        Some(known) => Some(known.cpp),
        None => number.parse().ok(),
    }
}

pub(super) fn cpp_dtype_name(cpp: i64) -> String {
    match DATA_TYPES.iter().find(|known| known.cpp == cpp) {
        Some(known) => known.name.to_owned(),
        None => format!("{PREFIX}{cpp}"),
    }
}

pub(super) fn cpp_dtype_names() -> impl Iterator<Item = String> {
    DATA_TYPES.iter().map(|known| known.name.to_owned())
}

pub(super) fn list_type(name: &str) -> Option<i32> {
    match LIST_TYPES.iter().zip(0..).find(|(n, _)| **n == name) {
        Some((_, number)) => Some(number),
        None => name.parse().ok(),
    }
}

pub(super) fn list_type_name(number: i32) -> String {
    let known = usize::try_from(number).ok().and_then(|n| LIST_TYPES.get(n));
    known.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

pub(super) fn list_type_names() -> impl Iterator<Item = String> {
    LIST_TYPES.iter().map(|name| (*name).to_owned())
}

/// Longer names have no nearest one: the search is quadratic in their length.
const LONGEST: usize = 80;

/// The candidate that differs from `wanted` in the fewest letters, if a typing error can explain it.
/// The first of equals.
pub(super) fn nearest(wanted: &str, candidates: impl IntoIterator<Item = impl AsRef<str>>) -> Option<String> {
    if wanted.len() > LONGEST {
        return None;
    }
    let length = wanted.chars().count();
    // A name with every letter changed is another name.
    let limit = (length / 3).clamp(1, 3).min(length.saturating_sub(1));
    let mut best: Option<(usize, String)> = None;
    for candidate in candidates {
        let candidate = candidate.as_ref();
        if candidate.len().abs_diff(wanted.len()) > 4 * limit {
            continue;
        }
        let distance = distance(wanted, candidate);
        if distance <= limit && best.as_ref().is_none_or(|(d, _)| distance < *d) {
            best = Some((distance, candidate.to_owned()));
        }
    }
    best.map(|(_, name)| name)
}

/// Letters to insert, remove, replace or swap with a neighbour; a change of case alone counts as one.
fn distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) {
        return usize::from(a != b);
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_numberings() {
        assert_eq!((dtype("float32"), dtype("DT_FLOAT"), dtype("float")), (Some(1), Some(1), Some(1)));
        assert_eq!((dtype("bfloat16"), dtype("dtype99"), dtype("floaty")), (Some(27), Some(99), None));
        assert_eq!(
            (cpp_dtype("DT_FLOAT"), cpp_dtype("DT_INT64"), cpp_dtype("DT_77")),
            (Some(0), Some(9), Some(77))
        );
        for number in -1..50 {
            assert_eq!(dtype(&dtype_name(number)), Some(number));
            assert_eq!(cpp_dtype(&cpp_dtype_name(number.into())), Some(number.into()));
            assert_eq!(list_type(&list_type_name(number)), Some(number));
        }
    }

    #[test]
    fn the_nearest_name() {
        let names = ["relu_1", "relu_2", "data"];
        assert_eq!(nearest("rleu_2", names).as_deref(), Some("relu_2"));
        assert_eq!(nearest("dta", names).as_deref(), Some("data"));
        assert_eq!(nearest("softmax", names), None);
        assert_eq!(nearest("a", ["b"]), None);
    }
}
