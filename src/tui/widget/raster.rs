//! Dots on a grid that is finer than cells: two columns and four rows of dots in every cell, as
//! braille has them. ASCII charts use the same dots and show a cell by where its dots are.

/// Dots across one cell.
pub const DOTS_X: usize = 2;
/// Dots down one cell.
pub const DOTS_Y: usize = 4;

/// Bits of braille dots by column and row within a cell.
const BITS: [[u8; DOTS_Y]; DOTS_X] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A grid of dots, one byte of braille bits a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    width: usize,
    height: usize,
    cells: Vec<u8>,
}

impl Raster {
    /// An empty grid of `width` × `height` cells.
    pub fn new(width: u16, height: u16) -> Self {
        let (width, height) = (usize::from(width), usize::from(height));
        Self {
            width,
            height,
            cells: vec![0; width * height],
        }
    }

    /// Dot rows.
    pub const fn rows(&self) -> usize {
        self.height * DOTS_Y
    }

    /// Dot columns.
    pub const fn columns(&self) -> usize {
        self.width * DOTS_X
    }

    /// Sets the dot in `column` from the left and `row` from the bottom; beyond the grid, nothing.
    pub fn set(&mut self, column: usize, row: usize) {
        if column < self.columns() && row < self.rows() {
            let from_top = self.rows() - 1 - row;
            let cell = from_top / DOTS_Y * self.width + column / DOTS_X;
            self.cells[cell] |= BITS[column % DOTS_X][from_top % DOTS_Y];
        }
    }

    /// Sets the dots of one column from row `low` to row `high`, both included.
    pub fn set_run(&mut self, column: usize, low: usize, high: usize) {
        for row in low..=high.min(self.rows().saturating_sub(1)) {
            self.set(column, row);
        }
    }

    /// Adds braille bits to a cell; returns what it holds then.
    pub fn add_bits(&mut self, x: usize, y: usize, bits: u8) -> u8 {
        self.cells.get_mut(y * self.width + x).map_or(bits, |cell| {
            *cell |= bits;
            *cell
        })
    }

    /// The braille bits of a cell, 0 when it is empty.
    pub fn bits(&self, x: usize, y: usize) -> u8 {
        self.cells.get(y * self.width + x).copied().unwrap_or(0)
    }
}

/// The braille character of some bits.
pub fn braille(bits: u8) -> char {
    char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' ')
}

/// Bits of the upper half of a cell.
const UPPER: u8 = 0x01 | 0x02 | 0x08 | 0x10;

/// How a line looks in ASCII: by whether its dots lie high or low in the cell.
pub const fn ascii(bits: u8) -> char {
    let (high, low) = (bits & UPPER != 0, bits & !UPPER != 0);
    match (high, low) {
        (true, true) => '*',
        (true, false) => '"',
        (false, true) => '_',
        (false, false) => ' ',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_count_from_the_bottom() {
        let mut raster = Raster::new(1, 2);
        raster.set(0, 0);
        raster.set(1, 7);
        assert_eq!(braille(raster.bits(0, 1)), '⡀');
        assert_eq!(braille(raster.bits(0, 0)), '⠈');
    }

    #[test]
    fn dots_beyond_the_grid_are_ignored() {
        let mut raster = Raster::new(0, 0);
        raster.set(0, 0);
        raster.set_run(5, 0, 100);
        assert_eq!(raster.bits(3, 3), 0);
    }
}
