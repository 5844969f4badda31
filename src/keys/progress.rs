//! The bar on standard error while many keys are read.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use super::{Format, Request};

/// Keys before there is a bar: fewer are done before it could be read.
const KEYS_MIN: u64 = 500_000;

/// A bar, where somebody looks.
pub(super) struct Progress {
    bytes: Option<u64>,
    looks: Looks,
    bar: Option<ProgressBar>,
}

/// Whether a bar would be seen, and not be torn apart by rows on the same terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    Somebody,
    Nobody,
}

impl Progress {
    /// A bar for an input of so many bytes, where that is known.
    pub(super) fn new(bytes: Option<u64>, request: &Request) -> Self {
        let rows_on_screen = request.output.is_none()
            && request.format != Format::Text
            && request.listed_max() > 0
            && std::io::stdout().is_terminal();
        let is_seen = std::io::stderr().is_terminal() && !rows_on_screen;
        Self {
            bytes,
            looks: if is_seen {
                Looks::Somebody
            } else {
                Looks::Nobody
            },
            bar: None,
        }
    }

    /// Shows how many keys and bytes are done.
    pub(super) fn show(&mut self, keys: u64, bytes: u64) {
        if self.looks == Looks::Nobody || keys < KEYS_MIN {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| bar(self.bytes));
        bar.set_position(bytes);
        bar.set_message(format!("{:.1} million keys", keys as f64 / 1e6));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match bytes {
        Some(bytes) => (
            ProgressBar::new(bytes),
            "{wide_bar} {percent:>3} %  {msg}  {eta} left",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {msg}  {bytes} read in {elapsed}",
        ),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.progress_chars("━╸─")),
        Err(_template) => bar,
    }
}
