//! A rehearsal while it runs: alerts, what the playbook asks for, what has to be reached.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::rehearsal::typed::DeedKind;
use crate::rehearsal::{AlertState, Rehearsal, Verdict};
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;

/// What the pane shows.
#[derive(Debug)]
pub struct Playbook {
    lines: Vec<Line<'static>>,
    value: Line<'static>,
    first: u16,
}

impl Playbook {
    /// The pane now.
    pub fn read(scene: &Scene<'_>, area: Rect) -> Self {
        let mut lines = Vec::new();
        let mut value = Line::default();
        if let Some(rehearsal) = scene.session.rehearsal() {
            steps(scene, rehearsal, area.width, &mut lines);
            alerts(scene, rehearsal, area.width, &mut lines);
            goals(scene, rehearsal, area.width, &mut lines);
            value = standing(scene, rehearsal);
        }
        Self {
            lines,
            value,
            first: scene.model.scroll[Pane::Expectations.index()],
        }
    }
}

/// How it stands, and how long it may still take.
fn standing(scene: &Scene<'_>, rehearsal: &Rehearsal) -> Line<'static> {
    let styles = scene.theme().styles;
    match scene.session.verdict() {
        Verdict::Won { .. } => Line::from(Span::styled("won", styles.tone.good)),
        Verdict::Lost { .. } => Line::from(Span::styled("lost", styles.tone.bad)),
        Verdict::UnderWay => {
            let left = rehearsal.deadline().since(scene.now()).as_seconds();
            let hints = rehearsal.hints_left(scene.session.deeds());
            let mut spans = vec![Span::styled(format!("{left:.0} s left"), styles.text.dim)];
            if hints > 0 {
                spans.push(Span::styled(format!(", {hints} hints"), styles.text.dim));
            }
            Line::from(spans)
        }
    }
}

/// A mark and words, wrapped behind the mark.
fn item(
    (mark, tone): (&str, Style),
    (words, style): (&str, Style),
    width: u16,
    lines: &mut Vec<Line<'static>>,
) {
    let words = text::visible(words);
    for (row, line) in text::wrap(&words, width.saturating_sub(2))
        .into_iter()
        .enumerate()
    {
        let mark = if row == 0 { mark } else { " " };
        lines.push(Line::from(vec![
            Span::styled(format!("{mark} "), tone),
            Span::styled(line, style),
        ]));
    }
}

/// What was told and asked for, the latest first; what is done is one dim line.
fn steps(scene: &Scene<'_>, rehearsal: &Rehearsal, width: u16, lines: &mut Vec<Line<'static>>) {
    let (styles, glyphs) = (scene.theme().styles, scene.theme().glyphs);
    for (place, rule) in rehearsal.plan().steps.iter().enumerate().rev() {
        let state = rehearsal.step(place);
        let Some(opened) = state.opened else {
            continue;
        };
        let is_done = state.done.is_some();
        let (mark, plain) = match (is_done, state.missed) {
            (true, _) => ((glyphs.held, styles.tone.good), styles.text.dim),
            (false, Some(_)) => ((glyphs.failed, styles.tone.bad), styles.text.plain),
            (false, None) => ((glyphs.pending, styles.text.accent), styles.text.plain),
        };
        let mut words = format!("{} {}", number::moment(opened), rule.say);
        if let (Some(left), false) = (rehearsal.time_left(place), is_done) {
            words = format!("{words} ({:.0} s left)", left.as_seconds());
        }
        item(mark, (&words, plain), width, lines);
        for deed in scene.session.deeds() {
            if matches!(deed.kind, DeedKind::Hint(id) if id.step == place) {
                let hint = (glyphs.dot, styles.text.dim);
                item(hint, (&deed.line, styles.text.dim), width, lines);
            }
        }
    }
}

fn alerts(scene: &Scene<'_>, rehearsal: &Rehearsal, width: u16, lines: &mut Vec<Line<'static>>) {
    let (styles, glyphs) = (scene.theme().styles, scene.theme().glyphs);
    for (place, rule) in rehearsal.plan().alerts.iter().enumerate() {
        let state = rehearsal.alert(place);
        let (mark, plain) = match state {
            AlertState::Inactive => ((glyphs.dot, styles.text.dim), styles.text.dim),
            AlertState::Pending { .. } => ((glyphs.pending, styles.tone.warn), styles.text.plain),
            AlertState::Firing { .. } => ((glyphs.alert, styles.tone.bad), styles.text.plain),
            AlertState::Resolved { .. } => ((glyphs.held, styles.tone.good), styles.text.dim),
        };
        let mut words = format!("{} {}", rule.name, state.word());
        match state {
            AlertState::Inactive => {}
            AlertState::Pending { since }
            | AlertState::Firing { since }
            | AlertState::Resolved { since } => {
                words = format!("{words} since {}", number::moment(since));
            }
        }
        if matches!(state, AlertState::Firing { .. }) {
            words = format!("{words}: {}", rule.say);
        }
        item(mark, (&words, plain), width, lines);
    }
}

fn goals(scene: &Scene<'_>, rehearsal: &Rehearsal, width: u16, lines: &mut Vec<Line<'static>>) {
    let (styles, glyphs) = (scene.theme().styles, scene.theme().glyphs);
    let heading = "all of this has to hold at once:";
    lines.push(Line::from(Span::styled(heading, styles.text.dim)));
    for (place, goal) in rehearsal.plan().victory.iter().enumerate() {
        let Some(state) = rehearsal.goal(place) else {
            continue;
        };
        let mark = match (state.is_reached, state.since) {
            (true, _) => (glyphs.held, styles.tone.good),
            (false, Some(_)) => (glyphs.pending, styles.tone.warn),
            (false, None) => (glyphs.failed, styles.tone.bad),
        };
        item(mark, (&goal.name, styles.text.plain), width, lines);
    }
}

/// The alert that fires, for the header: one that nobody acknowledged before others.
pub fn alarm(scene: &Scene<'_>) -> Option<Line<'static>> {
    let rehearsal = scene.session.rehearsal()?;
    let styles = scene.theme().styles;
    let is_acknowledged = |name: &str, since| {
        let mut deeds = scene.session.deeds().iter();
        deeds.any(|deed| {
            deed.kind == DeedKind::Acknowledged && since <= deed.at && deed.line == name
        })
    };
    let rules = rehearsal.plan().alerts.iter().enumerate();
    let mut firing: Vec<_> = rules
        .filter_map(|(place, rule)| match rehearsal.alert(place) {
            AlertState::Firing { since } => Some((is_acknowledged(&rule.name, since), since, rule)),
            _ => None,
        })
        .collect();
    firing.sort_by_key(|(seen, since, _)| (*seen, *since));
    let (seen, since, rule) = firing.first()?;
    let tone = if *seen {
        styles.tone.warn
    } else {
        styles.tone.bad
    };
    let word = if *seen { "acknowledged" } else { "PAGE" };
    let mut spans = vec![Span::styled(
        format!(
            "{} {word} {}",
            scene.theme().glyphs.alert,
            text::visible(&rule.name)
        ),
        tone,
    )];
    if firing.len() > 1 {
        let more = format!(" and {} more", firing.len() - 1);
        spans.push(Span::styled(more, tone));
    }
    let since = number::moment(*since);
    let words = format!(", since {since}: {}", text::visible(&rule.say));
    spans.push(Span::styled(words, styles.text.plain));
    Some(Line::from(spans))
}

impl Panel for Playbook {
    fn value(&self, _room: u16) -> Line<'static> {
        self.value.clone()
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.lines.len(), area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let first = usize::from(self.first.min(self.extent(area).scroll_max()));
        let shown = self.lines.iter().skip(first);
        for (row, line) in shown.take(usize::from(area.height)).enumerate() {
            text::put_line(buffer, area, row as u16, line);
        }
    }
}
