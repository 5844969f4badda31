//! The list of scenarios: what `kdrill` alone shows. Typing narrows it, Enter runs.

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget};

use crate::scenario::library::{self, Entry};
use crate::tui::glyph;
use crate::tui::keymap::{self, Context};
use crate::tui::layout::{self, below, centered};
use crate::tui::line_edit::{Edit, LineEdit};
use crate::tui::msg::{Msg, Scroll};
use crate::tui::number;
use crate::tui::panel::footer::keys_line;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::frame::{Grid, Title, inside};

/// Scenarios that a page key goes over.
const PAGE: usize = 10;
/// The list's share of the width, in percent, where a preview stands beside it.
const LIST_PERCENT: u32 = 46;

/// The state of the list.
#[derive(Clone, Debug)]
pub struct Picker {
    /// Looks.
    pub theme: Theme,
    /// All scenarios, by category and name.
    pub entries: Vec<Entry>,
    /// What narrows the list.
    pub filter: LineEdit,
    /// Why the last choice could not be run.
    pub trouble: Option<String>,
    selected: usize,
}

/// What a message to the list comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nothing yet.
    None,
    /// This scenario.
    Run(String),
    /// Leave the program.
    Quit,
    /// Stop the process as Ctrl+Z does.
    Suspend,
    /// Draw everything anew.
    Clear,
}

impl Picker {
    /// The list over the whole library.
    pub fn new(theme: Theme) -> Self {
        Self::over(library::list(), theme)
    }

    /// The list over these scenarios.
    pub fn over(entries: Vec<Entry>, theme: Theme) -> Self {
        Self {
            theme,
            entries,
            filter: LineEdit::default(),
            trouble: None,
            selected: 0,
        }
    }

    /// Selects the scenario of this name, if there is one.
    pub fn select(&mut self, name: &str) {
        if let Some(place) = self.matching().iter().position(|entry| entry.name == name) {
            self.selected = place;
        }
    }

    /// What a key means here. `q` leaves as long as nothing is typed.
    pub fn meaning(&self, key: &KeyEvent) -> Option<Msg> {
        let msg = keymap::lookup(Context::Picker, None, key)?;
        let leaves = matches!(msg, Msg::Edit(Edit::Insert('q' | 'Q'))) && self.filter.is_empty();
        Some(if leaves { Msg::Quit } else { msg })
    }

    /// Scenarios that contain every word that was typed.
    pub fn matching(&self) -> Vec<&Entry> {
        let filter = self.filter.text().to_lowercase();
        let contains = |entry: &&Entry| {
            let all = [&entry.name, &entry.category, &entry.title, &entry.question];
            filter
                .split_whitespace()
                .all(|word| all.iter().any(|text| text.to_lowercase().contains(word)))
        };
        self.entries.iter().filter(contains).collect()
    }

    fn selected(&self) -> Option<&Entry> {
        let matching = self.matching();
        matching
            .get(self.selected.min(matching.len().saturating_sub(1)))
            .copied()
    }

    fn scroll(&mut self, by: Scroll) {
        let last = self.matching().len().saturating_sub(1);
        let from = self.selected.min(last);
        let to = match by {
            Scroll::Up => from.saturating_sub(1),
            Scroll::Down => from + 1,
            Scroll::PageUp => from.saturating_sub(PAGE),
            Scroll::PageDown => from + PAGE,
        };
        self.selected = to.min(last);
    }
}

/// Takes one message into the list.
pub fn update(picker: &mut Picker, msg: Msg) -> Choice {
    if picker.trouble.take().is_some() && msg == Msg::Close {
        return Choice::None;
    }
    match msg {
        Msg::Quit => return Choice::Quit,
        Msg::Suspend => return Choice::Suspend,
        Msg::Redraw | Msg::Resized => return Choice::Clear,
        Msg::Close if picker.filter.is_empty() => return Choice::Quit,
        Msg::Accept => {
            return picker
                .selected()
                .map_or(Choice::None, |entry| Choice::Run(entry.name.clone()));
        }
        Msg::Close => {
            picker.filter.take();
            picker.selected = 0;
        }
        Msg::Edit(edit) if picker.filter.apply(edit) => picker.selected = 0,
        Msg::Paste(text) => {
            text.lines().next().unwrap_or("").chars().for_each(|c| {
                picker.filter.apply(Edit::Insert(c));
            });
            picker.selected = 0;
        }
        Msg::Scroll(by) => picker.scroll(by),
        _ => {}
    }
    Choice::None
}

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
    let after = text::put(buffer, room, (0, 0), "kdrill", styles.text.selected);
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
    draw_preview(buffer, preview, picker);
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
            let length = number::span(entry.duration);
            let left = Rect {
                width: line.width.saturating_sub(12),
                ..line
            };
            let after = text::put(buffer, left, (2, 0), &text::visible(&entry.name), style);
            let title = text::visible(&entry.title);
            let start = after.max(24) + 1;
            let room = left.width.saturating_sub(start);
            let title = text::fit(&title, room, theme.glyphs.ellipsis);
            text::put(buffer, left, (start, 0), &title, styles.text.dim);
            text::put_right(buffer, line, 0, &length, styles.text.dim);
        }
    }
}

fn draw_preview(buffer: &mut Buffer, outline: Rect, picker: &Picker) {
    let theme = &picker.theme;
    let styles = theme.styles;
    let inside = inside(outline);
    let Some(entry) = picker.selected() else {
        return;
    };
    let name = Line::from(Span::styled(
        text::visible(&entry.title).into_owned(),
        styles.frame.title,
    ));
    let length = format!("{} simulated", number::span(entry.duration));
    let value = Line::from(Span::styled(length, styles.text.dim));
    (&Title { theme, name, value }).render(outline, buffer);
    let mut row = 0;
    for line in text::wrap(&text::visible(&entry.question), inside.width) {
        text::put(buffer, inside, (0, row), &line, styles.text.strong);
        row += 1;
    }
    let Ok(source) = library::find(&entry.name) else {
        return;
    };
    let rest = below(inside, row + 1);
    // The question stands above; the file begins with it.
    let body = source
        .lines()
        .skip_while(|line| line.starts_with('#') || line.is_empty());
    for (row, line) in (0..rest.height).zip(body) {
        let line = text::visible(line);
        let (code, comment) = line.split_once('#').unwrap_or((&line, ""));
        let is_table = code.starts_with('[');
        let style = if is_table {
            styles.text.accent
        } else {
            styles.text.plain
        };
        let after = text::put(buffer, rest, (0, row), code, style);
        if !comment.is_empty() {
            text::put(
                buffer,
                rest,
                (after, row),
                &format!("#{comment}"),
                styles.text.dim,
            );
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
