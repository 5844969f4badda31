//! Colours as SVG writes them. A terminal's sixteen colours and its own two are nowhere defined;
//! these are ours.

use ratatui::style::Color;

/// What the picture stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Light text on dark ground.
    #[default]
    Dark,
    /// Dark text on white.
    Light,
}

impl Background {
    /// The ground.
    pub(super) const fn ground(self) -> (u8, u8, u8) {
        match self {
            Self::Dark => (21, 24, 30),
            Self::Light => (255, 255, 255),
        }
    }

    /// Text without a colour.
    pub(super) const fn text(self) -> (u8, u8, u8) {
        match self {
            Self::Dark => (212, 216, 222),
            Self::Light => (36, 41, 47),
        }
    }
}

/// A colour; none for the terminal's own.
pub(super) fn rgb(color: Color) -> Option<(u8, u8, u8)> {
    Some(match color {
        Color::Reset => return None,
        Color::Black => indexed(0),
        Color::Red => indexed(1),
        Color::Green => indexed(2),
        Color::Yellow => indexed(3),
        Color::Blue => indexed(4),
        Color::Magenta => indexed(5),
        Color::Cyan => indexed(6),
        Color::Gray => indexed(7),
        Color::DarkGray => indexed(8),
        Color::LightRed => indexed(9),
        Color::LightGreen => indexed(10),
        Color::LightYellow => indexed(11),
        Color::LightBlue => indexed(12),
        Color::LightMagenta => indexed(13),
        Color::LightCyan => indexed(14),
        Color::White => indexed(15),
        Color::Indexed(index) => indexed(index),
        Color::Rgb(red, green, blue) => (red, green, blue),
    })
}

/// The 256 colours of xterm: sixteen, a cube of six steps a side, 24 greys.
fn indexed(index: u8) -> (u8, u8, u8) {
    const SIXTEEN: [(u8, u8, u8); 16] = [
        (40, 44, 52),
        (205, 82, 82),
        (86, 164, 94),
        (196, 140, 46),
        (84, 130, 204),
        (162, 108, 184),
        (52, 160, 176),
        (196, 200, 206),
        (110, 116, 126),
        (232, 112, 112),
        (116, 194, 122),
        (224, 172, 82),
        (120, 162, 230),
        (192, 142, 212),
        (92, 192, 206),
        (240, 242, 245),
    ];
    let step = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match index {
        0..16 => SIXTEEN[index as usize],
        16..232 => {
            let place = index - 16;
            (step(place / 36), step(place / 6 % 6), step(place % 6))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cube_and_the_greys_are_those_of_xterm() {
        assert_eq!(indexed(38), (0, 175, 215));
        assert_eq!(indexed(167), (215, 95, 95));
        assert_eq!(indexed(232), (8, 8, 8));
        assert_eq!(indexed(255), (238, 238, 238));
    }
}
