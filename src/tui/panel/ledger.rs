//! What became of every record: a sum that must add up, and harm that must not be.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::ledger::{Account, DuplicateCause};
use crate::insight::names;
use crate::sim::ids::ProducerIndex;
use crate::tui::layout::LEDGER_LINES;
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::table::{Column, Table};

/// What the pane shows.
#[derive(Debug)]
pub struct Ledger<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// The account of all producers.
    pub total: Account,
    /// Records that scenario applications hold outside of `send()` or in a local queue.
    pub outside: u64,
    /// Accounts by producer, where the pane has the whole screen.
    pub producers: Vec<(String, Account)>,
    first: u16,
}

/// Nobody who was told of the failure knows better.
const AMBIGUOUS: &str = "failed but in a log";

/// One item: its name, its figure, how it should look when it is not zero.
struct Item {
    name: &'static str,
    sign: &'static str,
    value: u64,
    style: Style,
}

impl<'a> Ledger<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let insight = scene.session.insight();
        let simulation = scene.session.simulation();
        let views = insight.producers();
        let outside = views.iter().flat_map(|view| &view.threads);
        let outside = outside.map(|thread| thread.outside + thread.spilled).sum();
        let account_of = |producer: ProducerIndex| {
            let sent = simulation.producer(producer).totals.records_sent;
            insight.ledger().account_of(producer, sent)
        };
        let producers = if scene.is_expanded() {
            (0..scene.config().producers.len())
                .map(|index| ProducerIndex(index as u16))
                .map(|producer| {
                    (
                        names::producer(scene.config(), producer).to_owned(),
                        account_of(producer),
                    )
                })
                .collect()
        } else {
            Vec::new()
        };
        let first = scene.model.scroll[Pane::Ledger.index()];
        let total = insight.account(simulation);
        Self {
            theme: scene.theme(),
            total,
            outside,
            producers,
            first,
        }
    }

    /// What `sent` is made of.
    fn sum(&self) -> [Item; 4] {
        let styles = self.theme.styles;
        let tally = &self.total.tally;
        let item = |name, sign, value, style| Item {
            name,
            sign,
            value,
            style,
        };
        [
            item("acknowledged", "=", tally.acknowledged(), styles.text.plain),
            item("under way", "+", self.total.under_way, styles.text.plain),
            item("failed", "+", tally.failed(), styles.tone.warn),
            item(
                "gone with their process",
                "+",
                tally.abandoned(),
                styles.tone.warn,
            ),
        ]
    }

    /// What stands beside the sum.
    fn harm(&self) -> [Item; 6] {
        let styles = self.theme.styles;
        let tally = &self.total.tally;
        let item = |name, value, style| Item {
            name,
            sign: "",
            value,
            style,
        };
        [
            item("refused", tally.refused, styles.tone.warn),
            item("waiting outside", self.outside, styles.text.plain),
            item(
                "lost though acknowledged",
                tally.acknowledged_lost,
                styles.tone.bad,
            ),
            item(AMBIGUOUS, tally.failed_present, styles.tone.warn),
            item("duplicated", tally.duplicated, styles.tone.bad),
            item("reordered", tally.reordered, styles.tone.bad),
        ]
    }

    fn spans(&self, item: &Item, lead: &str) -> [Span<'static>; 2] {
        let styles = self.theme.styles;
        let style = if item.value == 0 {
            styles.text.dim
        } else {
            item.style
        };
        [
            Span::styled(format!("{lead}{} ", item.name), styles.text.dim),
            Span::styled(number::count(item.value), style),
        ]
    }

    /// Everything on as few lines as it takes, for a flat pane.
    fn flowing(&self, width: u16) -> Vec<Line<'static>> {
        let styles = self.theme.styles;
        let mut first = vec![
            Span::styled("sent ", styles.text.dim),
            Span::styled(number::count(self.total.sent), styles.text.strong),
        ];
        for item in &self.sum() {
            if item.value > 0 || item.sign == "=" || item.name == "failed" {
                first.extend(self.spans(item, &format!(" {} ", item.sign)));
            }
        }
        let mut lines = vec![first];
        // What is ambiguous is shown in a flat pane only where there is something.
        let harm = self.harm();
        let harm = harm
            .iter()
            .filter(|item| item.name != AMBIGUOUS || item.value > 0);
        for (place, item) in harm.enumerate() {
            let lead = if place == 0 { "   " } else { "  " };
            let next = self.spans(item, lead);
            let line = lines
                .last()
                .map_or(0, |line| line.iter().map(Span::width).sum::<usize>());
            let cells = next.iter().map(Span::width).sum::<usize>();
            if line + cells > usize::from(width) {
                lines.push(self.spans(item, "").to_vec());
            } else if let Some(line) = lines.last_mut() {
                line.extend(next);
            }
        }
        lines.into_iter().map(Line::from).collect()
    }

    /// One item a line, for a tall pane.
    fn tall(&self, area: Rect, buffer: &mut Buffer) {
        let styles = self.theme.styles;
        let room = Rect {
            width: area.width.min(46),
            ..area
        };
        text::put(buffer, room, (2, 0), "sent", styles.text.plain);
        text::put_right(
            buffer,
            room,
            0,
            &number::count(self.total.sent),
            styles.text.strong,
        );
        for (row, item) in (1..).zip(self.sum().iter().chain(&self.harm())) {
            let row = if item.sign.is_empty() { row + 1 } else { row };
            let style = if item.value == 0 {
                styles.text.dim
            } else {
                item.style
            };
            text::put(buffer, room, (0, row), item.sign, styles.text.dim);
            text::put(buffer, room, (2, row), item.name, styles.text.dim);
            text::put_right(buffer, room, row, &number::count(item.value), style);
        }
    }

    /// Why records stand twice, beside the sums where there is room.
    fn causes(&self, area: Rect, buffer: &mut Buffer) {
        const LEFT: u16 = 50;
        let styles = self.theme.styles;
        let tally = &self.total.tally;
        if tally.duplicated == 0 || area.width < LEFT + 46 {
            return;
        }
        let room = Rect {
            x: area.x + LEFT,
            width: (area.width - LEFT).min(56),
            ..area
        };
        text::put(
            buffer,
            room,
            (0, 0),
            "records stand twice, sent again",
            styles.text.plain,
        );
        let causes = DuplicateCause::ALL.into_iter();
        let causes = causes.filter(|cause| tally.duplicated_by(*cause) > 0);
        for (row, cause) in (1..).zip(causes) {
            let count = number::count(tally.duplicated_by(cause));
            text::put(buffer, room, (2, row), cause.words(), styles.text.dim);
            text::put_right(buffer, room, row, &count, styles.tone.bad);
        }
    }

    fn by_producer(&self, area: Rect, buffer: &mut Buffer) {
        const COLUMNS: [Column; 10] = [
            Column::words("producer", 16),
            Column::numbers("sent", 12),
            Column::numbers("acknowledged", 12),
            Column::numbers("under way", 10),
            Column::numbers("failed", 10),
            Column::numbers("but in log", 10),
            Column::numbers("refused", 10),
            Column::numbers("lost acked", 10),
            Column::numbers("duplicated", 10),
            Column::numbers("reordered", 10),
        ];
        let styles = self.theme.styles;
        let figure = |value: u64, style: Style| {
            let style = if value == 0 { styles.text.dim } else { style };
            Span::styled(number::count(value), style)
        };
        let rows: Vec<Vec<Span<'_>>> = self
            .producers
            .iter()
            .skip(usize::from(self.first))
            .take(usize::from(area.height))
            .map(|(name, account)| {
                let tally = &account.tally;
                vec![
                    Span::styled(text::visible(name).into_owned(), styles.text.plain),
                    figure(account.sent, styles.text.strong),
                    figure(tally.acknowledged(), styles.text.plain),
                    figure(account.under_way, styles.text.plain),
                    figure(tally.failed(), styles.tone.warn),
                    figure(tally.failed_present, styles.tone.warn),
                    figure(tally.refused, styles.tone.warn),
                    figure(tally.acknowledged_lost, styles.tone.bad),
                    figure(tally.duplicated, styles.tone.bad),
                    figure(tally.reordered, styles.tone.bad),
                ]
            })
            .collect();
        (&Table {
            theme: self.theme,
            columns: &COLUMNS,
            rows: &rows,
        })
            .render(area, buffer);
    }
}

impl Panel for Ledger<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        let tally = &self.total.tally;
        match self.total.imbalance() {
            Some(_) => Line::from(Span::styled("does not add up", styles.tone.bad)),
            None if tally.acknowledged_lost > 0 => Line::from(Span::styled(
                "acknowledged records are lost",
                styles.tone.bad,
            )),
            None => Line::from(Span::styled("adds up", styles.text.dim)),
        }
    }

    fn extent(&self, area: Rect) -> Extent {
        if self.producers.is_empty() {
            return crate::tui::panel::whole(area);
        }
        list(
            self.producers.len(),
            area.height.saturating_sub(LEDGER_LINES + 2),
        )
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Widget for &Ledger<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if area.height < LEDGER_LINES {
            for (row, line) in (0..area.height).zip(self.flowing(area.width)) {
                text::put_line(buffer, area, row, &line);
            }
            return;
        }
        self.tall(area, buffer);
        if !self.producers.is_empty() {
            self.causes(area, buffer);
            let rest = crate::tui::layout::below(area, LEDGER_LINES + 1);
            self.by_producer(rest, buffer);
        }
    }
}
