//! What is going wrong, in whole sentences.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::warning::{Standing, Warning};
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What the pane shows.
#[derive(Debug)]
pub struct Warnings<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// Warnings that hold now.
    pub active: usize,
    /// Warnings that held before.
    pub past: usize,
    lines: Vec<Line<'static>>,
    first: u16,
}

impl<'a> Warnings<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>, area: Rect) -> Self {
        let theme = scene.theme();
        if scene.is_secret() {
            return Self::hidden(scene, area);
        }
        let all = scene.session.insight().warnings().all();
        let (active, past): (Vec<&Warning>, Vec<&Warning>) = all
            .iter()
            .partition(|warning| warning.standing == Standing::Active);
        let mut lines = Vec::new();
        for warning in &active {
            lines.extend(active_lines(theme, warning, area.width));
        }
        for warning in past.iter().rev() {
            lines.extend(past_lines(theme, warning, area.width));
        }
        if all.is_empty() {
            let words = "nothing to warn about";
            lines.push(Line::from(Span::styled(words, theme.styles.text.dim)));
        }
        let first = scene.model.scroll[Pane::Warnings.index()];
        Self {
            theme,
            active: active.len(),
            past: past.len(),
            lines,
            first,
        }
    }
}

impl<'a> Warnings<'a> {
    /// What kdrill makes of the figures would tell the cause.
    fn hidden(scene: &'a Scene<'a>, area: Rect) -> Self {
        let theme = scene.theme();
        let words = "hidden until the debrief: find out by yourself what is wrong";
        let lines = text::wrap(words, area.width).into_iter();
        let dim = theme.styles.text.dim;
        Self {
            theme,
            active: 0,
            past: 0,
            lines: lines
                .map(|line| Line::from(Span::styled(line, dim)))
                .collect(),
            first: 0,
        }
    }
}

fn active_lines(theme: &Theme, warning: &Warning, width: u16) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let words = format!(
        "{}, since {}",
        text::visible(&warning.text),
        number::moment(warning.first)
    );
    text::wrap(&words, width.saturating_sub(2))
        .into_iter()
        .enumerate()
        .map(|(row, line)| {
            let mark = if row == 0 { theme.glyphs.alert } else { " " };
            Line::from(vec![
                Span::styled(format!("{mark} "), styles.tone.warn),
                Span::styled(line, styles.text.plain),
            ])
        })
        .collect()
}

fn past_lines(theme: &Theme, warning: &Warning, width: u16) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let (from, to) = (number::moment(warning.first), number::moment(warning.last));
    let words = format!("{from} to {to}: {}", text::visible(&warning.text));
    text::wrap(&words, width.saturating_sub(2))
        .into_iter()
        .map(|line| Line::from(Span::styled(format!("  {line}"), styles.text.dim)))
        .collect()
}

impl Panel for Warnings<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        match (self.active, self.past) {
            (0, 0) => Line::from(Span::styled("none", styles.text.dim)),
            (0, past) => Line::from(Span::styled(format!("{past} past"), styles.text.dim)),
            (now, 0) => Line::from(Span::styled(format!("{now} now"), styles.tone.warn)),
            (now, past) => Line::from(vec![
                Span::styled(format!("{now} now"), styles.tone.warn),
                Span::styled(format!(", {past} past"), styles.text.dim),
            ]),
        }
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.lines.len(), area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Widget for &Warnings<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let first = usize::from(self.first.min(self.extent(area).scroll_max()));
        for (row, line) in self
            .lines
            .iter()
            .skip(first)
            .take(usize::from(area.height))
            .enumerate()
        {
            text::put_line(buffer, area, row as u16, line);
        }
    }
}
