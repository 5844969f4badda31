//! What two branches of a run differ in: a figure a column, a row for each branch and one for the
//! difference; on a small screen the differences alone, in one line.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::command::screen::Branch;
use crate::insight::metric::{Metric, OwnFigure};
use crate::sim::ids::ProducerIndex;
use crate::sim::time::SimSpan;
use crate::sim::view::ProducerTotals;
use crate::tui::number;
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// Lines of the table.
const TABLE_LINES: u16 = 4;
/// From this height of a terminal on there is room for the table.
const HEIGHT_TABLE: u16 = 34;
/// Cells of the rows' names.
const LABEL_CELLS: u16 = 8;
/// Cells of one figure.
const CELLS: u16 = 13;
/// Time over which the share of waiting is taken.
const WAIT_SPAN: SimSpan = SimSpan::from_seconds(1);

/// Lines that the differences take of a terminal of this height.
pub const fn lines(height: u16) -> u16 {
    if height >= HEIGHT_TABLE {
        TABLE_LINES
    } else {
        1
    }
}

/// One figure of a branch.
#[derive(Clone, Copy, Debug)]
struct Figure {
    name: &'static str,
    value: Option<f64>,
    show: fn(f64) -> String,
}

/// The figures of both branches.
#[derive(Debug)]
pub struct Difference<'a> {
    theme: &'a Theme,
    focus: Branch,
    a: Vec<Figure>,
    b: Vec<Figure>,
}

impl<'a> Difference<'a> {
    /// The differences now; nothing where there is one branch only.
    pub fn read(scene: &'a Scene<'a>) -> Option<Self> {
        let focus = scene.model.fork?;
        let other = figures(&scene.other()?);
        let own = figures(scene);
        let (a, b) = match focus {
            Branch::A => (own, other),
            Branch::B => (other, own),
        };
        Some(Self {
            theme: scene.theme(),
            focus,
            a,
            b,
        })
    }

    /// How a figure changes from A to B, in words, and whether it does.
    fn change(&self, place: usize) -> (String, bool) {
        let (Some(a), Some(b)) = (self.a[place].value, self.b[place].value) else {
            return (String::new(), false);
        };
        let by = (self.a[place].show)((b - a).abs());
        // What is too small to be seen is no difference to look at.
        if by == (self.a[place].show)(0.0) {
            return ("=".to_owned(), false);
        }
        let sign = if b < a { "-" } else { "+" };
        (format!("{sign}{by}"), true)
    }

    fn change_style(&self, is_changed: bool) -> Style {
        if is_changed {
            self.theme.styles.text.strong
        } else {
            self.theme.styles.text.dim
        }
    }

    /// `B-A  sent +66  acknowledged +66  …`, as many as fit.
    fn line(&self, width: u16) -> Line<'static> {
        let styles = self.theme.styles;
        let mut spans = vec![Span::styled(" B-A", styles.text.accent)];
        let mut used = 4;
        for place in 0..self.a.len() {
            let (change, is_changed) = self.change(place);
            let name = format!("  {} ", self.a[place].name);
            used += text::width(&name) + text::width(&change);
            if used > width {
                break;
            }
            spans.push(Span::styled(name, styles.text.dim));
            spans.push(Span::styled(change, self.change_style(is_changed)));
        }
        Line::from(spans)
    }

    fn table(&self, area: Rect, buffer: &mut Buffer) {
        let styles = self.theme.styles;
        let mark = |branch: Branch| {
            let mark = if branch == self.focus {
                self.theme.glyphs.selected
            } else {
                " "
            };
            format!("{mark} {}", branch.name())
        };
        let names = [mark(Branch::A), mark(Branch::B), "  B-A".to_owned()];
        for (row, name) in (1..).zip(&names) {
            text::put(buffer, area, (1, row), name, styles.text.accent);
        }
        let columns = area.width.saturating_sub(LABEL_CELLS + 1) / CELLS;
        for place in 0..self.a.len().min(usize::from(columns)) {
            let column = Rect {
                x: area.x + LABEL_CELLS + place as u16 * CELLS,
                width: CELLS,
                ..area
            };
            let shown = |figure: Figure| figure.value.map_or("-".to_owned(), figure.show);
            let (change, is_changed) = self.change(place);
            let cells = [
                (self.a[place].name.to_owned(), styles.text.heading),
                (shown(self.a[place]), styles.text.plain),
                (shown(self.b[place]), styles.text.plain),
                (change, self.change_style(is_changed)),
            ];
            for (row, (words, style)) in (0..).zip(cells) {
                text::put_right(buffer, column, row, &words, style);
            }
        }
    }
}

impl Widget for &Difference<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.height >= TABLE_LINES {
            self.table(area, buffer);
        } else if !area.is_empty() {
            text::put_line(buffer, area, 0, &self.line(area.width));
        }
    }
}

/// What a branch has come to, the most telling first.
fn figures(scene: &Scene<'_>) -> Vec<Figure> {
    let simulation = scene.session.simulation();
    let producers = (0..scene.config().producers.len()).map(|place| ProducerIndex(place as u16));
    let totals: Vec<ProducerTotals> = producers
        .map(|producer| simulation.producer_totals(producer))
        .collect();
    let sum = |of: fn(&ProducerTotals) -> u64| Some(totals.iter().map(of).sum::<u64>() as f64);
    let producer = scene.producer();
    let buffered = producer.map(|producer| {
        let view = scene.view(producer);
        match view.queue {
            Some(queue) => queue.value_bytes as f64,
            None => (view.buffer.total_bytes - view.buffer.available_bytes) as f64,
        }
    });
    let waits = producer.and_then(|producer| {
        scene.recent(Metric::own(producer, OwnFigure::TrueWaitShare), WAIT_SPAN)
    });
    let active = scene.session.insight().warnings().active().count();
    let figure = |name, value, show| Figure { name, value, show };
    let count: fn(f64) -> String = |value| number::count(value as u64);
    vec![
        figure("acked", sum(|of| of.records_acked), count),
        figure("buffered", buffered, number::bytes_f64),
        figure("failed", sum(|of| of.records_failed), count),
        figure("refused", sum(|of| of.records_refused), count),
        figure("true wait", waits, number::ratio),
        figure("sent", sum(|of| of.records_sent), count),
        figure("warnings", Some(active as f64), count),
        figure("appended", Some(appended(scene)), count),
    ]
}

/// Records in all logs.
fn appended(scene: &Scene<'_>) -> f64 {
    // Not those of the last sample: they would be behind what is acknowledged.
    let partitions = scene.session.simulation().partition_views();
    let records = partitions.iter().map(|partition| partition.records_in);
    records.sum::<u64>() as f64
}
