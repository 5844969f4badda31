//! Fidelity cards: what of a pane is exact, approximated or absent, in a few sentences.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::tui::pane::Pane;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What a card says.
struct Card {
    exact: &'static str,
    approximated: &'static str,
    absent: &'static str,
}

const fn card(pane: Pane) -> Card {
    match pane {
        Pane::Fill => Card {
            exact: "Memory is taken in whole batches of batch.size (a larger record takes its own \
                size), waiters are served in order, a batch's memory comes back when it is \
                acknowledged or expired. Batch boundaries and record sizes are those of the client.",
            approximated: "Which of the four kinds a batch counts as is the engine's view; a real \
                client shows only buffer-available-bytes. 'Full in' is the rate of the last two \
                seconds drawn out.",
            absent: "The heap around the pool: records outside of batches, compression buffers, \
                the garbage collector.",
        },
        Pane::Wait => Card {
            exact: "bufferpool-wait-ratio is computed as the client computes it: a wait is \
                recorded when it ends, over metrics.num.samples windows of \
                metrics.sample.window.ms, so it is late and can exceed 1.",
            approximated: "Both readings are sampled every [scenario] sample (100 ms by default); \
                between samples the chart knows only the ends.",
            absent: "Nothing. The truth is what no client can show: the share of its threads' time \
                that goes into waiting for memory, unfinished waits included.",
        },
        Pane::Partitions => Card {
            exact: "Records and bytes appended by the leader, batch headers included; the \
                partition of every key, by the partitioner of its producers; leader, in-sync \
                replicas.",
            approximated: "Rates are over the last second. Hottest keys come from a bounded \
                count, exact as long as few keys are hot.",
            absent: "Segments, retention and compaction; page cache.",
        },
        Pane::Markers => Card {
            exact: "Nothing yet.",
            approximated: "Nothing yet.",
            absent: "Transactions: coordinator, markers, fencing. This version sends without them.",
        },
        Pane::Cluster => Card {
            exact: "One request at a time per connection, in order; an acks=all wait holds its \
                connection; connection states and backoff are those of the client.",
            approximated: "A disk is one queue with a rate; a request costs a fixed time and its \
                bytes; loss delays the stream as TCP's resending would; the controller notices a \
                dead broker by its session timeout.",
            absent: "Processor and memory of a broker, TLS, quotas, other clients than shown.",
        },
        Pane::Warnings => Card {
            exact: "Every warning names the figures that it was made from, and the same run makes \
                the same warnings.",
            approximated: "Thresholds are rules of thumb; a warning is a hint and no proof.",
            absent: "Advice that depends on hardware.",
        },
        Pane::Events => Card {
            exact: "Exceptions and their texts are the client's own; moments are those of \
                simulated time; the order is that of the run.",
            approximated: "Facts that only repeat the line before are counted there; the oldest \
                lines are forgotten when there are too many.",
            absent: "Log lines of the real programs.",
        },
        Pane::Expectations => Card {
            exact: "Decided from samples and facts, the same on the screen and headless.",
            approximated: "A metric is seen at its samples only.",
            absent: "Nothing.",
        },
        Pane::Ledger => Card {
            exact: "Every record of every producer is accounted for by (producer, partition, \
                ordinal); sent = acknowledged + under way + failed + gone, always.",
            approximated: "Nothing.",
            absent: "What consumers did with the records.",
        },
    }
}

/// A pane's card as lines of at most `width` cells.
pub fn lines(theme: &Theme, pane: Pane, width: u16) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let card = card(pane);
    let mut lines = Vec::new();
    for (heading, style, words) in [
        ("exact", styles.tone.good, card.exact),
        ("approximated", styles.tone.warn, card.approximated),
        ("absent", styles.text.strong, card.absent),
    ] {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::from(Span::styled(
            heading,
            style.add_modifier(Modifier::BOLD),
        )));
        for line in text::wrap(words, width) {
            lines.push(Line::from(Span::styled(line, styles.text.plain)));
        }
    }
    lines
}
