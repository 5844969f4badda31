//! Shapes become paths, one for all shapes of an ink.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::glyph::{Arms, Axis, End, Quad, Shape, Side, Weight};
use super::{CELL_HEIGHT, CELL_WIDTH, Ink};

/// Widths of lines, in tenths of a pixel.
const LIGHT: u32 = 11;
const HEAVY: u32 = 24;
/// Radius of a bend, and of a braille dot.
const BEND: u32 = 40;
const DOT: u32 = 12;

/// What was drawn so far.
#[derive(Debug, Default)]
pub(super) struct Pen {
    fills: BTreeMap<Ink, Fill>,
    strokes: BTreeMap<(Weight, Ink), Stroke>,
}

/// The rectangles and dots of one ink.
#[derive(Debug, Default)]
struct Fill {
    path: String,
    /// A rectangle that the next cell may go on with: seams would show.
    open: Option<Area>,
}

/// A rectangle in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Area {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

impl Fill {
    fn rectangle(&mut self, area: Area) {
        match &mut self.open {
            Some(open)
                if (open.right, open.top, open.bottom) == (area.left, area.top, area.bottom) =>
            {
                open.right = area.right;
            }
            _ => {
                self.close();
                self.open = Some(area);
            }
        }
    }

    fn close(&mut self) {
        if let Some(area) = self.open.take() {
            let Area {
                left,
                top,
                right,
                bottom,
            } = area;
            let _always = write!(self.path, "M{left} {top}H{right}V{bottom}H{left}z");
        }
    }
}

/// The lines of one ink and weight.
#[derive(Debug, Default)]
struct Stroke {
    path: String,
    /// A line from left to right that the next cell may go on with: its height, and where it ends.
    open: Option<(u32, u32)>,
}

impl Stroke {
    /// A line from left to right; goes on with the one before where it can.
    fn across(&mut self, y: u32, (from, to): (u32, u32)) {
        if self.open != Some((y, from)) {
            self.close();
            let _always = write!(self.path, "M{from} {y}");
        }
        self.open = Some((y, to));
    }

    fn close(&mut self) {
        if let Some((_, to)) = self.open.take() {
            let _always = write!(self.path, "H{to}");
        }
    }

    fn down(&mut self, x: u32, (from, to): (u32, u32)) {
        self.close();
        let _always = write!(self.path, "M{x} {from}V{to}");
    }

    fn piece(&mut self, path: &str) {
        self.close();
        self.path.push_str(path);
    }
}

impl Pen {
    /// Draws a shape into the cell at a column and line.
    pub(super) fn draw(&mut self, shape: &Shape, (column, line): (u16, u16), ink: Ink) {
        let cell = Corner {
            x: u32::from(column) * CELL_WIDTH,
            y: u32::from(line) * CELL_HEIGHT,
        };
        match shape {
            Shape::Fill(quads) => {
                for quad in quads {
                    self.fill(cell, *quad, ink);
                }
            }
            Shape::Shade(quarters) => {
                let percent = (u16::from(ink.percent) * u16::from(*quarters) / 4) as u8;
                let whole = Quad {
                    left: 0,
                    top: 0,
                    right: 8,
                    bottom: 8,
                };
                self.fill(cell, whole, Ink { percent, ..ink });
            }
            Shape::Lines(arms) => self.lines(cell, *arms, ink),
            Shape::Dashes {
                along,
                weight,
                pieces,
            } => self.dashes(cell, (*along, u32::from(*pieces)), (*weight, ink)),
            Shape::Bend(side, end) => {
                let path = cell.bend(*side, *end);
                self.stroke(Weight::Light, ink).piece(&path);
            }
            Shape::Cross => {
                let Corner { x, y } = cell;
                let (right, bottom) = (x + CELL_WIDTH, y + CELL_HEIGHT);
                let path = format!("M{x} {y}L{right} {bottom}M{right} {y}L{x} {bottom}");
                self.stroke(Weight::Light, ink).piece(&path);
            }
            Shape::Dots(bits) => self.dots(cell, *bits, ink),
        }
    }

    /// Everything, as path elements.
    pub(super) fn paths(mut self) -> String {
        let mut paths = String::new();
        for (ink, fill) in &mut self.fills {
            fill.close();
            let (ink, path) = (ink.attributes("fill"), &fill.path);
            let _always = writeln!(paths, "<path{ink} d=\"{path}\"/>");
        }
        for ((weight, ink), stroke) in &mut self.strokes {
            stroke.close();
            let width = match weight {
                Weight::Light => LIGHT,
                Weight::Heavy => HEAVY,
            };
            let _always = writeln!(
                paths,
                "<path fill=\"none\"{} stroke-width=\"{width}\" d=\"{}\"/>",
                ink.attributes("stroke"),
                stroke.path
            );
        }
        paths
    }

    fn stroke(&mut self, weight: Weight, ink: Ink) -> &mut Stroke {
        self.strokes.entry((weight, ink)).or_default()
    }

    fn fill(&mut self, cell: Corner, quad: Quad, ink: Ink) {
        self.fills.entry(ink).or_default().rectangle(Area {
            left: cell.across(quad.left),
            top: cell.down(quad.top),
            right: cell.across(quad.right),
            bottom: cell.down(quad.bottom),
        });
    }

    fn lines(&mut self, cell: Corner, arms: Arms, ink: Ink) {
        let (x, y) = cell.middle();
        let (left, right) = (cell.x, cell.x + CELL_WIDTH);
        let (top, bottom) = (cell.y, cell.y + CELL_HEIGHT);
        for weight in [Weight::Light, Weight::Heavy] {
            let has = |arm: Option<Weight>| arm == Some(weight);
            match (has(arms.left), has(arms.right)) {
                (true, true) => self.stroke(weight, ink).across(y, (left, right)),
                (true, false) => self.stroke(weight, ink).across(y, (left, x)),
                (false, true) => self.stroke(weight, ink).across(y, (x, right)),
                (false, false) => {}
            }
            match (has(arms.up), has(arms.down)) {
                (true, true) => self.stroke(weight, ink).down(x, (top, bottom)),
                (true, false) => self.stroke(weight, ink).down(x, (top, y)),
                (false, true) => self.stroke(weight, ink).down(x, (y, bottom)),
                (false, false) => {}
            }
        }
    }

    fn dashes(&mut self, cell: Corner, (along, pieces): (Axis, u32), (weight, ink): (Weight, Ink)) {
        let (x, y) = cell.middle();
        let length = match along {
            Axis::Across => CELL_WIDTH / pieces,
            Axis::Down => CELL_HEIGHT / pieces,
        };
        let gap = length / 3;
        let stroke = self.stroke(weight, ink);
        for piece in 0..pieces {
            let from = piece * length + gap / 2;
            let to = from + length - gap;
            match along {
                Axis::Across => stroke.across(y, (cell.x + from, cell.x + to)),
                Axis::Down => stroke.down(x, (cell.y + from, cell.y + to)),
            }
        }
    }

    fn dots(&mut self, cell: Corner, bits: u8, ink: Ink) {
        // Unicode numbers the upper six dots column by column, and then the lowest two.
        const PLACES: [(u32, u32); 8] = [
            (0, 0),
            (0, 1),
            (0, 2),
            (1, 0),
            (1, 1),
            (1, 2),
            (0, 3),
            (1, 3),
        ];
        let path = &mut self.fills.entry(ink).or_default().path;
        for (bit, (column, line)) in (0..).zip(PLACES) {
            if bits >> bit & 1 == 0 {
                continue;
            }
            let x = cell.x + CELL_WIDTH / 4 + column * CELL_WIDTH / 2 - DOT;
            let y = cell.y + CELL_HEIGHT / 8 + line * CELL_HEIGHT / 4;
            let across = 2 * DOT;
            let _always = write!(
                path,
                "M{x} {y}a{DOT} {DOT} 0 1 1 {across} 0a{DOT} {DOT} 0 1 1 -{across} 0z"
            );
        }
    }
}

/// The upper left corner of a cell.
#[derive(Clone, Copy, Debug)]
struct Corner {
    x: u32,
    y: u32,
}

impl Corner {
    fn middle(self) -> (u32, u32) {
        (self.x + CELL_WIDTH / 2, self.y + CELL_HEIGHT / 2)
    }

    fn across(self, eighths: u8) -> u32 {
        self.x + CELL_WIDTH * u32::from(eighths) / 8
    }

    fn down(self, eighths: u8) -> u32 {
        self.y + CELL_HEIGHT * u32::from(eighths) / 8
    }

    fn bend(self, side: Side, end: End) -> String {
        let (x, y) = self.middle();
        let (side, before) = match side {
            Side::Right => (self.x + CELL_WIDTH, x + BEND),
            Side::Left => (self.x, x - BEND),
        };
        let (end, after) = match end {
            End::Bottom => (self.y + CELL_HEIGHT, y + BEND),
            End::Top => (self.y, y - BEND),
        };
        format!("M{side} {y}H{before}Q{x} {y} {x} {after}V{end}")
    }
}
