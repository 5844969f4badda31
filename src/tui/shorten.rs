//! Names that are too long for their column, cut so that they can still be told apart.
//!
//! `acks-all-min-isr-1` and `acks-all-min-isr-2` begin alike: cut at their ends they are the same.
//! So of a column's names the end may stay, too, and no more of it than tells them apart.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::tui::text;

/// How the names of one column are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortener {
    /// Cells at the end of a name that stay.
    tail: u16,
    ellipsis: &'static str,
}

impl Shortener {
    /// Ends are cut.
    pub const fn at_ends(ellipsis: &'static str) -> Self {
        Self { tail: 0, ellipsis }
    }

    /// Of all ways to cut these names to so many cells the one that leaves most of them distinct,
    /// and of those the one that keeps the longest beginnings.
    pub fn of<'a>(
        names: impl IntoIterator<Item = &'a str>,
        cells: u16,
        ellipsis: &'static str,
    ) -> Self {
        let plain = Self::at_ends(ellipsis);
        let names: BTreeSet<&str> = names.into_iter().collect();
        if names.iter().all(|name| text::width(name) <= cells) {
            return plain;
        }
        let room = cells.saturating_sub(text::width(ellipsis));
        let mut best = (0, plain);
        for tail in 0..room.max(1) {
            let way = Self { tail, ellipsis };
            let distinct: BTreeSet<_> = names.iter().map(|name| way.fit(name, cells)).collect();
            if best.0 < distinct.len() {
                best = (distinct.len(), way);
            }
            if distinct.len() == names.len() {
                break;
            }
        }
        best.1
    }

    /// A name in at most so many cells.
    pub fn fit<'a>(&self, name: &'a str, cells: u16) -> Cow<'a, str> {
        if self.tail == 0 || text::width(name) <= cells {
            return text::fit(name, cells, self.ellipsis);
        }
        let end = end_of(name, self.tail);
        let head = text::fit(name, cells.saturating_sub(text::width(end)), self.ellipsis);
        Cow::Owned(format!("{head}{end}"))
    }
}

/// The longest end of a text that fits into so many cells.
fn end_of(text: &str, cells: u16) -> &str {
    let mut used = 0;
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        used += text::char_width(c);
        if used > cells {
            break;
        }
        start = at;
    }
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(names: &[&str], cells: u16) -> Vec<String> {
        let way = Shortener::of(names.iter().copied(), cells, "…");
        let cut = names.iter().map(|name| way.fit(name, cells).into_owned());
        cut.collect()
    }

    #[test]
    fn names_that_fit_stay() {
        assert_eq!(cut(&["acks-0", "acks-all"], 8), ["acks-0", "acks-all"]);
    }

    #[test]
    fn names_that_differ_at_the_beginning_are_cut_at_the_end() {
        let names = ["settlement", "rebuilding"];
        assert_eq!(cut(&names, 6), ["settl…", "rebui…"]);
    }

    #[test]
    fn names_that_differ_at_the_end_keep_it() {
        let names = ["acks-all-min-isr-1", "acks-all-min-isr-2", "acks-0"];
        assert_eq!(cut(&names, 8), ["acks-a…1", "acks-a…2", "acks-0"]);
    }

    #[test]
    fn names_that_differ_in_the_middle_keep_what_it_takes() {
        let names = ["rdkafka-one-slow", "rdkafka-two-slow"];
        assert_eq!(cut(&names, 9), ["rd…e-slow", "rd…o-slow"]);
    }

    #[test]
    fn where_nothing_tells_them_apart_they_still_fit() {
        for cells in 0..4 {
            for name in cut(&["日本語の一つ", "日本語の二つ", "x"], cells) {
                assert!(text::width(&name) <= cells, "{name}");
            }
        }
    }
}
