//! The progress line on standard error, when somebody looks at it.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::command::text::escaped;
use crate::sim::time::SimTime;

/// Real time between two drawings.
const PAUSE: Duration = Duration::from_millis(100);

/// One line that is drawn over and over, and gone in the end.
pub(super) struct ProgressLine {
    name: String,
    target: SimTime,
    /// When it was drawn; `None` where nobody looks.
    drawn: Option<Instant>,
    is_visible: bool,
}

impl ProgressLine {
    /// A line for a run to `target`. Nothing is drawn unless standard error is a terminal.
    pub(super) fn new(name: &str, target: SimTime) -> Self {
        let drawn = std::io::stderr().is_terminal().then(now);
        Self {
            name: escaped(name),
            target,
            drawn,
            is_visible: false,
        }
    }

    /// Draws how far the run is, at most every [`PAUSE`].
    pub(super) fn show(&mut self, reached: SimTime) {
        if self.drawn.is_none_or(|drawn| drawn.elapsed() < PAUSE) {
            return;
        }
        self.drawn = Some(now());
        self.is_visible = true;
        let whole = self.target.as_nanos().max(1);
        let percent = u128::from(reached.as_nanos()) * 100 / u128::from(whole);
        let _written = write!(
            std::io::stderr().lock(),
            "\r{}: {reached} of {}, {percent} %\x1b[K",
            self.name,
            self.target,
        );
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.is_visible {
            let _written = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a person watches the line in real time"
)]
fn now() -> Instant {
    Instant::now()
}
