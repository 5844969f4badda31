//! What must hold, and how it stands.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::judge::{Judgement, Outcome};
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What the pane shows.
#[derive(Debug)]
pub struct Expectations<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// All expectations; failed ones first, else as the scenario has them.
    pub judgements: Vec<&'a Judgement>,
    first: u16,
}

impl<'a> Expectations<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let mut judgements: Vec<&Judgement> = scene.session.insight().judgements().iter().collect();
        judgements.sort_by_key(|judgement| judgement.outcome != Outcome::Failed);
        let first = scene.model.scroll[Pane::Expectations.index()];
        Self {
            theme: scene.theme(),
            judgements,
            first,
        }
    }

    fn count(&self, outcome: Outcome) -> usize {
        self.judgements
            .iter()
            .filter(|judgement| judgement.outcome == outcome)
            .count()
    }

    fn look(&self, outcome: Outcome) -> (&'static str, Style) {
        let (glyphs, styles) = (self.theme.glyphs, self.theme.styles);
        match outcome {
            Outcome::Pending => (glyphs.pending, styles.text.dim),
            Outcome::Held => (glyphs.held, styles.tone.good),
            Outcome::Failed => (glyphs.failed, styles.tone.bad),
            Outcome::Inconclusive => (glyphs.none, styles.tone.warn),
        }
    }

    fn draw_row(&self, area: Rect, row: u16, judgement: &Judgement, buffer: &mut Buffer) {
        let styles = self.theme.styles;
        let (mark, tone) = self.look(judgement.outcome);
        let word = if area.width >= 64 {
            judgement.outcome.word()
        } else {
            ""
        };
        let mut spans = vec![Span::styled(format!("{mark} "), tone)];
        if !word.is_empty() {
            let word = text::fit(word, 8, "").into_owned();
            spans.push(Span::styled(format!("{word:<8} "), tone));
        }
        let plain = match judgement.outcome {
            Outcome::Pending => styles.text.dim,
            _ => styles.text.plain,
        };
        let used: u16 = spans.iter().map(|span| span.width() as u16).sum();
        let observed = text::visible(&judgement.observed);
        let name = text::visible(&judgement.name);
        let room = area.width.saturating_sub(used);
        // The name comes first; what was seen gets at least a third where there is any room.
        let third = if room >= 30 { room / 3 } else { 0 };
        let left = room.saturating_sub(text::width(&name) + 2).max(third);
        let seen = text::width(&observed).min(left);
        let name_room = room.saturating_sub(if seen > 0 { seen + 2 } else { 0 });
        let ellipsis = self.theme.glyphs.ellipsis;
        spans.push(Span::styled(
            text::fit(&name, name_room, ellipsis).into_owned(),
            plain,
        ));
        text::put_line(buffer, area, row, &Line::from(spans));
        let observed = text::fit(&observed, seen, ellipsis);
        text::put_right(buffer, area, row, &observed, styles.text.dim);
    }
}

impl Panel for Expectations<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        let mut spans = Vec::new();
        for (outcome, word) in [
            (Outcome::Failed, "failed"),
            (Outcome::Held, "held"),
            (Outcome::Pending, "pending"),
            (Outcome::Inconclusive, "inconclusive"),
        ] {
            let count = self.count(outcome);
            if count > 0 {
                let gap = if spans.is_empty() { "" } else { ", " };
                let style = match outcome {
                    Outcome::Pending => styles.text.dim,
                    _ => self.look(outcome).1,
                };
                spans.push(Span::styled(gap, styles.text.dim));
                spans.push(Span::styled(format!("{count} {word}"), style));
            }
        }
        Line::from(spans)
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.judgements.len(), area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Widget for &Expectations<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if self.judgements.is_empty() {
            let words = "this scenario expects nothing";
            text::put(buffer, area, (0, 0), words, self.theme.styles.text.dim);
        }
        let first = usize::from(self.first.min(self.extent(area).scroll_max()));
        let shown = self
            .judgements
            .iter()
            .skip(first)
            .take(usize::from(area.height));
        for (row, judgement) in shown.enumerate() {
            self.draw_row(area, row as u16, judgement, buffer);
        }
    }
}

/// How all expectations stand together, in words; nothing when there are none.
pub fn verdict(judgements: &[Judgement]) -> Option<(Outcome, String)> {
    let count = |outcome| {
        judgements
            .iter()
            .filter(|one| one.outcome == outcome)
            .count()
    };
    let all = judgements.len();
    let worst = [Outcome::Failed, Outcome::Inconclusive, Outcome::Pending]
        .into_iter()
        .find(|&outcome| count(outcome) > 0)
        .unwrap_or(Outcome::Held);
    let words = match (all, worst) {
        (0, _) => return None,
        (1, Outcome::Held) => "the expectation held".to_owned(),
        (_, Outcome::Held) => format!("all {all} expectations held"),
        (_, Outcome::Failed) => {
            let failed = number::count(count(Outcome::Failed) as u64);
            format!("{failed} of {all} expectations failed")
        }
        _ => format!("{} of {all} expectations undecided", count(worst)),
    };
    Some((worst, words))
}
