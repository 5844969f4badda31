//! What each application thread of a producer does now.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::insight::names;
use crate::sim::fact::BlockedOn;
use crate::sim::ids::ProducerIndex;
use crate::sim::view::{ThreadState, ThreadView};
use crate::tui::number;
use crate::tui::scene::Scene;
use crate::tui::text;

/// One line a thread.
pub(in crate::tui::panel) fn lines(
    scene: &Scene<'_>,
    producer: ProducerIndex,
) -> Vec<Line<'static>> {
    let threads = scene.view(producer).threads;
    threads
        .iter()
        .enumerate()
        .map(|(number, thread)| line(scene, (producer, number), thread))
        .collect()
}

fn line(
    scene: &Scene<'_>,
    (producer, number): (ProducerIndex, usize),
    thread: &ThreadView,
) -> Line<'static> {
    let styles = scene.theme().styles;
    let (words, style) = state(scene, producer, thread.state);
    let mut spans = vec![
        Span::styled(format!("thread {number:<3} "), styles.text.dim),
        Span::styled(words, style),
    ];
    for (count, what) in [
        (thread.outside, "wait outside"),
        (thread.spilled, "in its local queue"),
    ] {
        if count > 0 {
            spans.push(Span::styled(
                format!(", {} {what}", number::count(count)),
                styles.text.plain,
            ));
        }
    }
    Line::from(spans)
}

fn state(scene: &Scene<'_>, producer: ProducerIndex, state: ThreadState) -> (String, Style) {
    let styles = scene.theme().styles;
    match state {
        ThreadState::Working => ("works between calls".to_owned(), styles.text.plain),
        ThreadState::Done => ("has nothing more to do".to_owned(), styles.text.dim),
        ThreadState::Pausing { until } => {
            let words = format!("pauses after a refusal, until {}", number::moment(until));
            (words, styles.tone.warn)
        }
        ThreadState::Blocked { on, since } => {
            let waited = number::span(scene.now().since(since));
            let what = blocked_on(scene, producer, on);
            (
                format!("waits for {what}, {waited} so far"),
                styles.tone.warn,
            )
        }
    }
}

fn blocked_on(scene: &Scene<'_>, producer: ProducerIndex, on: BlockedOn) -> String {
    match on {
        BlockedOn::Memory { bytes } => {
            format!("{} B of buffer.memory", number::count(u64::from(bytes)))
        }
        BlockedOn::Metadata { topic } => {
            let topic = text::visible(names::topic(scene.config(), topic));
            format!("metadata of {topic}")
        }
        BlockedOn::Acks => "acknowledgement of its records".to_owned(),
        BlockedOn::Flush => "flush()".to_owned(),
        BlockedOn::Close => "close()".to_owned(),
        BlockedOn::Room => "room in the queue".to_owned(),
        BlockedOn::Reports => "delivery reports, in poll()".to_owned(),
        BlockedOn::Transaction(operation) => {
            let call = names::transactional_call(scene.config(), producer, operation);
            format!("{call}()")
        }
    }
}
