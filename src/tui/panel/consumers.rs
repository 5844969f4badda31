//! Consumer groups and their members: who reads what, who is idle, who is behind.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::insight::metric::{GroupFigure, Metric};
use crate::insight::names;
use crate::sim::ids::{ConsumerIndex, PartitionIndex};
use crate::sim::view::{
    ConsumerView, GroupPartitionView, GroupState, GroupView, LoopState, MemberStage, ProcessState,
};
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// Members that are read for one frame at most, over all groups.
const MEMBERS_MAX: usize = 200;

/// What the pane shows.
#[derive(Debug)]
pub struct Consumers<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// A line for each group, and below it one for each member.
    pub lines: Vec<Line<'static>>,
    /// Members that read nothing, over all groups.
    pub idle: u32,
    first: u16,
}

impl<'a> Consumers<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let groups = scene.session.insight().groups();
        Self {
            theme: scene.theme(),
            lines: lines(scene),
            idle: groups.iter().map(|group| group.idle).sum(),
            first: scene.model.scroll[Pane::Markers.index()],
        }
    }
}

impl Panel for Consumers<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        match self.idle {
            0 => Line::default(),
            idle => Line::styled(format!("{idle} idle"), styles.tone.warn),
        }
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.lines.len(), area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        let first = usize::from(self.first.min(self.extent(area).scroll_max()));
        for (row, line) in (0..area.height).zip(self.lines.iter().skip(first)) {
            text::put_line(buffer, area, row, line);
        }
    }
}

fn lines(scene: &Scene<'_>) -> Vec<Line<'static>> {
    let simulation = scene.session.simulation();
    let consumers = scene.config().consumers.len().min(MEMBERS_MAX);
    let members: Vec<ConsumerView> = (0..consumers)
        .map(|place| simulation.consumer(ConsumerIndex(place as u16)))
        .collect();
    let mut lines = Vec::new();
    for group in scene.session.insight().groups() {
        lines.push(group_line(scene, group));
        let own = members.iter().filter(|view| view.group == group.index);
        lines.extend(own.map(|view| member_line(scene, group, view)));
    }
    lines
}

fn group_line(scene: &Scene<'_>, group: &GroupView) -> Line<'static> {
    let styles = scene.theme().styles;
    let (word, style) = match group.state {
        GroupState::Stable => ("stable", styles.tone.good),
        GroupState::Empty => ("empty", styles.tone.warn),
        GroupState::PreparingRebalance | GroupState::CompletingRebalance => {
            ("rebalances", styles.tone.warn)
        }
    };
    let name = text::visible(names::group(scene.config(), group.index)).into_owned();
    let mut spans = vec![
        Span::styled(format!("{name} "), styles.text.strong),
        Span::styled(word, style),
    ];
    if group.idle > 0 {
        let idle = format!(", {} of {} idle", group.idle, group.members);
        spans.push(Span::styled(idle, styles.tone.warn));
    }
    match group.lag() {
        None => spans.push(Span::styled("  nothing committed", styles.text.dim)),
        Some(0) => spans.push(Span::styled("  lag 0", styles.text.dim)),
        Some(lag) => {
            let lag = format!("  lag {}", number::count(lag));
            spans.push(Span::styled(lag, styles.text.plain));
        }
    }
    let rate = scene.last(Metric::Group(group.index, GroupFigure::ConsumeRate));
    if let Some(rate) = rate {
        let rate = format!("  {}/s", number::short(rate));
        spans.push(Span::styled(rate, styles.text.dim));
    }
    Line::from(spans)
}

fn member_line(scene: &Scene<'_>, group: &GroupView, view: &ConsumerView) -> Line<'static> {
    let styles = scene.theme().styles;
    let number = scene.config().consumers[view.index.index()].number;
    let name = Span::styled(format!("  /{number:<3}"), styles.text.dim);
    let (words, style) = state(scene, view);
    if view.assigned.is_empty() {
        return Line::from(vec![name, Span::styled(words, style)]);
    }
    let is_own = |partition: PartitionIndex| {
        let mut assigned = view.assigned.iter();
        assigned.any(|own| own.partition == partition)
    };
    let lag: u64 = group
        .partitions
        .iter()
        .filter(|partition| is_own(partition.partition))
        .filter_map(GroupPartitionView::lag)
        .sum();
    let lag_style = if lag == 0 {
        styles.text.dim
    } else {
        styles.text.plain
    };
    Line::from(vec![
        name,
        Span::styled(read_words(scene, view), styles.text.plain),
        Span::styled(format!("  lag {}", number::short(lag as f64)), lag_style),
        Span::styled(format!("  {words}"), style),
    ])
}

/// What a member does, in a word or two.
fn state(scene: &Scene<'_>, view: &ConsumerView) -> (&'static str, Style) {
    let styles = scene.theme().styles;
    match (view.state, view.stage, view.application) {
        (ProcessState::NotStarted, ..) => ("not started", styles.text.dim),
        (ProcessState::Paused, ..) => ("stopped", styles.tone.bad),
        (ProcessState::Exited, ..) => ("dead", styles.tone.bad),
        (ProcessState::Closed, ..) => ("closed", styles.text.dim),
        (_, MemberStage::Stable, _) if view.assigned.is_empty() => {
            ("idle: no partition left", styles.tone.warn)
        }
        (_, MemberStage::Stable, LoopState::Processing { .. }) => ("processes", styles.text.plain),
        (_, MemberStage::Stable, LoopState::Polling) => ("polls", styles.text.dim),
        (_, MemberStage::Unjoined, LoopState::Processing { .. }) => {
            ("out of the group", styles.tone.bad)
        }
        _ => ("joins", styles.tone.warn),
    }
}

/// The partitions of a member: `events 0-3, 7`.
fn read_words(scene: &Scene<'_>, view: &ConsumerView) -> String {
    let simulation = scene.session.simulation();
    let mut runs: Vec<(String, u32, u32)> = Vec::new();
    for assigned in &view.assigned {
        let name = simulation.partition_name(assigned.partition);
        let (topic, number) = name.rsplit_once('-').unwrap_or((&name, "0"));
        let number = number.parse().unwrap_or(0);
        match runs.last_mut() {
            Some((last, _, to)) if last == topic && *to + 1 == number => *to = number,
            _ => runs.push((topic.to_owned(), number, number)),
        }
    }
    let mut words = String::new();
    let mut topic = "";
    for (name, from, to) in &runs {
        if name == topic {
            words.push(',');
        } else {
            if !topic.is_empty() {
                words.push_str("; ");
            }
            words.push_str(&text::visible(name));
            topic = name;
        }
        words.push(' ');
        words.push_str(&from.to_string());
        if to > from {
            words.push('-');
            words.push_str(&to.to_string());
        }
    }
    words
}
