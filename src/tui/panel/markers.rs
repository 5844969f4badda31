//! Transactions: a line for each transactional id, and for each of their partitions the last
//! offsets with what became of them, markers among them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::names;
use crate::kafka::transaction::TransactionState;
use crate::sim::view::{PartitionView, TransactionView};
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What is said where nobody is transactional.
const NONE: &str = "no producer here is transactional";
/// What would be shown, by lines.
const WOULD_SHOW: &str = "With a transactional.id: a lane per partition with data by producer and \
    epoch, COMMIT and ABORT markers, last stable offset and high watermark; the coordinator's log; \
    the time left to transaction.timeout.ms; fenced producers.";
/// Offsets of a partition that are shown at most, the last ones.
const OFFSETS_SHOWN: usize = 8;
/// Partitions that are looked at for one frame at most.
const PARTITIONS_MAX: usize = 200;

/// What the pane shows.
#[derive(Debug)]
pub struct Markers<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// A line for each id and each of their partitions; none where nobody is transactional.
    pub lines: Vec<Line<'static>>,
    /// Transactions that are open or being ended.
    pub open: usize,
    /// First line shown.
    pub first: u16,
}

impl<'a> Markers<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let first = scene.model.scroll[crate::tui::pane::Pane::Markers.index()];
        let transactions = if scene.config().is_transactional() {
            scene.session.simulation().transactions()
        } else {
            Vec::new()
        };
        let is_open = |view: &&TransactionView| {
            let is_ended = view.state.prepared().is_some();
            is_ended || view.state == TransactionState::Ongoing
        };
        Self {
            theme: scene.theme(),
            open: transactions.iter().filter(is_open).count(),
            lines: lines(scene, &transactions),
            first,
        }
    }

    fn lines(&self, width: u16) -> Vec<Line<'static>> {
        if !self.lines.is_empty() {
            return self.lines.clone();
        }
        let styles = self.theme.styles;
        let says = text::wrap(NONE, width)
            .into_iter()
            .map(|line| (line, styles.text.plain));
        let would = text::wrap(WOULD_SHOW, width)
            .into_iter()
            .map(|line| (line, styles.text.dim));
        says.chain(would)
            .map(|(line, style)| Line::from(Span::styled(line, style)))
            .collect()
    }
}

fn lines(scene: &Scene<'_>, transactions: &[TransactionView]) -> Vec<Line<'static>> {
    if !scene.config().is_transactional() {
        return Vec::new();
    }
    let styles = scene.theme().styles;
    let mut lines: Vec<_> = transactions.iter().map(|view| of_id(scene, view)).collect();
    if lines.is_empty() {
        let words = "no transactional id has an owner yet";
        lines.push(Line::styled(words, styles.text.dim));
    }
    let simulation = scene.session.simulation();
    let partitions = simulation.partitions().take(PARTITIONS_MAX);
    for index in partitions.filter(|&index| simulation.has_transactions(index)) {
        let view = simulation.partition(index);
        lines.push(of_partition(scene, &view));
        lines.push(of_offsets(scene, &view));
    }
    lines
}

fn of_id(scene: &Scene<'_>, view: &TransactionView) -> Line<'static> {
    let styles = scene.theme().styles;
    let (producer_id, epoch) = view.producer;
    let name = text::visible(&view.transactional_id).into_owned();
    let mut spans = vec![
        Span::styled(format!("{name} "), styles.text.strong),
        Span::styled(view.state.name(), style_of(scene, view.state)),
        Span::styled(format!(" {producer_id}/{epoch}"), styles.text.plain),
    ];
    if view.state == TransactionState::Ongoing
        && let Some(started) = view.started
    {
        let age = number::span(scene.now().since(started));
        let limit = view.timeout_ms / 1000;
        let words = format!("  open for {age} of {limit} s");
        spans.push(Span::styled(words, styles.text.dim));
    }
    Line::from(spans)
}

fn style_of(scene: &Scene<'_>, state: TransactionState) -> Style {
    let styles = scene.theme().styles;
    match state {
        TransactionState::Empty => styles.text.dim,
        TransactionState::Ongoing => styles.text.plain,
        TransactionState::PrepareCommit | TransactionState::CompleteCommit => styles.tone.good,
        TransactionState::PrepareAbort | TransactionState::CompleteAbort => styles.tone.warn,
    }
}

fn of_partition(scene: &Scene<'_>, view: &PartitionView) -> Line<'static> {
    let styles = scene.theme().styles;
    let name = names::partition(scene.config(), view.index);
    let name = text::visible(&name).into_owned();
    let held = view.high_watermark - view.last_stable_offset;
    let mut spans = vec![
        Span::styled(format!("{name} "), styles.text.strong),
        Span::styled(
            format!("LSO {} HW {}", view.last_stable_offset, view.high_watermark),
            styles.text.plain,
        ),
    ];
    if held > 0 {
        let words = format!("  {held} held back");
        spans.push(Span::styled(words, styles.tone.warn));
    }
    Line::from(spans)
}

/// The last offsets, the newest first.
fn of_offsets(scene: &Scene<'_>, view: &PartitionView) -> Line<'static> {
    let styles = scene.theme().styles;
    let lines = scene.session.simulation().log_lines(view.index);
    let shown = lines.iter().rev().take(OFFSETS_SHOWN);
    let mut spans = vec![Span::styled("  ", styles.text.dim)];
    for (place, line) in shown.enumerate() {
        if place > 0 {
            spans.push(Span::styled("  ", styles.text.dim));
        }
        let style = if line.contains(" ABORT ") || line.ends_with(" aborted") {
            styles.tone.warn
        } else if line.contains(" COMMIT ") || line.ends_with(" committed") {
            styles.tone.good
        } else {
            styles.text.plain
        };
        spans.push(Span::styled(text::visible(line).into_owned(), style));
    }
    Line::from(spans)
}

impl Panel for Markers<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        match (self.lines.is_empty(), self.open) {
            (true, _) => Line::from(Span::styled("none", styles.text.dim)),
            (false, 0) => Line::from(Span::styled("none open", styles.text.dim)),
            (false, open) => Line::from(Span::styled(format!("{open} open"), styles.text.plain)),
        }
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.lines(area.width).len(), area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Widget for &Markers<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let lines = self.lines(area.width);
        let first = self.first.min(self.extent(area).scroll_max());
        for (row, line) in lines.iter().skip(usize::from(first)).enumerate() {
            text::put_line(buffer, area, row.min(usize::from(u16::MAX)) as u16, line);
        }
    }
}
