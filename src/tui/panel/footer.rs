//! The last line: the prompt while something is typed, else what was said last, else the keys that
//! do something now.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use crate::tui::keymap::{self, Context};
use crate::tui::line_edit::LineEdit;
use crate::tui::model::{Layer, Model, Notice};
use crate::tui::msg::Trouble;
use crate::tui::text;
use crate::tui::theme::Theme;

/// Lines that may cover the panes above the footer.
const ABOVE_MAX: u16 = 4;

/// The last line, and what may stand right above it.
#[derive(Debug)]
pub struct Footer<'a> {
    /// The state of the screen.
    pub model: &'a Model,
}

impl Footer<'_> {
    /// Where the terminal's cursor belongs, while something is typed.
    pub fn cursor(&self, area: Rect) -> Option<Position> {
        let (sign, line) = self.typed()?;
        let before = text::width(sign) + text::width(&text::visible(&line.before_cursor()));
        let offset = scroll_offset(before, area.width);
        let x = area.x.saturating_add(before - offset);
        (!area.is_empty()).then_some(Position {
            x: x.min(area.right() - 1),
            y: area.y,
        })
    }

    fn typed(&self) -> Option<(&'static str, &LineEdit)> {
        match self.model.layer {
            Layer::Prompt => Some((" :", &self.model.prompt.line)),
            Layer::Filter => Some((" /", &self.model.filter)),
            _ => None,
        }
    }

    fn draw_typed(&self, area: Rect, sign: &str, line: &LineEdit, buffer: &mut Buffer) {
        let styles = self.model.theme.styles;
        let typed = text::visible(&line.text()).into_owned();
        let before = text::width(sign) + text::width(&text::visible(&line.before_cursor()));
        let offset = scroll_offset(before, area.width);
        let shown: String = skip_cells(&format!("{sign}{typed}"), offset);
        let after = text::put(buffer, area, (0, 0), &shown, styles.text.plain);
        if offset == 0 {
            text::put(buffer, area, (0, 0), sign, styles.text.accent);
        }
        let keys = self.keys(
            Context::of(&self.model.layer),
            area.width.saturating_sub(after + 4),
        );
        let cells = keys.width() as u16;
        if cells + after + 4 <= area.width {
            let right = Rect {
                x: area.right() - cells,
                width: cells,
                ..area
            };
            text::put_line(buffer, right, 0, &keys);
        }
    }

    fn keys(&self, context: Context, width: u16) -> Line<'static> {
        keys_line(&self.model.theme, context, Some(self.model), width)
    }

    /// What stands above the prompt: what is wrong with the line, or what it could become.
    fn above(&self, width: u16) -> Vec<Line<'static>> {
        let styles = self.model.theme.styles;
        if self.model.layer != Layer::Prompt {
            return Vec::new();
        }
        if let Some(trouble) = &self.model.prompt.trouble {
            return trouble_lines(&self.model.theme, trouble, width);
        }
        let Some(offer) = &self.model.prompt.offer else {
            return Vec::new();
        };
        let mut spans = vec![Span::raw(" ")];
        for (place, word) in offer.words.iter().enumerate() {
            let chosen = offer.chosen == Some(place);
            let style = if chosen {
                styles.text.selected
            } else {
                styles.text.dim
            };
            spans.push(Span::styled(format!(" {} ", text::visible(word)), style));
        }
        vec![Line::from(spans)]
    }
}

/// What is wrong, and below it what would help.
fn trouble_lines(theme: &Theme, trouble: &Trouble, width: u16) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let room = width.saturating_sub(4);
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (row, words) in text::wrap(&trouble.text, room).iter().enumerate() {
        let mark = if row == 0 { theme.glyphs.failed } else { " " };
        lines.push(Line::from(vec![
            Span::styled(format!(" {mark} "), styles.tone.bad),
            Span::styled(text::visible(words).into_owned(), styles.text.plain),
        ]));
    }
    for words in trouble.hint.iter().flat_map(|hint| text::wrap(hint, room)) {
        let words = text::visible(&words).into_owned();
        lines.push(Line::from(Span::styled(
            format!("   {words}"),
            styles.text.dim,
        )));
    }
    lines
}

/// Keys and what they do, as many as fit.
pub fn keys_line(
    theme: &Theme,
    context: Context,
    model: Option<&Model>,
    width: u16,
) -> Line<'static> {
    let styles = theme.styles;
    let mut bindings: Vec<_> = keymap::offered(context, model).collect();
    // Help and quit close the line; they must not be pushed out by the others.
    let last = bindings.iter().position(|binding| binding.footer == "help");
    let closing = last.map_or(Vec::new(), |place| bindings.split_off(place));
    let cells = |binding: &&keymap::Binding| {
        text::width(binding.footer_keys) + 1 + text::width(binding.footer) + 2
    };
    let mut room = width.saturating_sub(closing.iter().map(cells).sum());
    let mut spans = Vec::new();
    for (place, binding) in bindings.iter().chain(&closing).enumerate() {
        if place < bindings.len() {
            if cells(binding) > room {
                continue;
            }
            room -= cells(binding);
        }
        spans.push(Span::styled(binding.footer_keys, styles.text.accent));
        spans.push(Span::styled(
            format!(" {}  ", binding.footer),
            styles.text.dim,
        ));
    }
    Line::from(spans)
}

/// Cells to leave out on the left so that the cursor stays in sight.
fn scroll_offset(cursor: u16, width: u16) -> u16 {
    (cursor + 1).saturating_sub(width)
}

fn skip_cells(line: &str, cells: u16) -> String {
    let mut skipped = 0;
    line.chars()
        .skip_while(|&c| {
            let skip = skipped < cells;
            skipped += text::char_width(c);
            skip
        })
        .collect()
}

impl Widget for &Footer<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let styles = self.model.theme.styles;
        if let Some((sign, line)) = self.typed() {
            self.draw_typed(area, sign, line, buffer);
            self.draw_above(area, buffer);
            return;
        }
        let line = match (&self.model.layer, &self.model.notice) {
            (Layer::Leave, _) => {
                let mut line = Line::from(Span::styled(
                    " leave this run for the list of scenarios?  ",
                    styles.tone.warn,
                ));
                line.extend(self.keys(Context::Leave, area.width));
                line
            }
            (_, Some(Notice::Done(sentence))) => Line::from(vec![
                Span::styled(
                    format!(" {} ", self.model.theme.glyphs.held),
                    styles.tone.good,
                ),
                Span::styled(text::visible(sentence).into_owned(), styles.text.plain),
            ]),
            (_, Some(Notice::Failed(trouble))) => Line::from(vec![
                Span::styled(
                    format!(" {} ", self.model.theme.glyphs.failed),
                    styles.tone.bad,
                ),
                Span::styled(text::visible(&trouble.text).into_owned(), styles.text.plain),
            ]),
            (layer, None) => {
                let mut line = Line::from(Span::raw(" "));
                line.extend(self.keys(Context::of(layer), area.width.saturating_sub(1)));
                line
            }
        };
        text::put_line(buffer, area, 0, &line);
    }
}

impl Footer<'_> {
    fn draw_above(&self, area: Rect, buffer: &mut Buffer) {
        let lines = self.above(area.width);
        let room = area.y.saturating_sub(buffer.area.y).min(ABOVE_MAX);
        let height = (lines.len().min(usize::from(u16::MAX)) as u16).min(room);
        let above = Rect {
            y: area.y - height,
            height,
            ..area
        };
        Clear.render(above, buffer);
        for (row, line) in (0..height).zip(&lines) {
            text::put_line(buffer, above, row, line);
        }
    }
}
