//! The report for people: 80 columns, no colour needed.

use std::fmt::Write as _;

use super::model::{Measured, RecordStory};
use super::{Expected, Happening, Outcome, Report};
use crate::command::text::escaped;
use crate::insight::ledger::DuplicateCause;

/// Columns of a line at most.
const COLUMNS: usize = 80;
/// Records of a traced key whose trouble is told at most; the other formats tell more.
const STORIES_MAX: usize = 3;
/// Moments that are told at most; beyond, the first and the last half of them.
const HAPPENINGS_MAX: usize = 24;

/// All outcomes, with a summary line when there are several.
pub(super) fn render(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for (place, outcome) in outcomes.iter().enumerate() {
        if 0 < place {
            text.push('\n');
        }
        match outcome {
            Outcome::Ran(report) => of_run(&mut text, report),
            Outcome::Unloadable { scenario, .. } => {
                line(
                    &mut text,
                    "",
                    &format!("{} could not be loaded", escaped(scenario)),
                );
            }
        }
    }
    if 1 < outcomes.len() {
        summary(&mut text, outcomes);
    }
    text
}

fn of_run(text: &mut String, report: &Report) {
    line(
        text,
        "",
        &format!("{}: {}", escaped(&report.scenario), escaped(&report.title)),
    );
    let how = if report.ended {
        "ran to its end"
    } else {
        "stopped before its end"
    };
    let run = format!(
        "{how}: {:.3} s of simulated time, seed {}, digest {}",
        report.simulated_seconds, report.seed, report.digest,
    );
    line(text, "  ", &run);
    happenings(text, report);
    expectations(text, report);
    warnings(text, report);
    skew(text, report);
    records(text, report);
    keys(text, report);
    consumers(text, report);
}

/// Where traced keys are, for topics that have any.
fn keys(text: &mut String, report: &Report) {
    for (topic, keys) in report
        .keys
        .iter()
        .filter(|(_, keys)| !keys.traced.is_empty())
    {
        let split = match keys.split {
            1 => "1 key has".to_owned(),
            count => format!("{} keys have", grouped(count)),
        };
        let head = format!("Keys of {topic}: {split} records on several partitions");
        line(text, "", &head);
        for (key, partitions) in &keys.traced {
            line(text, "  ", key);
            for (partition, span) in partitions {
                let words = format!(
                    "{partition}: {} records, offsets {} to {}, from {:.3} s to {:.3} s",
                    grouped(span.records),
                    span.first_offset,
                    span.last_offset,
                    span.first_seconds,
                    span.last_seconds,
                );
                line(text, "    ", &words);
            }
            let stories = keys.stories.get(key).into_iter().flatten();
            let troubled = stories.filter(|story| story.troubled);
            for story in troubled.take(STORIES_MAX) {
                record_story(text, story);
            }
        }
    }
}

/// What happened to one record that had trouble.
fn record_story(text: &mut String, story: &RecordStory) {
    let head = format!(
        "record {}, by {} to {}: {}",
        story.number,
        escaped(&story.producer),
        escaped(&story.partition),
        story.fate,
    );
    line(text, "    ", &head);
    for step in &story.steps {
        line(
            text,
            &format!("    {:>9.3} s  ", step.seconds),
            &escaped(&step.text),
        );
    }
}

/// Consumer groups: members, what they were given, and how far behind they are.
fn consumers(text: &mut String, report: &Report) {
    if report.consumers.is_empty() {
        return;
    }
    text.push_str("\nConsumers\n");
    for (group, summary) in &report.consumers {
        let lag = if summary.lag.is_empty() {
            "nothing committed".to_owned()
        } else {
            format!("lag {}", grouped(summary.lag.values().sum()))
        };
        let members = match summary.members {
            1 => "1 member".to_owned(),
            members => format!("{members} members"),
        };
        let idle = match summary.idle_members {
            0 => String::new(),
            idle => format!(", {idle} idle"),
        };
        let said = format!(
            "{}: {}, {members}{idle}, generation {}; {} records consumed, {lag}",
            escaped(group),
            summary.state,
            summary.generation,
            grouped(summary.records_consumed),
        );
        line(text, "  ", &said);
        let furthest = summary.lag.iter().max_by_key(|(_, lag)| **lag);
        if let Some((partition, lag)) = furthest.filter(|(_, lag)| **lag > 0) {
            let said = format!("furthest behind: {partition} by {}", grouped(*lag));
            line(text, "    ", &said);
        }
    }
}

/// Topics that are spread unevenly.
fn skew(text: &mut String, report: &Report) {
    let skewed = report.topics.iter().filter_map(|(name, topic)| {
        let skew = topic.skew.as_ref()?;
        Some((name, topic, skew))
    });
    for (place, (name, topic, skew)) in skewed.enumerate() {
        if place == 0 {
            text.push_str("\nSkew\n");
        }
        let figure = |value: Measured| value.get().map_or("–".to_owned(), |v| format!("{v:.3}"));
        let words = format!(
            "{}: max/mean {}, Cv {} over {} partitions; the fullest is {} because {}",
            escaped(name),
            figure(topic.max_over_mean),
            figure(topic.cv),
            grouped(topic.partitions),
            escaped(&skew.partition),
            escaped(&skew.text),
        );
        line(text, "  ", &words);
    }
}

fn happenings(text: &mut String, report: &Report) {
    if report.happenings.is_empty() {
        return;
    }
    text.push_str("\nWhat happened\n");
    let count = report.happenings.len();
    let half = HAPPENINGS_MAX / 2;
    for (place, happening) in report.happenings.iter().enumerate() {
        if HAPPENINGS_MAX < count && place == half {
            let _written = writeln!(text, "               … {} more", count - HAPPENINGS_MAX);
        }
        if count <= HAPPENINGS_MAX || place < half || count - half <= place {
            let head = format!("  {:>9.3} s  ", happening.seconds);
            line(
                text,
                &head,
                &(escaped(&happening.text) + &repetition(happening)),
            );
        }
    }
}

fn repetition(happening: &Happening) -> String {
    match happening.count {
        1 => String::new(),
        count => format!(
            " ({} times until {:.3} s)",
            grouped(count),
            happening.last_seconds
        ),
    }
}

fn expectations(text: &mut String, report: &Report) {
    if report.expectations.is_empty() {
        return;
    }
    let count = |held| {
        report
            .expectations
            .iter()
            .filter(|e| e.held == held)
            .count()
    };
    let (held, failed, open) = (count(Some(true)), count(Some(false)), count(None));
    let _written = writeln!(
        text,
        "\nExpectations: {held} held, {failed} failed, {open} inconclusive"
    );
    for expected in &report.expectations {
        expectation(text, expected);
    }
}

fn expectation(text: &mut String, expected: &Expected) {
    let head = format!("  {:<12}  ", expected.word());
    line(text, &head, &escaped(&expected.name));
    line(
        text,
        &" ".repeat(head.len()),
        &format!("observed: {}", escaped(&expected.observed)),
    );
}

fn warnings(text: &mut String, report: &Report) {
    if report.warnings.is_empty() {
        return;
    }
    text.push_str("\nWarnings\n");
    for warning in &report.warnings {
        let _written = writeln!(
            text,
            "  {}, from {:.1} s to {:.1} s",
            warning.name, warning.first_seconds, warning.last_seconds,
        );
        line(text, "    ", &escaped(&warning.text));
    }
}

fn records(text: &mut String, report: &Report) {
    let totals = &report.totals;
    text.push_str("\nRecords\n");
    let shown = [
        ("taken by send()", totals.records_sent, Shown::Always),
        ("acknowledged", totals.records_acked, Shown::Always),
        ("failed", totals.records_failed, Shown::Always),
        (
            "  of these in a log all the same",
            totals.records_failed_present,
            Shown::IfAny,
        ),
        (
            "gone with their process",
            totals.records_abandoned,
            Shown::IfAny,
        ),
        (
            "under way at the end",
            totals.records_under_way,
            Shown::Always,
        ),
        ("refused by send(), times", totals.refusals, Shown::Always),
        (
            "  given up for that, records",
            totals.records_refused,
            Shown::IfAny,
        ),
        (
            "acknowledged and lost",
            totals.records_lost_acknowledged,
            Shown::Always,
        ),
        ("duplicated", totals.records_duplicated, Shown::Always),
    ];
    for (what, count, rule) in shown {
        if rule == Shown::Always || 0 < count {
            record_line(text, what, count);
        }
    }
    for cause in DuplicateCause::ALL {
        if let Some(count) = report.ledger.all.duplicated.get(cause.name()) {
            record_line(text, &format!("  sent again {}", cause.words()), *count);
        }
    }
    record_line(text, "reordered", totals.records_reordered);
    if let Some(difference) = &report.ledger.difference {
        line(text, "  the ledger is wrong: ", &escaped(difference));
    }
}

fn record_line(text: &mut String, what: &str, count: u64) {
    let _written = writeln!(text, "  {what:<34} {:>15}", grouped(count));
}

/// Whether a line is shown when it counts nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Always,
    IfAny,
}

fn summary(text: &mut String, outcomes: &[Outcome]) {
    let mut failed = 0;
    let mut inconclusive = 0;
    let mut unloadable = 0;
    for outcome in outcomes {
        match outcome {
            Outcome::Ran(report) => {
                let any = |held| report.expectations.iter().any(|e| e.held == held);
                failed += usize::from(any(Some(false)));
                inconclusive += usize::from(!any(Some(false)) && any(None));
            }
            Outcome::Unloadable { .. } => unloadable += 1,
        }
    }
    let held = outcomes.len() - failed - inconclusive - unloadable;
    let _written = writeln!(
        text,
        "\n{} scenarios: {held} held, {failed} failed, {inconclusive} inconclusive, \
         {unloadable} could not be loaded",
        outcomes.len(),
    );
}

/// `words` behind `head`, wrapped; later lines are indented as far as `head` is wide.
fn line(text: &mut String, head: &str, words: &str) {
    let indent = head.chars().count();
    let mut column = indent;
    text.push_str(head);
    for (place, word) in words.split(' ').enumerate() {
        let width = word.chars().count();
        if 0 < place {
            if COLUMNS < column + 1 + width && indent < column {
                text.push('\n');
                text.push_str(&" ".repeat(indent));
                column = indent;
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
}

/// A count with its thousands apart: `1,900,000`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if 0 < place && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sentences_wrap_under_their_beginning() {
        let mut text = String::new();
        line(&mut text, "   60.000 s  ", &"word ".repeat(30));
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS));
        assert!(
            text.lines()
                .skip(1)
                .all(|line| line.starts_with("             word"))
        );
    }

    #[test]
    fn a_word_longer_than_a_line_stays_whole() {
        let mut text = String::new();
        line(&mut text, "  ", &"x".repeat(200));
        assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [0, 999, 1_000, 1_900_000].map(grouped),
            ["0", "999", "1,000", "1,900,000"]
        );
    }
}
