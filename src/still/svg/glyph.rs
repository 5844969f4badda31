//! Characters that are drawn instead of written: lines, bars, shades and braille dots, which no
//! font joins without gaps.

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Filled rectangles.
    Fill(Vec<Quad>),
    /// The whole cell, so many quarters as strong.
    Shade(u8),
    /// Lines from the middle to the edges.
    Lines(Arms),
    /// A line from a side to the side behind, in so many pieces.
    Dashes {
        /// From left to right, or from top to bottom.
        along: Axis,
        /// How strong.
        weight: Weight,
        /// Pieces in a cell.
        pieces: u8,
    },
    /// A quarter of a circle, between a side and the top or bottom.
    Bend(Side, End),
    /// Both diagonals.
    Cross,
    /// Braille dots, a bit each as Unicode numbers them.
    Dots(u8),
}

/// A rectangle in eighths of the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quad {
    pub(super) left: u8,
    pub(super) top: u8,
    pub(super) right: u8,
    pub(super) bottom: u8,
}

/// Lines from the middle of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arms {
    pub(super) left: Option<Weight>,
    pub(super) right: Option<Weight>,
    pub(super) up: Option<Weight>,
    pub(super) down: Option<Weight>,
}

/// How strong a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Light,
    Heavy,
}

/// A side of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// The top or the bottom of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Top,
    Bottom,
}

/// Where a line runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Across,
    Down,
}

impl Shape {
    /// How a character is drawn; none for those that are written.
    pub(super) fn of(symbol: &str) -> Option<Self> {
        let mut characters = symbol.chars();
        let (Some(c), None) = (characters.next(), characters.next()) else {
            return None;
        };
        match c {
            '\u{2500}'..='\u{257f}' => line(c),
            '\u{2580}'..='\u{259f}' => block(c),
            '\u{2800}'..='\u{28ff}' => Some(Self::Dots((c as u32 - 0x2800) as u8)),
            _ => None,
        }
    }
}

fn line(c: char) -> Option<Shape> {
    use Weight::{Heavy, Light};
    let dashes = |along, weight, pieces| {
        Some(Shape::Dashes {
            along,
            weight,
            pieces,
        })
    };
    let bend = |side, end| Some(Shape::Bend(side, end));
    let arms = |weight, sides: &str| {
        let arm = |side| sides.contains(side).then_some(weight);
        Some(Shape::Lines(Arms {
            left: arm('l'),
            right: arm('r'),
            up: arm('u'),
            down: arm('d'),
        }))
    };
    match c {
        '─' => arms(Light, "lr"),
        '━' => arms(Heavy, "lr"),
        '│' => arms(Light, "ud"),
        '┃' => arms(Heavy, "ud"),
        '┄' => dashes(Axis::Across, Light, 3),
        '┅' => dashes(Axis::Across, Heavy, 3),
        '┆' => dashes(Axis::Down, Light, 3),
        '┈' => dashes(Axis::Across, Light, 4),
        '┊' => dashes(Axis::Down, Light, 4),
        '╌' => dashes(Axis::Across, Light, 2),
        '╎' => dashes(Axis::Down, Light, 2),
        '┌' => arms(Light, "rd"),
        '┐' => arms(Light, "ld"),
        '└' => arms(Light, "ru"),
        '┘' => arms(Light, "lu"),
        '├' => arms(Light, "rud"),
        '┤' => arms(Light, "lud"),
        '┫' => arms(Heavy, "lud"),
        '┬' => arms(Light, "lrd"),
        '┴' => arms(Light, "lru"),
        '┼' => arms(Light, "lrud"),
        '╴' => arms(Light, "l"),
        '╵' => arms(Light, "u"),
        '╶' => arms(Light, "r"),
        '╷' => arms(Light, "d"),
        '╸' => arms(Heavy, "l"),
        '╹' => arms(Heavy, "u"),
        '╺' => arms(Heavy, "r"),
        '╻' => arms(Heavy, "d"),
        '╭' => bend(Side::Right, End::Bottom),
        '╮' => bend(Side::Left, End::Bottom),
        '╰' => bend(Side::Right, End::Top),
        '╯' => bend(Side::Left, End::Top),
        '╳' => Some(Shape::Cross),
        _ => None,
    }
}

fn block(c: char) -> Option<Shape> {
    let quad = |left, top, right, bottom| Quad {
        left,
        top,
        right,
        bottom,
    };
    let below = c as u32 - 0x2580;
    let quads = match c {
        '▀' => vec![quad(0, 0, 8, 4)],
        '▁'..='█' => vec![quad(0, 8 - below as u8, 8, 8)],
        '▉'..='▏' => vec![quad(0, 0, 16 - below as u8, 8)],
        '▐' => vec![quad(4, 0, 8, 8)],
        '░'..='▓' => return Some(Shape::Shade(below as u8 - 0x10)),
        '▖'..='▟' => quarters(c)
            .iter()
            .map(|(left, top)| quad(*left, *top, left + 4, top + 4))
            .collect(),
        _ => return None,
    };
    Some(Shape::Fill(quads))
}

/// The filled quarters of a cell, by their upper left corners.
fn quarters(c: char) -> &'static [(u8, u8)] {
    const UPPER_LEFT: (u8, u8) = (0, 0);
    const UPPER_RIGHT: (u8, u8) = (4, 0);
    const LOWER_LEFT: (u8, u8) = (0, 4);
    const LOWER_RIGHT: (u8, u8) = (4, 4);
    match c {
        '▖' => &[LOWER_LEFT],
        '▗' => &[LOWER_RIGHT],
        '▘' => &[UPPER_LEFT],
        '▙' => &[UPPER_LEFT, LOWER_LEFT, LOWER_RIGHT],
        '▚' => &[UPPER_LEFT, LOWER_RIGHT],
        '▛' => &[UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT],
        '▜' => &[UPPER_LEFT, UPPER_RIGHT, LOWER_RIGHT],
        '▝' => &[UPPER_RIGHT],
        '▞' => &[UPPER_RIGHT, LOWER_LEFT],
        '▟' => &[UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::glyph::UNICODE;

    #[test]
    fn every_line_bar_and_shade_of_the_screen_is_drawn() {
        let glyphs = [
            UNICODE.in_flight,
            UNICODE.ready,
            UNICODE.open,
            UNICODE.retrying,
            UNICODE.bar,
            UNICODE.bar_half,
            UNICODE.passed,
            UNICODE.ahead,
            UNICODE.fault_line,
            UNICODE.threshold,
            UNICODE.axis_corner,
            UNICODE.axis_y,
            UNICODE.axis_y_tick,
            UNICODE.axis_x,
            UNICODE.area,
        ];
        let links = [UNICODE.link_up, UNICODE.link_cut];
        let links = links
            .iter()
            .chain(&[UNICODE.link_refusing, UNICODE.link_degraded]);
        let characters = links.flat_map(|link| link.chars()).map(String::from);
        let joints = UNICODE.joints.iter().skip(1).chain(&UNICODE.levels);
        let all = joints.chain(&glyphs).map(|glyph| (*glyph).to_owned());
        for glyph in all.chain(characters) {
            assert!(Shape::of(&glyph).is_some(), "{glyph}");
        }
    }

    #[test]
    fn eighths_grow_from_below_and_from_the_left() {
        let quad = |symbol| match Shape::of(symbol) {
            Some(Shape::Fill(quads)) => quads[0],
            other => panic!("{other:?}"),
        };
        assert_eq!((quad("▁").top, quad("█").top), (7, 0));
        assert_eq!((quad("▏").right, quad("▉").right), (1, 7));
    }

    #[test]
    fn letters_are_written() {
        assert_eq!(Shape::of("a"), None);
        assert_eq!(Shape::of("é"), None);
        assert_eq!(Shape::of(""), None);
    }
}
