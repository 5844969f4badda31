//! A frame as a terminal takes it: characters and SGR sequences (ECMA-48), line by line.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::cells;

/// How a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl Look {
    /// As the terminal writes by itself.
    pub(crate) const PLAIN: Self = Self {
        fg: Color::Reset,
        bg: Color::Reset,
        modifier: Modifier::empty(),
    };

    /// That of a cell.
    pub(crate) fn of(cell: &Cell) -> Self {
        Self {
            fg: cell.fg,
            bg: cell.bg,
            modifier: cell.modifier,
        }
    }

    /// The sequence that leads here from any other look.
    pub(crate) fn sequence(self) -> String {
        const MODIFIERS: [(Modifier, &str); 7] = [
            (Modifier::BOLD, ";1"),
            (Modifier::DIM, ";2"),
            (Modifier::ITALIC, ";3"),
            (Modifier::UNDERLINED, ";4"),
            (Modifier::REVERSED, ";7"),
            (Modifier::HIDDEN, ";8"),
            (Modifier::CROSSED_OUT, ";9"),
        ];
        let mut codes = "\x1b[0".to_owned();
        for (modifier, code) in MODIFIERS {
            if self.modifier.contains(modifier) {
                codes.push_str(code);
            }
        }
        color(&mut codes, self.fg, 0);
        color(&mut codes, self.bg, 10);
        codes.push('m');
        codes
    }
}

/// The codes of a colour; those of backgrounds are 10 above those of text.
fn color(codes: &mut String, color: Color, above: u8) {
    let code = match color {
        Color::Reset => return,
        Color::Black => 30,
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::Gray => 37,
        Color::DarkGray => 90,
        Color::LightRed => 91,
        Color::LightGreen => 92,
        Color::LightYellow => 93,
        Color::LightBlue => 94,
        Color::LightMagenta => 95,
        Color::LightCyan => 96,
        Color::White => 97,
        Color::Indexed(index) => {
            let _always = write!(codes, ";{};5;{index}", 38 + above);
            return;
        }
        Color::Rgb(red, green, blue) => {
            let _always = write!(codes, ";{};2;{red};{green};{blue}", 38 + above);
            return;
        }
    };
    let _always = write!(codes, ";{}", code + above);
}

/// Its lines; blanks at their ends are left out where they look like nothing.
pub(super) fn render(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let is_seen = |cell: &Cell| cell.symbol() != " " || Look::of(cell) != Look::PLAIN;
        let end = cells(buffer, y)
            .filter(|(_, cell)| is_seen(cell))
            .map(|(x, _)| x + 1)
            .last()
            .unwrap_or(0);
        let mut look = Look::PLAIN;
        for (_, cell) in cells(buffer, y).take_while(|(x, _)| *x < end) {
            let wanted = Look::of(cell);
            if wanted != look {
                text.push_str(&wanted.sequence());
                look = wanted;
            }
            text.push_str(cell.symbol());
        }
        if look != Look::PLAIN {
            text.push_str("\x1b[0m");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn looks_change_where_cells_do_and_end_with_the_line() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 9, 2));
        let red = Style::new().fg(Color::Rgb(217, 87, 87)).bold();
        buffer.set_string(0, 0, "ab", Style::new());
        buffer.set_string(2, 0, "cd", red);
        buffer.set_string(
            0,
            1,
            "e",
            Style::new().fg(Color::Cyan).bg(Color::Indexed(8)),
        );
        assert_eq!(
            render(&buffer),
            "ab\x1b[0;1;38;2;217;87;87mcd\x1b[0m\n\x1b[0;36;48;5;8me\x1b[0m\n"
        );
    }
}
