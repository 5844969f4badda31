//! What the selected scenario is about: its question, what there is to see, what it is made of.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::Picker;
use crate::command;
use crate::scenario::{Level, Scenario};
use crate::sim::time::SimTime;
use crate::tui::number;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::frame::{Title, inside};

/// Commands of the timeline that are listed at most.
const COMMANDS_MAX: usize = 6;

/// Draws the preview into its outline.
pub(super) fn draw(buffer: &mut Buffer, outline: Rect, picker: &Picker) {
    let theme = &picker.theme;
    let Some(scenario) = &picker.shown else {
        return;
    };
    let styles = theme.styles;
    let title = text::visible(&scenario.title).into_owned();
    let length = number::moment(SimTime::ZERO + scenario.config.duration);
    let level = match scenario.level {
        Some(Level::Beginner) => "beginner, ",
        Some(Level::Intermediate) => "intermediate, ",
        Some(Level::Advanced) => "advanced, ",
        None => "",
    };
    (&Title {
        theme,
        name: Line::from(Span::styled(title, styles.frame.title)),
        value: Line::from(Span::styled(
            format!("{level}{length} simulated"),
            styles.text.dim,
        )),
    })
        .render(outline, buffer);
    let inside = inside(outline);
    for (row, line) in (0..inside.height).zip(lines(theme, scenario, inside.width)) {
        text::put_line(buffer, inside, row, &line);
    }
}

fn lines(theme: &Theme, scenario: &Scenario, width: u16) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let mut lines = Vec::new();
    let mut paragraph = |words: &str, style| {
        for line in text::wrap(&text::visible(words), width) {
            lines.push(Line::from(Span::styled(line, style)));
        }
        lines.push(Line::default());
    };
    // The first sentence is the question; what follows is a first answer.
    let (question, answer) = match scenario.question.split_once('?') {
        Some((question, answer)) => (format!("{question}?"), answer.trim()),
        None => (scenario.question.clone(), ""),
    };
    paragraph(&question, styles.text.strong);
    for words in [answer, scenario.description.as_str()] {
        if !words.is_empty() {
            paragraph(&words.replace('\n', " "), styles.text.plain);
        }
    }
    lines.extend(made_of(theme, scenario));
    lines.push(Line::default());
    for line in scenario
        .text
        .lines()
        .skip_while(|line| line.starts_with('#') || line.is_empty())
    {
        let line = text::visible(line).into_owned();
        let is_table = line.starts_with('[');
        let style = if is_table {
            styles.text.accent
        } else {
            styles.text.dim
        };
        lines.push(Line::from(Span::styled(line, style)));
    }
    lines
}

/// Sizes, level, and what happens at which moment.
fn made_of(theme: &Theme, scenario: &Scenario) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let config = &scenario.config;
    let partitions: usize = config
        .topics
        .iter()
        .filter_map(|topic| topic.existing.as_ref())
        .map(|topic| topic.replicas.len())
        .sum();
    let facts = [
        count(config.brokers.len(), "broker"),
        count(partitions, "partition"),
        count(config.producers.len(), "producer"),
        count(scenario.expectations.len(), "expectation"),
    ];
    let facts = facts.join(&format!(" {} ", theme.glyphs.dot));
    let mut lines = vec![Line::from(Span::styled(facts, styles.text.plain))];
    let names = scenario.names();
    for (at, command) in config.timeline.iter().take(COMMANDS_MAX) {
        let line = command::render(command, &names);
        lines.push(Line::from(vec![
            Span::styled(format!("{} ", theme.glyphs.fault), styles.chart.fault),
            Span::styled(format!("{:>6}  ", number::moment(*at)), styles.text.dim),
            Span::styled(text::visible(&line).into_owned(), styles.text.plain),
        ]));
    }
    let more = config.timeline.len().saturating_sub(COMMANDS_MAX);
    if more > 0 {
        let words = format!("  and {more} more");
        lines.push(Line::from(Span::styled(words, styles.text.dim)));
    }
    lines
}

fn count(number: usize, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {thing}{ending}", number::count(number as u64))
}
