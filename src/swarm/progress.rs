//! How far a hunt is: a bar where somebody looks, a line now and then where somebody may read.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

use crate::headless::complain;

/// Lines about a hunt that nobody watches, at most.
const LINES_MAX: u64 = 20;

/// Where the progress of a hunt is shown.
pub(super) struct Progress {
    runs: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing done of so many runs.
    pub(super) fn new(runs: u64) -> Self {
        let is_seen = std::io::stderr().is_terminal();
        Self {
            runs,
            bar: is_seen.then(|| bar(runs)),
        }
    }

    /// So many runs are done, and so many of them failed.
    pub(super) fn show(&mut self, done: u64, failures: usize) {
        let failed = match failures {
            0 => String::new(),
            1 => ", 1 failure".to_owned(),
            failures => format!(", {failures} failures"),
        };
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(format!("{done} of {} runs{failed}", self.runs));
            return;
        }
        let step = self.runs.div_ceil(LINES_MAX).max(100);
        if done.is_multiple_of(step) && done < self.runs {
            complain(&format!("{done} of {} runs{failed}", self.runs));
        }
    }

    /// Says something that stays.
    pub(super) fn say(&mut self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => complain(text),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(runs: u64) -> ProgressBar {
    let bar = ProgressBar::new(runs);
    match ProgressStyle::with_template("{wide_bar} {percent:>3} %  {msg}  {eta} left") {
        Ok(style) => bar.with_style(style.progress_chars("━╸─")),
        Err(_template) => bar,
    }
}
