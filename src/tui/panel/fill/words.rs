//! The pool in words and figures: legend, contents, and the two sums with what they foretell.

use ratatui::text::{Line, Span};

use super::{Fill, Outlook};
use crate::sim::time::SimSpan;
use crate::tui::number;
use crate::tui::widget::legend::legend;

/// From this width on, words are spelled out.
const ROOMY: u16 = 56;

impl Fill<'_> {
    /// All lines above the chart.
    pub(super) fn words(&self, width: u16) -> Vec<Line<'static>> {
        let mut lines = self.legend(width);
        let threads = self.threads_waiting(width);
        let gap = self.dim("   ");
        let fits = |line: &Line<'_>| line.width() + 3 + threads.width() <= usize::from(width);
        // Where the legend leaves room, threads stand beside it.
        let contents = match lines.last_mut().filter(|line| fits(line)) {
            Some(last) => {
                last.extend([gap, threads]);
                self.contents(width, None)
            }
            None => self.contents(width, Some(threads)),
        };
        lines.extend([contents, self.sums(width)]);
        lines
    }

    fn dim(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.theme.styles.text.dim)
    }

    fn plain(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.theme.styles.text.plain)
    }

    /// `1 batch`, `2,048 batches`
    fn counted(&self, count: u64, one: &str, several: &str) -> Vec<Span<'static>> {
        let word = if count == 1 { one } else { several };
        vec![
            self.plain(number::count(count)),
            self.dim(format!(" {word}")),
        ]
    }

    fn legend(&self, width: u16) -> Vec<Line<'static>> {
        let parts = self.parts().into_iter().chain([("free", self.free())]);
        legend(self.theme, width, parts, number::bytes)
    }

    fn threads_waiting(&self, width: u16) -> Span<'static> {
        let styles = self.theme.styles;
        let waiting = self.buffer.waiting_threads;
        let style = if waiting > 0 {
            styles.tone.warn
        } else {
            styles.text.dim
        };
        let words = match (width >= ROOMY, self.threads) {
            (true, 1) => format!("{waiting} of 1 thread waits"),
            (true, threads) => format!("{waiting} of {threads} threads wait"),
            (false, threads) => format!("{waiting}/{threads} wait"),
        };
        Span::styled(words, style)
    }

    /// Batches, records, age, and threads where nothing else has room for them.
    fn contents(&self, width: u16, threads: Option<Span<'static>>) -> Line<'static> {
        let dot = format!(" {} ", self.theme.glyphs.dot);
        let mut items = vec![self.counted(u64::from(self.buffer.batches), "batch", "batches")];
        if width >= ROOMY {
            items.push(self.counted(self.buffer.records, "record", "records"));
        }
        if let Some(age) = self.buffer.oldest_batch_age {
            items.push(vec![self.plain(number::span(age)), self.dim(" old")]);
        }
        if let Some(threads) = threads {
            items.insert(0, vec![threads]);
        }
        let mut line = Line::default();
        for (place, item) in items.into_iter().enumerate() {
            if place > 0 {
                line.push_span(self.dim(dot.as_str()));
            }
            line.extend(item);
        }
        line
    }

    /// Both sums, each with what it foretells.
    fn sums(&self, width: u16) -> Line<'static> {
        let styles = self.theme.styles;
        let (area, thread) = if self.theme.glyphs.braille {
            ("⢕", "⠒")
        } else {
            (":", "*")
        };
        let (batches, bytes) = if width >= ROOMY {
            (" batches ", " bytes ")
        } else {
            (" ", " ")
        };
        let used = self
            .buffer
            .total_bytes
            .saturating_sub(self.buffer.available_bytes);
        let mut line = Line::from(vec![
            Span::styled(area, styles.buffer.ready),
            self.dim(batches),
            self.plain(number::bytes(used)),
        ]);
        match self.outlook {
            Outlook::Steady => {}
            Outlook::FullIn { by_batches, .. } => {
                let words = format!(" full in {}", seconds(by_batches));
                line.push_span(Span::styled(words, styles.tone.warn));
            }
            Outlook::FullSince(at) => {
                let word = if width >= ROOMY {
                    "full since"
                } else {
                    "full at"
                };
                let words = format!(" {word} {:.1}s", at.as_seconds());
                line.push_span(Span::styled(words, styles.tone.bad));
            }
        }
        line.extend([
            self.dim("  "),
            Span::styled(thread, styles.chart.reading),
            self.dim(bytes),
            self.plain(number::bytes(self.buffer.written_bytes)),
        ]);
        if let Outlook::FullIn { by_bytes, .. } = self.outlook {
            line.push_span(self.dim(format!(" in {}", seconds(by_bytes))));
        }
        line
    }
}

/// Seconds with a digit behind the point where that matters.
fn seconds(span: SimSpan) -> String {
    let seconds = span.as_seconds();
    let digits = usize::from(seconds < 10.0);
    format!("{seconds:.digits$} s")
}
