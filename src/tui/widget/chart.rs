//! A chart over simulated time: layers told apart by shape, thresholds, fault lines, both axes
//! labelled.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::Widget;

use crate::sim::time::SimTime;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::raster::{self, DOTS_Y, Raster};
use crate::tui::zoom::TimeWindow;

/// What one column of dots shows: the smallest, mean and largest value of its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Smallest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

impl Sample {
    /// One value.
    pub const fn of(value: f64) -> Self {
        Self {
            min: value,
            mean: value,
            max: value,
        }
    }

    /// What is taken when this much of `total` is left.
    #[must_use]
    pub const fn taken_from(self, total: f64) -> Self {
        Self {
            min: total - self.max,
            mean: total - self.mean,
            max: total - self.min,
        }
    }

    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            min: self.min + other.min,
            mean: self.mean + other.mean,
            max: self.max + other.max,
        }
    }
}

/// How a layer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A line through the values.
    Line,
    /// Everything below the mean, lightly.
    Area,
    /// Everything below the mean, densely.
    Solid,
}

/// One row of values over the window.
#[derive(Clone, Debug)]
pub struct Layer {
    /// One sample a dot column (two in every cell); `None` where there is no value.
    pub samples: Vec<Option<Sample>>,
    /// Its shape.
    pub shape: Shape,
    /// Its style.
    pub style: Style,
}

/// A chart.
#[derive(Debug)]
pub struct Chart<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// Simulated time from left to right.
    pub window: TimeWindow,
    /// The value at the top; the bottom is 0.
    pub top: f64,
    /// The label of a value on the vertical axis.
    pub label: fn(f64) -> String,
    /// Layers, the lower ones first.
    pub layers: &'a [Layer],
    /// Values with a horizontal line.
    pub thresholds: &'a [f64],
    /// Moments with a vertical line.
    pub faults: &'a [SimTime],
}

/// The plot while layers are drawn on it.
struct Canvas {
    plot: Rect,
    /// The dots of areas so far, which areas on top complete.
    areas: Raster,
}

/// Cells that the vertical axis takes for labels of this width.
pub const fn axis_cells(label_width: u16) -> u16 {
    label_width + 1
}

/// Width of the plot itself inside `area`, so that callers can prepare two samples for each cell.
pub fn plot_columns(area: Rect, label_width: u16) -> u16 {
    area.width.saturating_sub(axis_cells(label_width))
}

impl Chart<'_> {
    /// Width of the widest label of the vertical axis.
    pub fn label_width(top: f64, label: fn(f64) -> String) -> u16 {
        text::width(&label(top)).max(text::width(&label(0.0)))
    }
}

impl Widget for &Chart<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        let labels = Chart::label_width(self.top, self.label);
        let plot = Rect {
            x: area.x + axis_cells(labels).min(area.width),
            y: area.y,
            width: plot_columns(area, labels),
            height: area.height.saturating_sub(1),
        };
        if plot.width == 0 || plot.height == 0 {
            return;
        }
        self.draw_thresholds(plot, buffer);
        self.draw_faults(plot, buffer);
        let mut canvas = Canvas {
            plot,
            areas: Raster::new(plot.width, plot.height),
        };
        for layer in self.layers {
            self.draw_layer(layer, &mut canvas, buffer);
        }
        self.draw_axis_y(area, plot, buffer);
        self.draw_axis_x(plot, buffer);
    }
}

impl Chart<'_> {
    /// The dot row of a value, from the bottom.
    fn row(&self, value: f64, rows: usize) -> usize {
        if self.top <= 0.0 || value <= 0.0 {
            return 0;
        }
        let place = value / self.top * (rows.saturating_sub(1)) as f64;
        (place.round() as usize).min(rows.saturating_sub(1))
    }

    fn draw_thresholds(&self, plot: Rect, buffer: &mut Buffer) {
        let rows = usize::from(plot.height) * DOTS_Y;
        for &value in self.thresholds.iter().filter(|&&value| value <= self.top) {
            let from_top = (rows - 1 - self.row(value, rows)) / DOTS_Y;
            for x in plot.x..plot.right() {
                buffer[(x, plot.y + from_top as u16)]
                    .set_symbol(self.theme.glyphs.threshold)
                    .set_style(self.theme.styles.chart.threshold);
            }
        }
    }

    fn draw_faults(&self, plot: Rect, buffer: &mut Buffer) {
        for &at in self.faults {
            let Some(column) = self.window.column(at, plot.width) else {
                continue;
            };
            for y in plot.y..plot.bottom() {
                buffer[(plot.x + column, y)]
                    .set_symbol(self.theme.glyphs.fault_line)
                    .set_style(self.theme.styles.chart.fault);
            }
        }
    }

    fn draw_layer(&self, layer: &Layer, canvas: &mut Canvas, buffer: &mut Buffer) {
        let mut dots = Raster::new(canvas.plot.width, canvas.plot.height);
        let rows = dots.rows();
        let mut before: Option<usize> = None;
        for (column, sample) in layer.samples.iter().enumerate().take(dots.columns()) {
            let Some(sample) = sample else {
                before = None;
                continue;
            };
            let mean = self.row(sample.mean, rows);
            match layer.shape {
                Shape::Line => {
                    let low = self.row(sample.min, rows).min(before.unwrap_or(usize::MAX));
                    let high = self.row(sample.max, rows).max(before.unwrap_or(0));
                    dots.set_run(column, low, high);
                }
                Shape::Area | Shape::Solid if sample.mean <= 0.0 => {}
                Shape::Area if self.theme.glyphs.braille => hatch(&mut dots, column, mean),
                Shape::Area | Shape::Solid => dots.set_run(column, 0, mean),
            }
            before = Some(mean);
        }
        self.draw_dots(&dots, layer, canvas, buffer);
    }

    fn draw_dots(&self, dots: &Raster, layer: &Layer, canvas: &mut Canvas, buffer: &mut Buffer) {
        let plot = canvas.plot;
        let is_area = layer.shape != Shape::Line;
        for y in 0..plot.height {
            for x in 0..plot.width {
                let (column, row) = (usize::from(x), usize::from(y));
                let own = dots.bits(column, row);
                if own == 0 {
                    continue;
                }
                let bits = if is_area {
                    canvas.areas.add_bits(column, row, own)
                } else {
                    own
                };
                let c = match (self.theme.glyphs.braille, layer.shape) {
                    (true, _) => raster::braille(bits),
                    (false, Shape::Area) => ':',
                    (false, Shape::Solid) => '#',
                    (false, Shape::Line) => raster::ascii(bits),
                };
                let cell = &mut buffer[(plot.x + x, plot.y + y)];
                cell.reset();
                cell.set_char(c).set_style(layer.style);
            }
        }
    }

    fn draw_axis_y(&self, area: Rect, plot: Rect, buffer: &mut Buffer) {
        let glyphs = self.theme.glyphs;
        let style = self.theme.styles.chart.axis;
        let axis = plot.x - 1;
        for y in plot.y..plot.bottom() {
            buffer[(axis, y)].set_symbol(glyphs.axis_y).set_style(style);
        }
        let middle = plot.height / 2;
        for row in 0..plot.height {
            let share = match row {
                0 => 1.0,
                row if row == middle && plot.height >= 5 && plot.height % 2 == 1 => 0.5,
                _ => continue,
            };
            let label = (self.label)(self.top * share);
            let room = Rect {
                width: axis - area.x,
                ..area
            };
            text::put_right(buffer, room, row, &label, style);
            buffer[(axis, plot.y + row)]
                .set_symbol(glyphs.axis_y_tick)
                .set_style(style);
        }
        buffer[(axis, plot.bottom())]
            .set_symbol(glyphs.axis_corner)
            .set_style(style);
    }

    fn draw_axis_x(&self, plot: Rect, buffer: &mut Buffer) {
        let glyphs = self.theme.glyphs;
        let style = self.theme.styles.chart.axis;
        let y = plot.bottom();
        for x in plot.x..plot.right() {
            buffer[(x, y)].set_symbol(glyphs.axis_x).set_style(style);
        }
        let faults: Vec<u16> = self
            .faults
            .iter()
            .filter_map(|&at| self.window.column(at, plot.width))
            .collect();
        for &column in &faults {
            let cell = &mut buffer[(plot.x + column, y)];
            cell.reset();
            cell.set_symbol(glyphs.fault)
                .set_style(self.theme.styles.chart.fault);
        }
        let room = Rect {
            y,
            height: 1,
            ..plot
        };
        let mut free = 0;
        for at in self.window.ticks((plot.width / 9).max(1)) {
            let label = crate::tui::number::moment(at);
            let Some(column) = self.window.column(at, plot.width) else {
                continue;
            };
            let cells = text::width(&label);
            let aside = column + u16::from(faults.contains(&column));
            let start = aside.min(plot.width.saturating_sub(cells));
            let taken = faults
                .iter()
                .any(|fault| (start..start + cells).contains(fault));
            if start >= free && cells <= plot.width && !taken {
                free = text::put(buffer, room, (start, 0), &label, style) + 1;
            }
        }
    }
}

/// Every other dot up to `row`, and the row itself: an area that does not shout.
fn hatch(dots: &mut Raster, column: usize, row: usize) {
    for below in 0..row {
        if (column + below).is_multiple_of(2) {
            dots.set(column, below);
        }
    }
    dots.set(column, row);
}

/// The smallest round number that is at least `value`.
pub fn nice_top(value: f64) -> f64 {
    if !value.is_finite() || value <= 0.0 {
        return 1.0;
    }
    let mut scale = 1.0;
    while scale < value {
        scale *= 10.0;
    }
    while scale >= value * 10.0 {
        scale /= 10.0;
    }
    let steps = [0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];
    steps
        .iter()
        .map(|step| step * scale)
        .find(|top| *top >= value * 0.999_999)
        .unwrap_or(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_an_axis_is_round_and_never_too_low() {
        assert!((nice_top(0.41) - 0.5).abs() < 1e-9);
        assert!((nice_top(1.0) - 1.0).abs() < 1e-9);
        assert!((nice_top(1.07) - 1.2).abs() < 1e-9);
        for value in [1e-6, 0.003, 0.7, 12.0, 33_554_432.0] {
            let top = nice_top(value);
            assert!(top >= value * 0.999 && top <= value * 2.1, "{value} {top}");
        }
        assert!((nice_top(f64::NAN) - 1.0).abs() < 1e-9);
    }
}
