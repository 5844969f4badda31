//! Per-partition load: what comes in, what waits, who leads, and whether it is shared evenly.

mod bars;
mod read;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::reading::Spread;
use crate::insight::skew::FLAG_FACTOR;
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::panel::{Panel, list};
use crate::tui::shorten::Shortener;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::table::{Column, Table, total_cells};

/// The place of queued bytes among the cells of a row.
const QUEUED: usize = 5;
/// Cells of queued bytes: with a blank before the unit, and at least.
const QUEUED_CELLS: u16 = 10;
const QUEUED_CELLS_MIN: u16 = 8;
/// Cells of a partition's name at least.
const NAME_CELLS_MIN: u16 = 9;
/// Cells of a hot key's name at most, and at least where it is cut.
const KEY_CELLS_MAX: u16 = 16;
const KEY_CELLS_MIN: u16 = 6;
/// A queue of fewer batches is never flagged.
const QUEUE_BATCHES_MIN: u32 = 8;
/// From this width on, the hottest keys stand beside a cause.
const KEYS_WIDTH_MIN: u16 = 36;
/// From this width on, each row has a history.
const HISTORY_WIDTH_MIN: u16 = 72;
/// From this height on, the pane says why a partition is flagged.
const CAUSE_HEIGHT_MIN: u16 = 7;
/// From this height on, the pane says how many partitions it leaves out.
const UNREAD_HEIGHT_MIN: u16 = 3;

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `events-3`.
    pub name: String,
    /// The leader.
    pub broker: Option<BrokerIndex>,
    /// Its node id.
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
    /// Records that the group furthest behind is behind, where a group reads it.
    pub lag: Option<u64>,
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
    /// Why a partition has far more than the others, where one has.
    pub cause: Option<String>,
    /// How even the least even topic is, once it has records.
    pub spread: Option<Spread>,
    /// The hottest keys of that topic.
    pub hottest: Vec<HotKey>,
    first: u16,
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
        let Some(Spread {
            max_over_mean: max,
            cv,
            ..
        }) = self.spread
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
        let below = [
            self.shows_keys(height),
            self.shows_cause(height),
            self.shows_unread(height),
        ];
        let below = below.into_iter().filter(|shows| *shows).count() as u16;
        height.saturating_sub(1 + below) + u16::from(self.shares_line(height))
    }

    /// Whether a cause and the hottest keys stand on one line, so that one more row fits.
    fn shares_line(&self, height: u16) -> bool {
        let both = self.shows_keys(height) && self.shows_cause(height);
        both && usize::from(height) < self.rows.len() + 3
    }

    fn shows_cause(&self, height: u16) -> bool {
        self.cause.is_some() && height >= CAUSE_HEIGHT_MIN
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
            // Partitions beyond what is sampled count for nothing here, not for zero.
            let mean = |figure: fn(&Row) -> Option<f64>| {
                let sampled = rows.iter().filter_map(figure);
                let (count, sum) =
                    sampled.fold((0_u32, 0.0), |(n, sum), value| (n + 1, sum + value));
                sum / f64::from(count.max(1))
            };
            let means = Means {
                records: mean(|row| row.records),
                bytes: mean(|row| row.bytes),
                queued: mean(|row| Some(row.queued_bytes as f64)),
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

    /// How the topics of all rows are cut, so that they can be told apart.
    fn shortener(&self, cells: u16) -> Shortener {
        let names = || self.rows.iter().map(|row| topic_and_number(&row.name));
        let numbers = names().map(|(_, number)| text::width(number)).max();
        let room = cells.saturating_sub(numbers.unwrap_or(0) + 1);
        Shortener::of(
            names().map(|(topic, _)| topic),
            room,
            self.theme.glyphs.ellipsis,
        )
    }

    fn cells(&self, row: &Row, means: &Means, way: (Shortener, u16)) -> Vec<Span<'static>> {
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
            Span::styled(shown_name(row, way), styles.text.plain),
            leader,
            Span::styled(format!("{}/{}", row.isr, row.replicas), isr_style),
            self.figure(number::short, row.records, means.records),
            self.figure(number::bytes_f64, row.bytes, means.bytes),
            self.figure(number::bytes_f64, Some(queued), queued_mean),
        ];
        let counted = |value, style| Span::styled(number::count(value), style);
        cells.extend([
            self.lag(row.lag),
            counted(row.records_total, styles.text.plain),
            counted(row.end_offset, styles.text.dim),
            counted(row.high_watermark, styles.text.dim),
            Span::styled(row.queued_batches.to_string(), styles.text.dim),
        ]);
        cells
    }

    /// Records behind; nothing where nobody reads.
    fn lag(&self, lag: Option<u64>) -> Span<'static> {
        let styles = self.theme.styles;
        match lag {
            None => Span::styled(self.theme.glyphs.none, styles.text.dim),
            Some(0) => Span::styled("0", styles.text.dim),
            Some(lag) => Span::styled(number::short(lag as f64), styles.text.plain),
        }
    }

    /// Why a partition is flagged.
    fn cause_words(&self) -> Line<'static> {
        let words = self.cause.as_deref().unwrap_or_default();
        let line = format!("{}{words}", self.theme.glyphs.alert);
        Line::from(Span::styled(line, self.theme.styles.tone.warn))
    }

    /// What the rows and the bars do not cover.
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
            let place = match key.partition {
                Some(partition) => partition.to_string(),
                None => "several".to_owned(),
            };
            let (share, arrow) = (number::percent(key.share), self.theme.glyphs.arrow);
            let words = format!(" {share} {arrow}{place}");
            let used: usize = spans.iter().map(Span::width).sum();
            let room = usize::from(width).saturating_sub(used + text::width(&words) as usize);
            // Only the hottest is cut for want of room; others are left out.
            let is_first = spans.len() == 1;
            let cells = KEY_CELLS_MAX.min(text::width(&key.key));
            let cells = if is_first {
                cells.min(room as u16)
            } else {
                cells
            };
            if room < usize::from(cells) || cells < KEY_CELLS_MIN.min(text::width(&key.key)) {
                break;
            }
            let name = text::fit(&key.key, cells, self.theme.glyphs.ellipsis).into_owned();
            spans.extend([
                Span::styled(name, styles.text.plain),
                Span::styled(words, styles.text.dim),
                Span::raw("   "),
            ]);
        }
        Line::from(spans)
    }
}

/// Whether consumers read what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readers {
    None,
    Some,
}

/// Columns that fit into a width, each with the place of its cell.
fn columns(width: u16, name: u16, readers: Readers) -> Vec<(usize, Column)> {
    const BYTES: usize = 4;
    const ISR: usize = 2;
    let mut columns = vec![
        (0, Column::words("partition", name)),
        (1, Column::numbers("ldr", 4)),
        (ISR, Column::numbers("ISR", 3)),
        (3, Column::numbers("records/s", 9)),
        (BYTES, Column::numbers("bytes/s", 10)),
        (QUEUED, Column::numbers("queued", QUEUED_CELLS)),
    ];
    if readers == Readers::Some {
        columns.push((6, Column::numbers("lag", 7)));
    }
    if width >= 110 {
        columns.extend([
            (7, Column::numbers("records", 13)),
            (8, Column::numbers("end offset", 13)),
            (9, Column::numbers("high watermark", 14)),
            (10, Column::numbers("batches", 8)),
        ]);
    }
    let dispensable: &[usize] = match readers {
        Readers::None => &[BYTES],
        Readers::Some => &[BYTES, ISR, QUEUED],
    };
    let total = |columns: &[(usize, Column)]| {
        let all: Vec<Column> = columns.iter().map(|(_, column)| *column).collect();
        total_cells(&all)
    };
    for dispensable in dispensable {
        if total(&columns) > width {
            columns.retain(|(place, _)| place != dispensable);
        }
    }
    let over = total(&columns).saturating_sub(width);
    if let Some((_, queued)) = columns.iter_mut().find(|(place, _)| *place == QUEUED) {
        queued.cells = queued.cells.saturating_sub(over).max(QUEUED_CELLS_MIN);
    }
    // Figures are never cut for the sake of a name.
    let over = total(&columns).saturating_sub(width);
    if let Some((_, name)) = columns.first_mut() {
        name.cells = name.cells.saturating_sub(over).max(NAME_CELLS_MIN);
    }
    columns
}

/// `events-3`; where there is little room the topic is cut and the number stays.
fn shown_name(row: &Row, (way, cells): (Shortener, u16)) -> String {
    if text::width(&row.name) <= cells {
        return row.name.clone();
    }
    let (topic, number) = topic_and_number(&row.name);
    let topic = way.fit(topic, cells.saturating_sub(text::width(number) + 1));
    format!("{topic}-{number}")
}

/// `events` and `3` of `events-3`.
fn topic_and_number(name: &str) -> (&str, &str) {
    name.rsplit_once('-').unwrap_or((name, ""))
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
        let readers = if self.rows.iter().any(|row| row.lag.is_some()) {
            Readers::Some
        } else {
            Readers::None
        };
        // A terminal may be narrower than a partition's name.
        let name = longest
            .max(NAME_CELLS_MIN)
            .min((area.width / 3).max(NAME_CELLS_MIN));
        let chosen = columns(area.width, name, readers);
        let columns: Vec<Column> = chosen.iter().map(|(_, column)| *column).collect();
        let means = self.means();
        let visible = usize::from(self.visible(area.height));
        let first = usize::from(self.first.min(self.extent(area).scroll_max()));
        let shown = self.rows.iter().zip(&means).skip(first).take(visible);
        let rows = self.table_rows(shown.clone(), &chosen);
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
        self.draw_bars(first..first + visible, bars, buffer);
        self.draw_histories(shown.map(|(row, _)| row), history, buffer);
        self.draw_notes(area, buffer);
    }
}

impl Partitions<'_> {
    /// The rows of the table, in these columns.
    fn table_rows<'r>(
        &self,
        rows: impl Iterator<Item = (&'r Row, &'r Means)>,
        columns: &[(usize, Column)],
    ) -> Vec<Vec<Span<'static>>> {
        let cells_of = |at: usize| {
            let column = columns.iter().find(|(place, _)| *place == at);
            column.map_or(0, |(_, column)| column.cells)
        };
        let room = usize::from(cells_of(QUEUED));
        let way = (self.shortener(cells_of(0)), cells_of(0));
        rows.map(|(row, means)| {
            let mut cells = self.cells(row, means, way);
            if let Some(queued) = cells.get_mut(QUEUED)
                && room < queued.width()
            {
                queued.content = queued.content.replace(' ', "").into();
            }
            let chosen = columns.iter().filter_map(|(place, _)| cells.get(*place));
            chosen.cloned().collect()
        })
        .collect()
    }

    /// What stands below the rows: what is left out, a cause, the hottest keys.
    fn draw_notes(&self, area: Rect, buffer: &mut Buffer) {
        let height = area.height;
        if self.shows_unread(height) {
            text::put_line(buffer, area, self.visible(height) + 1, &self.unread_words());
        }
        if self.shares_line(height) {
            let mut line = self.cause_words();
            let used = u16::try_from(line.width()).unwrap_or(u16::MAX);
            let room = area.width.saturating_sub(used.saturating_add(3));
            if KEYS_WIDTH_MIN <= room {
                line.push_span("   ");
                line.extend(self.keys(room));
            }
            text::put_line(buffer, area, height - 1, &line);
            return;
        }
        if self.shows_cause(height) {
            let below = 1 + u16::from(self.shows_keys(height));
            text::put_line(buffer, area, height - below, &self.cause_words());
        }
        if self.shows_keys(height) {
            text::put_line(buffer, area, height - 1, &self.keys(area.width));
        }
    }
}
