//! All metrics of one client by their own names: what a monitoring system would scrape now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::insight::metric::{Metric, ProducerFigure};
use crate::insight::sampler::client_metrics;
use crate::insight::{names, path};
use crate::kafka::metric_name::MetricUnit;
use crate::sim::Simulation;
use crate::sim::view::RdkafkaFigure;
use crate::tui::number;
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// Cells of one column of metrics.
const COLUMN_CELLS: u16 = 58;

/// A client's metrics now.
#[derive(Debug)]
pub struct Metrics<'a> {
    theme: &'a Theme,
    figures: Vec<(String, String)>,
}

impl<'a> Metrics<'a> {
    /// The metrics of the producer that the scene shows.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let simulation = scene.session.simulation();
        let figures = scene.producer().map_or(Vec::new(), |producer| {
            let config = simulation.config();
            let prefix = format!("producer.{}.", names::producer(config, producer));
            client_metrics(config, producer)
                .into_iter()
                .filter_map(|metric| {
                    let (value, unit) = now(simulation, metric)?;
                    let path = path::show(metric, config);
                    let name = path.strip_prefix(prefix.as_str()).unwrap_or(&path);
                    Some((name.to_owned(), figure(value, unit)))
                })
                .collect()
        });
        Self {
            theme: scene.theme(),
            figures,
        }
    }

    /// Columns that fit into a width.
    fn columns(width: u16) -> u16 {
        (width / COLUMN_CELLS).max(1)
    }

    /// Lines that all metrics take in this width.
    pub fn lines(&self, width: u16) -> usize {
        self.figures
            .len()
            .div_ceil(usize::from(Self::columns(width)))
    }

    /// Draws them from line `first` on, column by column.
    pub fn draw(&self, area: Rect, first: u16, buffer: &mut Buffer) {
        let styles = self.theme.styles;
        let lines = self.lines(area.width);
        let cells = area.width / Self::columns(area.width);
        for (place, (name, value)) in self.figures.iter().enumerate() {
            let (column, line) = (place / lines.max(1), place % lines.max(1));
            let Some(row) = line.checked_sub(usize::from(first)) else {
                continue;
            };
            if row >= usize::from(area.height) {
                continue;
            }
            let room = Rect {
                x: area.x + column as u16 * cells,
                y: area.y + row as u16,
                width: cells.saturating_sub(3),
                height: 1,
            };
            let quiet = value == "NaN" || value.starts_with("0 ") || value == "0";
            let style = if quiet {
                styles.text.dim
            } else {
                styles.text.plain
            };
            text::put(buffer, room, (0, 0), name.as_str(), styles.text.dim);
            let value = Span::styled(value.as_str(), style);
            text::put_right(buffer, room, 0, &value.content, style);
        }
    }
}

/// A client's metric now, and its unit.
fn now(simulation: &Simulation, metric: Metric) -> Option<(Option<f64>, MetricUnit)> {
    match metric {
        Metric::Producer(producer, ProducerFigure::Client(metric)) => {
            Some((simulation.producer_metric(producer, metric), metric.unit()))
        }
        Metric::Rdkafka(producer, figure) => {
            let unit = match figure {
                RdkafkaFigure::Client(metric) => metric.unit(),
                RdkafkaFigure::Broker(_, metric) => metric.unit(),
                RdkafkaFigure::Topic(_, metric) => metric.unit(),
                RdkafkaFigure::Partition(_, metric) => metric.unit(),
            };
            Some((simulation.rdkafka_figure(producer, figure), unit))
        }
        _ => None,
    }
}

/// A metric's value with its unit.
fn figure(value: Option<f64>, unit: MetricUnit) -> String {
    let Some(value) = value.filter(|value| !value.is_nan()) else {
        return "NaN".to_owned();
    };
    match unit {
        MetricUnit::Bytes => number::bytes_f64(value),
        MetricUnit::BytesPerSecond => number::byte_rate(value),
        MetricUnit::Ratio => format!("{value:.4}"),
        _ => {
            let digits = if value.fract() == 0.0 || value >= 10_000.0 {
                0
            } else {
                2
            };
            let whole = number::count(value.trunc().max(0.0) as u64);
            let rest = if digits == 0 {
                String::new()
            } else {
                format!("{:.2}", value.fract())
                    .trim_start_matches('0')
                    .to_owned()
            };
            format!("{whole}{rest} {}", unit.symbol())
                .trim_end()
                .to_owned()
        }
    }
}
