//! Drawing the list of scenarios.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use super::{Picker, preview};
use crate::scenario::library::Entry;
use crate::sim::time::SimTime;
use crate::tui::glyph;
use crate::tui::keymap::Context;
use crate::tui::layout::{self, centered};
use crate::tui::number;
use crate::tui::panel::footer::keys_line;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::frame::{Grid, Title, inside};

/// The list's share of the width, in percent, where a preview stands beside it.
const LIST_PERCENT: u32 = 46;
/// Cells for a length of time at the end of a line.
const LENGTH_CELLS: u16 = 7;

/// Draws the list; returns where the cursor belongs.
pub fn draw(buffer: &mut Buffer, picker: &Picker) -> Option<Position> {
    let area = buffer.area;
    let cursor = if layout::is_large_enough(area) {
        Some(draw_whole(buffer, area, picker))
    } else {
        for (row, entry) in (0..area.height).zip(picker.matching()) {
            let chosen = picker
                .selected()
                .is_some_and(|selected| selected.name == entry.name);
            let style = if chosen {
                picker.theme.styles.text.selected
            } else {
                Style::new()
            };
            text::put(buffer, area, (0, row), &text::visible(&entry.name), style);
        }
        None
    };
    if !picker.theme.glyphs.braille {
        glyph::asciify(buffer);
    }
    cursor
}

fn draw_whole(buffer: &mut Buffer, area: Rect, picker: &Picker) -> Position {
    let styles = picker.theme.styles;
    let room = Rect {
        x: area.x + 1,
        width: area.width - 2,
        ..area
    };
    let after = text::put(buffer, room, (0, 0), "kdrill", styles.text.subject);
    let about = "rehearse Kafka producer incidents in simulated time";
    text::put(buffer, room, (after + 2, 0), about, styles.text.plain);
    let prompt = "find ";
    let after = text::put(buffer, room, (0, 1), prompt, styles.text.dim);
    let typed = text::visible(&picker.filter.text()).into_owned();
    text::put(buffer, room, (after, 1), &typed, styles.text.accent);
    if picker.filter.is_empty() {
        let hint = "type a few letters";
        text::put(buffer, room, (after + 1, 1), hint, styles.text.dim);
    }
    let body = Rect {
        y: area.y + 2,
        height: area.height - 3,
        ..area
    };
    let (list, preview) = places(body);
    let grid = Grid {
        theme: &picker.theme,
        panes: &[list, preview],
        focused: Some(list),
    };
    (&grid).render(area, buffer);
    draw_list(buffer, list, picker);
    preview::draw(buffer, preview, picker);
    draw_trouble(buffer, body, picker);
    let mut line = Line::from(Span::raw(" "));
    line.extend(keys_line(
        &picker.theme,
        Context::Picker,
        None,
        area.width - 1,
    ));
    let footer = Rect {
        y: area.bottom() - 1,
        height: 1,
        ..area
    };
    text::put_line(buffer, footer, 0, &line);
    let before = text::width(&text::visible(&picker.filter.before_cursor()));
    let x = (room.x + after + before).min(area.right() - 1);
    Position { x, y: area.y + 1 }
}

/// The list, and the preview beside or below it.
fn places(body: Rect) -> (Rect, Rect) {
    if body.width >= 100 {
        let width = (u32::from(body.width) * LIST_PERCENT / 100) as u16;
        let list = Rect { width, ..body };
        (
            list,
            Rect {
                x: body.x + width - 1,
                width: body.width - width + 1,
                ..body
            },
        )
    } else {
        let height = body.height * 55 / 100;
        let list = Rect { height, ..body };
        (
            list,
            Rect {
                y: body.y + height - 1,
                height: body.height - height + 1,
                ..body
            },
        )
    }
}

/// One line of the list: a category's heading, or a scenario.
enum Row<'a> {
    Category(&'a str),
    Scenario(&'a Entry),
}

fn draw_list(buffer: &mut Buffer, outline: Rect, picker: &Picker) {
    let theme = &picker.theme;
    let matching = picker.matching();
    let inside = inside(outline);
    let mut rows = Vec::new();
    let mut category = None;
    let mut chosen_row = 0;
    for entry in &matching {
        if category.replace(&entry.category) != Some(&entry.category) {
            rows.push(Row::Category(&entry.category));
        }
        if picker
            .selected()
            .is_some_and(|selected| selected.name == entry.name)
        {
            chosen_row = rows.len();
        }
        rows.push(Row::Scenario(entry));
    }
    let height = usize::from(inside.height);
    let first = (chosen_row + 1).saturating_sub(height);
    for (dy, (place, row)) in (0..inside.height).zip(rows.iter().enumerate().skip(first)) {
        draw_row(
            buffer,
            Rect {
                y: inside.y + dy,
                height: 1,
                ..inside
            },
            theme,
            (row, place == chosen_row),
        );
    }
    if matching.is_empty() {
        text::put(
            buffer,
            inside,
            (0, 0),
            "nothing contains this",
            theme.styles.text.dim,
        );
    }
    let name = Line::from(Span::styled("Scenarios", theme.styles.frame.title_focused));
    let count = format!("{} of {}", matching.len(), picker.entries.len());
    let value = Line::from(Span::styled(count, theme.styles.text.dim));
    (&Title { theme, name, value }).render(outline, buffer);
}

fn draw_row(buffer: &mut Buffer, line: Rect, theme: &Theme, row: (&Row<'_>, bool)) {
    let styles = theme.styles;
    match row {
        (Row::Category(name), _) => {
            text::put(buffer, line, (0, 0), &text::visible(name), styles.text.dim);
        }
        (Row::Scenario(entry), chosen) => {
            let style = if chosen {
                styles.text.selected
            } else {
                styles.text.plain
            };
            let mark = if chosen { theme.glyphs.selected } else { " " };
            text::put(buffer, line, (0, 0), mark, styles.text.accent);
            let length = number::moment(SimTime::ZERO + entry.duration);
            let left = Rect {
                width: line.width.saturating_sub(LENGTH_CELLS),
                ..line
            };
            let after = text::put(buffer, left, (2, 0), &text::visible(&entry.name), style);
            let title = text::visible(&entry.title);
            let start = after.max(22) + 1;
            let room = left.width.saturating_sub(start);
            let title = text::fit(&title, room, theme.glyphs.ellipsis);
            text::put(buffer, left, (start, 0), &title, styles.text.dim);
            text::put_right(buffer, line, 0, &length, styles.text.dim);
        }
    }
}

fn draw_trouble(buffer: &mut Buffer, body: Rect, picker: &Picker) {
    let Some(trouble) = &picker.trouble else {
        return;
    };
    let theme = &picker.theme;
    let lines: Vec<&str> = trouble.lines().collect();
    let height = u16::try_from(lines.len())
        .unwrap_or(u16::MAX)
        .saturating_add(2);
    let outline = centered(body, 90, height);
    Clear.render(outline, buffer);
    (&Grid {
        theme,
        panes: &[outline],
        focused: Some(outline),
    })
        .render(outline, buffer);
    let name = Line::from(Span::styled(
        "This scenario cannot run",
        theme.styles.frame.title,
    ));
    (&Title {
        theme,
        name,
        value: Line::default(),
    })
        .render(outline, buffer);
    let inside = inside(outline);
    for (row, line) in (0..inside.height).zip(lines) {
        text::put(
            buffer,
            inside,
            (0, row),
            &text::visible(line),
            theme.styles.text.plain,
        );
    }
}
