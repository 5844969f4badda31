//! Fidelity cards: what of a pane is exact, approximated or absent, in a few sentences.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::tui::pane::Pane;
use crate::tui::scene::Content;
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
                seconds drawn out. A compressed batch has the size that its codec makes of batches \
                so large, on average over the payload sample.",
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
                replicas; lag of the group that is furthest behind.",
            approximated: "Rates are over the last second. Hottest keys come from a bounded \
                count, exact as long as few keys are hot. A cause is the likeliest one, by rules \
                of thumb. The log cleaner takes no time.",
            absent: "Retention; page cache; tiered storage.",
        },
        Pane::Markers => Card {
            exact: "States, producer ids and epochs at the coordinator, and its last records; \
                markers and offsets; what became of every record.",
            approximated: "A new coordinator has its log loaded at once; markers that failed are \
                sent again after 10 ms; a caret inside a run of records is left out.",
            absent: "librdkafka's own connection to its coordinator.",
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
            absent: "What consumers did with the records: see their groups.",
        },
    }
}

/// What holds of consumer groups.
const CONSUMERS: Card = Card {
    exact: "Assignors, generations, heartbeats, session and poll() timeouts, commits, \
        auto.offset.reset; lag is the high watermark minus the committed offset, or minus the \
        position where nothing is committed.",
    approximated: "Members are taken by their number, not by random ids; offsets live on the \
        coordinator without a log of their own.",
    absent: "Static members, the new group protocol (KIP-848), fetching from followers.",
};

/// What holds of librdkafka's queue.
const QUEUE: Card = Card {
    exact: "Both limits: queue.buffering.max.messages counts messages from produce() until \
        poll() has handed out their reports, queue.buffering.max.kbytes the bytes of their values. \
        Batches, linger.ms, retries and the backpressure threshold are those of librdkafka 2.x.",
    approximated: "Main and broker threads take no time themselves. Messages in flight and \
        messages that wait for poll() are the engine's view; librdkafka's statistics show only \
        msg_cnt and msg_size.",
    absent: "Memory beside the queue: keys, headers, the messages' own structures; \
        transactions.",
};

/// What holds of a full queue of librdkafka.
const ROOM: Card = Card {
    exact: "produce() answers _QUEUE_FULL at once when a message would exceed either limit; with \
        RD_KAFKA_MSG_F_BLOCK it waits for room, and wakes as the client does.",
    approximated: "An application that tries again polls for 10 ms before it does, or sleeps so \
        long where another thread polls. The chart is sampled every [scenario] sample (100 ms by \
        default).",
    absent: "Nothing. The share of its threads' time that goes into waiting for room is what \
        librdkafka itself does not measure.",
};

const PLAYBOOK: Card = Card {
    exact: "Alerts are inactive, pending, firing and resolved as Prometheus has them; every figure \
        is the one that the panes show.",
    approximated: "Rules look at every sample ([scenario] sample, 100 ms by default), where a real \
        one looks every 15 s or more. A batch is late by its first record.",
    absent: "Scraping, the way of a page to a telephone, and colleagues.",
};

/// The card of what a pane shows as lines of at most `width` cells.
pub fn lines(theme: &Theme, content: &Content, width: u16) -> Vec<Line<'static>> {
    let card = match content {
        Content::Usual(pane) => &card(*pane),
        Content::Queue(_) => &QUEUE,
        Content::Room(_) => &ROOM,
        Content::Playbook => &PLAYBOOK,
        Content::Consumers => &CONSUMERS,
    };
    let styles = theme.styles;
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
