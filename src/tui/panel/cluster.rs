//! Brokers, and how each producer is connected to them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::latency::{Percentiles, Stage};
use crate::insight::metric::{BrokerFigure, Metric};
use crate::insight::names;
use crate::sim::fact::{BrokerState, LinkState, Node};
use crate::sim::ids::{BrokerIndex, ProducerIndex};
use crate::sim::time::SimSpan;
use crate::sim::view::{BrokerRole, ConnectionState, ProducerView};
use crate::tui::layout::below;
use crate::tui::model::Extent;
use crate::tui::number;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::shorten::Shortener;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widget::table::{Column, Table, total_cells};

/// A disk that is further behind than this is in trouble.
const BACKLOG_BAD: SimSpan = SimSpan::from_seconds(1);
/// A producer's name takes at most this many cells.
const NAME_CELLS: u16 = 12;
/// A broker's id with its rack takes at most this many cells.
const BROKER_CELLS: usize = 12;
/// A link to one broker takes this many cells.
const LINK_CELLS: u16 = 13;

/// One broker.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokerRow {
    /// Kafka's node id.
    pub id: String,
    /// Where it stands.
    pub rack: Option<String>,
    /// Process and registration.
    pub state: BrokerState,
    /// Partitions that it leads.
    pub leaders: u32,
    /// Requests that are not answered.
    pub requests: u32,
    /// How far its disk is behind.
    pub backlog: SimSpan,
    /// Bytes appended per second.
    pub appended: Option<f64>,
}

/// One producer's way to one broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkCell {
    /// The link.
    pub link: LinkState,
    /// The connection on it, if there is one.
    pub connection: Option<ConnectionState>,
    /// Requests without response.
    pub in_flight: u32,
    /// Whether a broker's throttle time keeps the client from sending.
    pub is_throttled: bool,
}

/// Who is the active controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    /// A machine that is no broker.
    Apart,
    /// This broker, by its id.
    By(String),
    /// Nobody before the next election.
    Vacant,
}

/// What the pane shows.
#[derive(Debug)]
pub struct Cluster<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// Brokers in order.
    pub brokers: Vec<BrokerRow>,
    /// Producers with their ways to each broker.
    pub producers: Vec<(String, Vec<LinkCell>)>,
    /// Latencies of the chosen producer's batches by stage, once there are any.
    pub latencies: Vec<(Stage, Percentiles)>,
    /// Bytes that producers sent to brokers of other racks, where both have one.
    pub cross_rack_bytes: Option<u64>,
    /// Who is the active controller.
    pub control: Control,
    first: u16,
}

impl<'a> Cluster<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let config = scene.config();
        let indices = (0..config.brokers.len()).map(|index| BrokerIndex(index as u16));
        let brokers = indices
            .clone()
            .map(|broker| read_broker(scene, broker))
            .collect();
        let views =
            (0..config.producers.len()).map(|index| scene.view(ProducerIndex(index as u16)));
        let producers = views
            .map(|view| {
                let cells = indices
                    .clone()
                    .map(|broker| read_link(scene, &view, broker))
                    .collect();
                (names::producer(config, view.index).to_owned(), cells)
            })
            .collect();
        let first = scene.model.scroll[Pane::Cluster.index()];
        let latency = scene.session.insight().latency();
        let of = |stage: Stage| Some((stage, latency.percentiles(scene.producer()?, stage)?));
        let latencies = Stage::ALL.into_iter().filter_map(of).collect();
        Self {
            theme: scene.theme(),
            brokers,
            producers,
            latencies,
            cross_rack_bytes: cross_rack_bytes(scene),
            control: control(scene),
            first,
        }
    }

    fn state(&self, state: BrokerState) -> (&'static str, Style) {
        let tone = &self.theme.styles.tone;
        match state {
            BrokerState::Running => ("running", tone.good),
            BrokerState::Paused => ("paused", tone.warn),
            BrokerState::ShuttingDown => ("stopping", tone.warn),
            BrokerState::Dead => ("dead", tone.bad),
            BrokerState::Fenced => ("fenced", tone.bad),
            BrokerState::Starting => ("starting", tone.warn),
        }
    }

    fn broker_cells(&self, row: &BrokerRow) -> Vec<Span<'static>> {
        let styles = self.theme.styles;
        let (word, tone) = self.state(row.state);
        let backlog = match row.backlog {
            SimSpan::ZERO => styles.text.dim,
            behind if behind > BACKLOG_BAD => styles.tone.warn,
            _ => styles.text.plain,
        };
        let appended = row
            .appended
            .map_or(self.theme.glyphs.none.to_owned(), number::byte_rate);
        let id = match &row.rack {
            Some(rack) => format!("{} {}", row.id, text::visible(rack)),
            None => row.id.clone(),
        };
        vec![
            Span::styled(id, styles.text.strong),
            Span::styled(word, tone),
            Span::styled(row.leaders.to_string(), styles.text.plain),
            Span::styled(row.requests.to_string(), styles.text.plain),
            Span::styled(number::span(row.backlog), backlog),
            Span::styled(appended, styles.text.plain),
        ]
    }

    fn link(&self, cell: LinkCell) -> [Span<'static>; 2] {
        let (glyphs, styles) = (self.theme.glyphs, self.theme.styles);
        let (glyph, word, tone) = match cell.link {
            LinkState::Up => (glyphs.link_up, "", styles.tone.good),
            LinkState::Cut => (glyphs.link_cut, "cut", styles.tone.bad),
            LinkState::Refusing => (glyphs.link_refusing, "refuses", styles.tone.bad),
            LinkState::Degraded => (glyphs.link_degraded, "slow", styles.tone.warn),
        };
        let state = match cell.connection {
            None => "idle".to_owned(),
            Some(ConnectionState::Connecting) => "opens".to_owned(),
            Some(ConnectionState::CheckingApiVersions) => "greets".to_owned(),
            Some(ConnectionState::Ready) if cell.is_throttled => {
                format!("quota {}", cell.in_flight)
            }
            Some(ConnectionState::Ready) => format!("ready {}", cell.in_flight),
            Some(ConnectionState::Disconnected) => "down".to_owned(),
        };
        let words = if word.is_empty() {
            state
        } else {
            word.to_owned()
        };
        let style = match cell.connection {
            _ if !word.is_empty() => tone,
            Some(ConnectionState::Ready) if cell.is_throttled => styles.tone.warn,
            Some(ConnectionState::Ready) => styles.text.plain,
            _ => styles.text.dim,
        };
        [
            Span::styled(glyph, tone),
            Span::styled(format!(" {words}"), style),
        ]
    }

    /// One producer: its name, and its way to each broker.
    fn producer_line(
        &self,
        name: &str,
        cells: &[LinkCell],
        (way, name_cells, width): (Shortener, u16, u16),
    ) -> Line<'static> {
        let styles = self.theme.styles;
        let name = way.fit(name, name_cells).into_owned();
        let pad = usize::from(name_cells.saturating_sub(text::width(&name)));
        let mut spans = vec![Span::styled(
            format!("{name}{} ", " ".repeat(pad)),
            styles.text.plain,
        )];
        let places = usize::from(width.saturating_sub(name_cells + 1) / LINK_CELLS).max(1);
        for (broker, cell) in self.brokers.iter().zip(cells).take(places) {
            let link = self.link(*cell);
            let used: usize = link.iter().map(Span::width).sum::<usize>() + broker.id.len() + 1;
            let pad = usize::from(LINK_CELLS).saturating_sub(used);
            let [line, words] = link;
            spans.push(line);
            spans.push(Span::styled(format!(" {}", broker.id), styles.text.strong));
            spans.push(words);
            spans.push(Span::raw(" ".repeat(pad)));
        }
        if cells.len() > places {
            let rest = format!("+{}", cells.len() - places);
            spans.push(Span::styled(rest, styles.text.dim));
        }
        Line::from(spans)
    }
}

fn read_broker(scene: &Scene<'_>, broker: BrokerIndex) -> BrokerRow {
    let view = scene.session.simulation().broker(broker);
    BrokerRow {
        id: names::broker(scene.config(), broker),
        rack: scene.config().brokers[broker.index()].rack.clone(),
        state: view.state,
        leaders: view.leaders,
        requests: view.requests,
        backlog: view.disk_backlog,
        appended: scene.last(Metric::Broker(broker, BrokerFigure::AppendRate)),
    }
}

fn control(scene: &Scene<'_>) -> Control {
    let config = scene.config();
    if config.controllers.is_empty() {
        return Control::Apart;
    }
    let simulation = scene.session.simulation();
    let controls =
        |&broker: &BrokerIndex| simulation.broker(broker).role == BrokerRole::ActiveController;
    let active = config.controllers.iter().copied().find(controls);
    active.map_or(Control::Vacant, |broker| {
        Control::By(names::broker(config, broker))
    })
}

fn cross_rack_bytes(scene: &Scene<'_>) -> Option<u64> {
    let config = scene.config();
    let are_known = config.brokers.iter().any(|broker| broker.rack.is_some())
        && config
            .producers
            .iter()
            .any(|producer| producer.rack.is_some());
    let producers = scene.session.insight().producers().iter();
    are_known.then(|| producers.map(|view| view.totals.cross_rack_bytes).sum())
}

fn read_link(scene: &Scene<'_>, view: &ProducerView, broker: BrokerIndex) -> LinkCell {
    use crate::sim::config::Peer;
    let simulation = scene.session.simulation();
    let link = simulation.link_state(Peer::Producer(view.index), Peer::Broker(broker));
    let connection = view
        .connections
        .iter()
        .find(|one| one.node == Node::Broker(broker));
    // What a network does is not written on it: in a blind rehearsal only connections show.
    let link = if scene.is_secret() {
        LinkState::Up
    } else {
        connection.map_or(link, |connection| connection.link)
    };
    LinkCell {
        link,
        connection: connection.map(|connection| connection.state),
        in_flight: connection.map_or(0, |connection| connection.in_flight),
        is_throttled: connection.is_some_and(|connection| connection.is_throttled),
    }
}

impl Panel for Cluster<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        let running = self
            .brokers
            .iter()
            .filter(|broker| broker.state == BrokerState::Running)
            .count();
        let cut = self
            .producers
            .iter()
            .flat_map(|(_, cells)| cells)
            .filter(|cell| matches!(cell.link, LinkState::Cut | LinkState::Refusing))
            .count();
        let all = self.brokers.len();
        let style = if running < all {
            styles.tone.bad
        } else {
            styles.text.dim
        };
        let mut spans = vec![Span::styled(format!("{running} of {all} run"), style)];
        if cut > 0 {
            let words = if cut == 1 {
                ", 1 link down".to_owned()
            } else {
                format!(", {cut} links down")
            };
            spans.push(Span::styled(words, styles.tone.bad));
        }
        match &self.control {
            Control::Apart => {}
            Control::By(id) => {
                spans.push(Span::styled(format!(", {id} controls"), styles.text.dim));
            }
            Control::Vacant => spans.push(Span::styled(", nobody controls", styles.tone.bad)),
        }
        if let Some(bytes) = self.cross_rack_bytes {
            let words = format!(", {} cross-rack", number::bytes(bytes));
            spans.push(Span::styled(words, styles.text.dim));
        }
        Line::from(spans)
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.brokers.len() + 1 + self.producers.len(), area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

/// Columns of the brokers' table that fit into a width, with so many cells for a broker's name; the
/// last one goes first.
fn broker_columns(width: u16, name_cells: u16) -> Vec<Column> {
    let mut columns = vec![
        Column::words("broker", name_cells),
        Column::words("state", 8),
        Column::numbers("leaders", 7),
        Column::numbers("requests", 8),
        Column::numbers("disk lag", 9),
        Column::numbers("disk takes", 10),
    ];
    if width < total_cells(&columns) {
        columns.truncate(5);
    }
    columns
}

impl Widget for &Cluster<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let first = usize::from(self.first.min(self.extent(area).scroll_max()));
        let rows: Vec<Vec<Span<'_>>> = self
            .brokers
            .iter()
            .skip(first)
            .take(usize::from(area.height))
            .map(|row| self.broker_cells(row))
            .collect();
        let longest = rows.iter().map(|cells| cells[0].width()).max();
        let name_cells = longest.map_or(6, |cells| cells.clamp(6, BROKER_CELLS) as u16);
        (&Table {
            theme: self.theme,
            columns: &broker_columns(area.width, name_cells),
            rows: &rows,
        })
            .render(area, buffer);
        let row = rows.len() + 1;
        let skipped = first.saturating_sub(self.brokers.len());
        let names = || self.producers.iter().map(|(name, _)| name.as_str());
        let longest = names().map(text::width).max();
        let name_cells = longest.unwrap_or(0).clamp(6, NAME_CELLS);
        let way = Shortener::of(names(), name_cells, self.theme.glyphs.ellipsis);
        for (row, (name, cells)) in (row..).zip(self.producers.iter().skip(skipped)) {
            if row >= usize::from(area.height) {
                break;
            }
            let line =
                self.producer_line(&text::visible(name), cells, (way, name_cells, area.width));
            text::put_line(buffer, area, row as u16, &line);
        }
        let used = self.extent(area).lines.saturating_add(1);
        let rest = below(area, used);
        if rest.height > 2 {
            self.draw_latencies(rest, buffer);
        }
    }
}

impl Cluster<'_> {
    /// Where batches spend their time, in whatever room is left.
    fn draw_latencies(&self, area: Rect, buffer: &mut Buffer) {
        const COLUMNS: [Column; 5] = [
            Column::words("batch latency", 13),
            Column::numbers("p50", 8),
            Column::numbers("p95", 8),
            Column::numbers("p99", 8),
            Column::numbers("max", 8),
        ];
        let styles = self.theme.styles;
        let rows: Vec<Vec<Span<'_>>> = self
            .latencies
            .iter()
            .map(|(stage, latency)| {
                let style = match stage {
                    Stage::Total => styles.text.strong,
                    _ => styles.text.plain,
                };
                let figure = |span| Span::styled(number::span(span), style);
                let name = Span::styled(stage.name(), styles.text.dim);
                let Percentiles {
                    p50, p95, p99, max, ..
                } = *latency;
                vec![name, figure(p50), figure(p95), figure(p99), figure(max)]
            })
            .collect();
        if !rows.is_empty() {
            (&Table {
                theme: self.theme,
                columns: &COLUMNS,
                rows: &rows,
            })
                .render(area, buffer);
        }
    }
}
