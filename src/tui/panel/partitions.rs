//! Per-partition load: what comes in, what waits, who leads, and whether it is shared evenly.

mod read;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::sim::ids::TopicIndex;
use crate::tui::layout::below;
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::panel::{Panel, list};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::bar::Gauge;
use crate::tui::widget::table::{Column, Table, total_cells};

/// A queue of fewer batches is never flagged.
const QUEUE_BATCHES_MIN: u32 = 8;
/// From this width on, each row has a history.
const HISTORY_WIDTH_MIN: u16 = 72;
/// From this height on, the pane says how many partitions it leaves out.
const UNREAD_HEIGHT_MIN: u16 = 3;
/// How far above the mean a figure must be to be flagged.
pub const FLAG_FACTOR: f64 = 2.0;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `events-3`.
    pub name: String,
    /// Node id of the leader, or a glyph for none.
    pub leader: Option<String>,
    /// In-sync replicas.
    pub isr: usize,
    /// All replicas.
    pub replicas: usize,
    /// Its topic.
    pub topic: TopicIndex,
    /// Records appended per second, where that is sampled.
    pub records: Option<f64>,
    /// Bytes appended per second, likewise.
    pub bytes: Option<f64>,
    /// Batches in all accumulators.
    pub queued_batches: u32,
    /// Bytes in those batches.
    pub queued_bytes: u64,
    /// Records appended so far.
    pub records_total: u64,
    /// Next offset to be written.
    pub end_offset: u64,
    /// First offset that consumers may not read yet.
    pub high_watermark: u64,
    /// Records per second over the window of the charts, one figure a cell; empty where there is
    /// no room for it.
    pub history: Vec<Option<f64>>,
}

/// What the pane shows.
#[derive(Debug)]
pub struct Partitions<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// All partitions in order.
    pub rows: Vec<Row>,
    /// Partitions beyond the rows.
    pub unread: usize,
    /// How even the least even topic is, once it has records.
    pub evenness: Option<Evenness>,
    /// The hottest keys of that topic.
    pub hottest: Vec<HotKey>,
    first: u16,
}

/// How evenly a topic's records are spread over its partitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evenness {
    /// The topic.
    pub topic: TopicIndex,
    /// Records of the fullest partition over the mean.
    pub max_over_mean: f64,
    /// Standard deviation over the mean.
    pub cv: f64,
}

/// A key and how often it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct HotKey {
    /// The key, harmless to show.
    pub key: String,
    /// Its share of all records of its topic.
    pub share: f64,
    /// The partition that it goes to; none where it goes to several.
    pub partition: Option<u32>,
}

/// Means over all rows of a topic, for flags.
#[derive(Clone, Copy, Debug, Default)]
struct Means {
    records: f64,
    bytes: f64,
    queued: f64,
}

/// Rows by topic; partitions of a topic are neighbours.
fn topics(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, next| one.topic == next.topic)
}

/// Cells for the history of each row: what is left beside the columns and the bars.
fn history_cells(width: u16) -> u16 {
    match width {
        HISTORY_WIDTH_MIN..110 => width - HISTORY_WIDTH_MIN + 12,
        _ => 0,
    }
}

impl Panel for Partitions<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        self.title_value()
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.rows.len(), self.visible(area.height))
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Partitions<'_> {
    /// The value in the pane's title.
    pub fn title_value(&self) -> Line<'static> {
        let styles = self.theme.styles;
        let Some(Evenness {
            max_over_mean: max,
            cv,
            ..
        }) = self.evenness
        else {
            return Line::default();
        };
        let style = if max > FLAG_FACTOR {
            styles.tone.warn
        } else {
            styles.frame.value
        };
        Line::from(vec![
            Span::styled("max/mean ", styles.text.dim),
            Span::styled(number::ratio(max), style),
            Span::styled("  Cv ", styles.text.dim),
            Span::styled(number::ratio(cv), styles.frame.value),
        ])
    }

    /// Lines that rows take in `height` lines, without the heading and what stands below.
    pub fn visible(&self, height: u16) -> u16 {
        let below = u16::from(self.shows_keys(height)) + u16::from(self.shows_unread(height));
        height.saturating_sub(1 + below)
    }

    fn shows_unread(&self, height: u16) -> bool {
        self.unread > 0 && height >= UNREAD_HEIGHT_MIN
    }

    fn shows_keys(&self, height: u16) -> bool {
        !self.hottest.is_empty() && height >= 6
    }

    /// The means of every row's topic, row by row.
    fn means(&self) -> Vec<Means> {
        let mut all = Vec::with_capacity(self.rows.len());
        for rows in topics(&self.rows) {
            let count = rows.len().max(1) as f64;
            let mean = |figure: fn(&Row) -> f64| rows.iter().map(figure).sum::<f64>() / count;
            let means = Means {
                records: mean(|row| row.records.unwrap_or(0.0)),
                bytes: mean(|row| row.bytes.unwrap_or(0.0)),
                queued: mean(|row| row.queued_bytes as f64),
            };
            all.extend(rows.iter().map(|_| means));
        }
        all
    }

    /// A figure, flagged where it is above twice the mean.
    fn figure(&self, show: fn(f64) -> String, value: Option<f64>, mean: f64) -> Span<'static> {
        let styles = self.theme.styles;
        let Some(value) = value else {
            return Span::styled(self.theme.glyphs.none, styles.text.dim);
        };
        let text = show(value);
        if value > FLAG_FACTOR * mean && mean > 0.0 {
            Span::styled(
                format!("{}{text}", self.theme.glyphs.alert),
                styles.tone.warn,
            )
        } else if value == 0.0 {
            Span::styled(text, styles.text.dim)
        } else {
            Span::styled(text, styles.text.plain)
        }
    }

    fn cells(&self, row: &Row, means: &Means, columns: usize) -> Vec<Span<'static>> {
        let styles = self.theme.styles;
        let leader = match &row.leader {
            Some(id) => Span::styled(id.clone(), styles.text.plain),
            None => Span::styled("none", styles.tone.bad),
        };
        let isr_style = if row.isr < row.replicas {
            styles.tone.warn
        } else {
            styles.text.dim
        };
        let queued = row.queued_bytes as f64;
        // A few batches are daily business, however few the others have.
        let few = row.queued_batches < QUEUE_BATCHES_MIN;
        let queued_mean = if few { f64::INFINITY } else { means.queued };
        let mut cells = vec![
            Span::styled(row.name.clone(), styles.text.plain),
            leader,
            Span::styled(format!("{}/{}", row.isr, row.replicas), isr_style),
            self.figure(number::short, row.records, means.records),
            self.figure(number::bytes_f64, row.bytes, means.bytes),
            self.figure(number::bytes_f64, Some(queued), queued_mean),
        ];
        if columns > 6 {
            cells.push(Span::styled(
                number::count(row.records_total),
                styles.text.plain,
            ));
            cells.push(Span::styled(number::count(row.end_offset), styles.text.dim));
            cells.push(Span::styled(
                number::count(row.high_watermark),
                styles.text.dim,
            ));
            cells.push(Span::styled(
                row.queued_batches.to_string(),
                styles.text.dim,
            ));
        }
        cells
    }

    /// What the rows, the bars and the evenness do not cover.
    fn unread_words(&self) -> Line<'static> {
        let words = match self.unread {
            1 => "1 more partition is left out".to_owned(),
            unread => format!(
                "{} more partitions are left out",
                number::count(unread as u64)
            ),
        };
        Line::styled(words, self.theme.styles.text.dim)
    }

    fn keys(&self, width: u16) -> Line<'static> {
        let styles = self.theme.styles;
        let mut spans = vec![Span::styled("hottest keys  ", styles.text.dim)];
        for key in &self.hottest {
            let name = text::fit(&key.key, 16, self.theme.glyphs.ellipsis).into_owned();
            let place = match key.partition {
                Some(partition) => partition.to_string(),
                None => "several".to_owned(),
            };
            let (share, arrow) = (number::percent(key.share), self.theme.glyphs.arrow);
            let words = format!(" {share} {arrow}{place}   ");
            let next = vec![
                Span::styled(name, styles.text.plain),
                Span::styled(words, styles.text.dim),
            ];
            let used: usize = spans.iter().chain(&next).map(Span::width).sum();
            if used > usize::from(width) + 3 {
                break;
            }
            spans.extend(next);
        }
        Line::from(spans)
    }
}

/// Columns that fit into a width.
fn columns(width: u16, name: u16) -> Vec<Column> {
    let mut columns = vec![
        Column::words("partition", name),
        Column::numbers("ldr", 4),
        Column::numbers("ISR", 3),
        Column::numbers("records/s", 9),
        Column::numbers("bytes/s", 10),
        Column::numbers("queued", 10),
    ];
    if width >= 110 {
        columns.extend([
            Column::numbers("records", 13),
            Column::numbers("end offset", 13),
            Column::numbers("high watermark", 14),
            Column::numbers("batches", 8),
        ]);
    }
    if total_cells(&columns) > width {
        columns.remove(4);
    }
    columns
}

/// The part of `area` before its last `cells` cells, and those.
fn split(area: Rect, cells: u16) -> (Rect, Rect) {
    let cells = cells.min(area.width);
    let left = area.width - cells;
    let gap = u16::from(cells > 0).min(left);
    (
        Rect {
            width: left - gap,
            ..area
        },
        Rect {
            x: area.x + left,
            width: cells,
            ..area
        },
    )
}

impl Widget for &Partitions<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let longest = self
            .rows
            .iter()
            .map(|row| text::width(&row.name))
            .max()
            .unwrap_or(0);
        let columns = columns(area.width, longest.clamp(9, area.width / 3));
        let means = self.means();
        let visible = usize::from(self.visible(area.height));
        let first = usize::from(self.first.min(self.extent(area).scroll_max()));
        let shown = self.rows.iter().zip(&means).skip(first).take(visible);
        let narrow = columns.len() == 5;
        let rows: Vec<Vec<Span<'_>>> = shown
            .clone()
            .map(|(row, means)| {
                let mut cells = self.cells(row, means, columns.len());
                if narrow {
                    cells.remove(4);
                }
                cells
            })
            .collect();
        let table = Table {
            theme: self.theme,
            columns: &columns,
            rows: &rows,
        };
        (&table).render(
            Rect {
                height: area.height.min(visible as u16 + 1),
                ..area
            },
            buffer,
        );
        let bars = Rect {
            x: area.x + (total_cells(&columns) + 2).min(area.width),
            ..area
        };
        let bars = Rect {
            width: area.right().saturating_sub(bars.x),
            ..bars
        };
        let (bars, history) = split(bars, history_cells(area.width));
        let rates = shown
            .clone()
            .map(|(row, means)| (row.records.unwrap_or(0.0), means.records));
        self.draw_bars(rates, bars, buffer);
        self.draw_histories(shown.map(|(row, _)| row), history, buffer);
        if self.shows_unread(area.height) {
            text::put_line(buffer, area, visible as u16 + 1, &self.unread_words());
        }
        if self.shows_keys(area.height) {
            text::put_line(buffer, area, area.height - 1, &self.keys(area.width));
        }
    }
}

impl Partitions<'_> {
    /// Each row's records per second over the window, all on one scale.
    fn draw_histories<'r>(
        &self,
        rows: impl Iterator<Item = &'r Row>,
        area: Rect,
        buffer: &mut Buffer,
    ) {
        let styles = self.theme.styles;
        if area.width < 8 {
            return;
        }
        let all = self
            .rows
            .iter()
            .flat_map(|row| row.history.iter().flatten());
        let largest = all.copied().fold(1.0_f64, f64::max);
        text::put(
            buffer,
            area,
            (0, 0),
            "records/s, over time",
            styles.text.heading,
        );
        for (y, row) in (area.y + 1..area.bottom()).zip(rows) {
            for (x, value) in (area.x..area.right()).zip(&row.history) {
                let Some(value) = value else { continue };
                let level = (value / largest * 8.0).ceil().clamp(0.0, 8.0) as usize;
                if let Some(glyph) = level.checked_sub(1) {
                    buffer[(x, y)]
                        .set_symbol(self.theme.glyphs.levels[glyph])
                        .set_style(styles.buffer.ready);
                }
            }
        }
    }

    /// Each row's share of its topic; rows come as records per second with the topic's mean.
    fn draw_bars(&self, rows: impl Iterator<Item = (f64, f64)>, area: Rect, buffer: &mut Buffer) {
        let figures = if area.width >= 14 { 6 } else { 0 };
        if area.width < 4 {
            return;
        }
        let styles = self.theme.styles;
        let all = self.rows.iter().map(|row| row.records.unwrap_or(0.0));
        let (total, largest) = (all.clone().sum::<f64>(), all.fold(0.0, f64::max));
        text::put(buffer, area, (0, 0), "share", styles.text.heading);
        for (row, (records, mean)) in (1..area.height).zip(rows) {
            if largest <= 0.0 {
                break;
            }
            let line = Rect {
                height: 1,
                ..below(area, row)
            };
            let style: Style = if records > FLAG_FACTOR * mean {
                styles.tone.warn
            } else {
                styles.buffer.ready
            };
            if figures > 0 {
                let figure = number::percent(records / total);
                text::put(
                    buffer,
                    line,
                    (0, 0),
                    &format!("{figure:>5}"),
                    styles.text.plain,
                );
            }
            let bar = Rect {
                x: line.x + figures,
                width: line.width - figures,
                ..line
            };
            (&Gauge {
                theme: self.theme,
                share: records / largest,
                style,
            })
                .render(bar, buffer);
        }
    }
}
