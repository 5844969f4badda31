//! A frame as a picture: a grid of cells of fixed size, in whole numbers only.
//!
//! Text is stretched to its columns, so that it lines up in any monospaced font; everything that a
//! font would join badly is drawn (see `glyph`).

mod glyph;
mod palette;
mod pen;

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Modifier;

pub use palette::Background;

use super::cells;
use glyph::Shape;
use pen::Pen;

/// A cell in tenths of a pixel, for text of 14 pixels.
const CELL_WIDTH: u32 = 84;
const CELL_HEIGHT: u32 = 170;
const FONT_SIZE: u32 = 140;
/// From a line's top to where its letters stand.
const BASELINE: u32 = 128;
/// Around the frame.
const MARGIN: u32 = 100;
/// How strong dimmed text is, in percent.
const DIM_PERCENT: u8 = 62;

/// Colour and strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ink {
    color: (u8, u8, u8),
    percent: u8,
}

impl Ink {
    /// As attributes, for a fill or a stroke.
    fn attributes(self, what: &str) -> String {
        let (red, green, blue) = self.color;
        let color = format!(" {what}=\"#{red:02x}{green:02x}{blue:02x}\"");
        match self.percent {
            100 => color,
            percent => format!("{color} {what}-opacity=\".{percent:02}\""),
        }
    }
}

/// How the text of a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look {
    ink: Ink,
    modifier: Modifier,
    ground: Option<(u8, u8, u8)>,
}

impl Look {
    fn of(cell: &Cell, background: Background) -> Self {
        let (mut text, mut ground) = (palette::rgb(cell.fg), palette::rgb(cell.bg));
        if cell.modifier.contains(Modifier::REVERSED) {
            let (over, under) = (ground, text);
            text = over.or(Some(background.ground()));
            ground = under.or(Some(background.text()));
        }
        let percent = if cell.modifier.contains(Modifier::DIM) {
            DIM_PERCENT
        } else {
            100
        };
        let ink = Ink {
            color: text.unwrap_or(background.text()),
            percent,
        };
        Self {
            ink,
            modifier: cell.modifier,
            ground,
        }
    }
}

/// The picture.
pub(super) fn render(buffer: &Buffer, title: &str, background: Background) -> String {
    let area = buffer.area;
    let width = u32::from(area.width) * CELL_WIDTH + 2 * MARGIN;
    let height = u32::from(area.height) * CELL_HEIGHT + 2 * MARGIN;
    let ground = Ink {
        color: background.ground(),
        percent: 100,
    };
    let mut picture = Picture {
        background,
        grounds: String::new(),
        pen: Pen::default(),
        texts: String::new(),
    };
    for y in area.top()..area.bottom() {
        picture.line(buffer, y);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {width} {height}\" font-size=\"{FONT_SIZE}\" font-family=\"ui-monospace, \
         'DejaVu Sans Mono', Menlo, Consolas, monospace\">\n<title>{}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"60\"{}/>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\">\n{}{}\
         {}</g>\n</svg>\n",
        width.div_ceil(10),
        height.div_ceil(10),
        escaped(title),
        ground.attributes("fill"),
        picture.grounds,
        picture.pen.paths(),
        picture.texts,
    )
}

/// A picture while it is drawn.
struct Picture {
    background: Background,
    /// Rectangles behind text.
    grounds: String,
    /// Lines, bars and dots.
    pen: Pen,
    texts: String,
}

/// Neighbouring cells of one look: where they begin, how many columns they take, what they say.
#[derive(Debug)]
struct Stretch {
    x: u16,
    columns: u16,
    look: Look,
    text: String,
}

impl Picture {
    fn line(&mut self, buffer: &Buffer, y: u16) {
        let mut stretch: Option<Stretch> = None;
        for (x, cell) in cells(buffer, y) {
            let look = Look::of(cell, self.background);
            let columns = crate::tui::text::width(cell.symbol()).max(1);
            if let Some(ground) = look.ground {
                self.ground((x, y), columns, ground);
            }
            if cell.modifier.contains(Modifier::HIDDEN) {
                continue;
            }
            if let Some(shape) = Shape::of(cell.symbol()) {
                self.pen.draw(&shape, (x, y), look.ink);
                self.write(stretch.take(), y);
                continue;
            }
            match &mut stretch {
                Some(open) if open.look == look && open.x + open.columns == x => {
                    open.text.push_str(cell.symbol());
                    open.columns += columns;
                }
                _ => {
                    let next = Stretch {
                        x,
                        columns,
                        look,
                        text: cell.symbol().to_owned(),
                    };
                    self.write(stretch.replace(next), y);
                }
            }
        }
        self.write(stretch, y);
    }

    fn ground(&mut self, (x, y): (u16, u16), columns: u16, color: (u8, u8, u8)) {
        let ink = Ink {
            color,
            percent: 100,
        };
        let _always = writeln!(
            self.grounds,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{CELL_HEIGHT}\"{}/>",
            u32::from(x) * CELL_WIDTH,
            u32::from(y) * CELL_HEIGHT,
            u32::from(columns) * CELL_WIDTH,
            ink.attributes("fill"),
        );
    }

    /// Text, piece by piece: SVG makes one blank of several.
    fn write(&mut self, stretch: Option<Stretch>, y: u16) {
        let Some(stretch) = stretch else { return };
        let mut looks = stretch.look.ink.attributes("fill");
        for (modifier, attribute) in [
            (Modifier::BOLD, " font-weight=\"bold\""),
            (Modifier::ITALIC, " font-style=\"italic\""),
            (Modifier::UNDERLINED, " text-decoration=\"underline\""),
            (Modifier::CROSSED_OUT, " text-decoration=\"line-through\""),
        ] {
            if stretch.look.modifier.contains(modifier) {
                looks.push_str(attribute);
            }
        }
        let mut x = stretch.x;
        for piece in stretch.text.split_inclusive("  ") {
            let shown = piece.trim_start_matches(' ');
            let columns = crate::tui::text::width(piece);
            let left = columns - crate::tui::text::width(shown);
            let shown = shown.trim_end_matches(' ');
            if !shown.is_empty() {
                let _always = writeln!(
                    self.texts,
                    "<text x=\"{}\" y=\"{}\" textLength=\"{}\"{looks}>{}</text>",
                    u32::from(x + left) * CELL_WIDTH,
                    u32::from(y) * CELL_HEIGHT + BASELINE,
                    u32::from(crate::tui::text::width(shown)) * CELL_WIDTH,
                    escaped(shown),
                );
            }
            x += columns;
        }
    }
}

/// Text as XML takes it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Style};

    fn picture(text: &str, style: Style) -> String {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, text, style);
        render(&buffer, "a < b", Background::Dark)
    }

    #[test]
    fn text_is_stretched_to_its_columns_and_escaped() {
        let svg = picture("  a<b ", Style::new());
        assert!(svg.contains("<text x=\"168\" y=\"128\" textLength=\"252\" fill=\"#d4d8de\">"));
        assert!(svg.contains(">a&lt;b</text>"));
        assert!(svg.contains("<title>a &lt; b</title>"));
    }

    #[test]
    fn what_stands_apart_is_written_apart() {
        let svg = picture("ab   cd", Style::new());
        assert!(svg.contains("<text x=\"0\" y=\"128\" textLength=\"168\""));
        assert!(svg.contains("<text x=\"420\" y=\"128\" textLength=\"168\""));
    }

    #[test]
    fn a_line_of_one_glyph_is_one_stroke() {
        let svg = picture("──────", Style::new().fg(Color::Rgb(1, 2, 3)));
        assert!(svg.contains("d=\"M0 85H504\""), "{svg}");
        assert!(!svg.contains("<text"));
    }

    #[test]
    fn reversed_text_stands_on_its_own_colour() {
        let svg = picture("x", Style::new().reversed());
        assert!(
            svg.contains("<rect x=\"0\" y=\"0\" width=\"84\" height=\"170\" fill=\"#d4d8de\"/>")
        );
        assert!(svg.contains("fill=\"#15181e\">x</text>"));
    }
}
