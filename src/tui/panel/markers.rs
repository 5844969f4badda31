//! Transaction markers: a lane for every partition that transactions came to, and what the
//! coordinator knows of each transactional id.
//!
//! A lane shows the end of the log, the newest on the right: records of one transaction together,
//! by shape (open, committed, aborted), markers as reversed letters. Below it are offsets, with the
//! last stable offset and the high watermark. What does not fit is left out by rank: first the
//! coordinator's log, then the owners, then the offsets; the rest scrolls.

mod lane;
mod owner;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::kafka::transaction::TransactionState;
use crate::sim::ids::PartitionIndex;
use crate::sim::view::{TransactionView, TransactionalClientView};
use crate::tui::model::Extent;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What is said where nobody is transactional.
const NONE: &str = "no producer here is transactional";
/// What would be shown, by lines.
const WOULD_SHOW: &str = "With a transactional.id: a lane per partition with data by producer and \
    epoch, COMMIT and ABORT markers, last stable offset and high watermark; the coordinator's log; \
    the time left to transaction.timeout.ms; fenced producers.";
/// Partitions that are looked at for one frame at most.
const PARTITIONS_MAX: usize = 200;
/// Transactional ids that are looked at for one frame at most.
const IDS_MAX: usize = 100;

/// How much is said of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    /// A line for each id and each lane.
    Lines,
    /// Offsets below the lanes.
    Offsets,
    /// Who has, or had, an id.
    Owners,
    /// What the coordinator wrote.
    Log,
}

/// What the pane shows.
#[derive(Debug)]
pub struct Markers<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// Ids and lanes; none where nobody is transactional.
    pub lines: Vec<Line<'static>>,
    /// Transactions that are open or being ended.
    pub open: usize,
    /// First line shown.
    pub first: u16,
}

impl<'a> Markers<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>, area: Rect) -> Self {
        let transactions = if scene.config().is_transactional() {
            scene.session.simulation().transactions()
        } else {
            Vec::new()
        };
        let is_open = |view: &&TransactionView| {
            let is_ended = view.state.prepared().is_some();
            is_ended || view.state == TransactionState::Ongoing
        };
        Self {
            theme: scene.theme(),
            open: transactions.iter().filter(is_open).count(),
            lines: lines(scene, &transactions, area),
            first: scene.model.scroll[Pane::Markers.index()],
        }
    }

    fn lines(&self, width: u16) -> Vec<Line<'static>> {
        if !self.lines.is_empty() {
            return self.lines.clone();
        }
        let styles = self.theme.styles;
        let says = text::wrap(NONE, width)
            .into_iter()
            .map(|line| (line, styles.text.plain));
        let would = text::wrap(WOULD_SHOW, width)
            .into_iter()
            .map(|line| (line, styles.text.dim));
        says.chain(would)
            .map(|(line, style)| Line::from(Span::styled(line, style)))
            .collect()
    }
}

/// Everything, in as much detail as there is room for.
fn lines(scene: &Scene<'_>, transactions: &[TransactionView], area: Rect) -> Vec<Line<'static>> {
    if !scene.config().is_transactional() {
        return Vec::new();
    }
    let simulation = scene.session.simulation();
    let partitions = simulation
        .partitions()
        .filter(|&index| simulation.has_transactions(index));
    let partitions: Vec<PartitionIndex> = partitions.take(PARTITIONS_MAX).collect();
    let ids = &transactions[..transactions.len().min(IDS_MAX)];
    let clients = simulation.transactional_clients();
    let levels = [Detail::Log, Detail::Owners, Detail::Offsets, Detail::Lines];
    // Where there is not enough room for all, a few lanes still have their offsets.
    let few = partitions.len() * 4 <= usize::from(area.height);
    let least = if few { Detail::Offsets } else { Detail::Lines };
    let mut lines = Vec::new();
    for detail in levels.into_iter().filter(|&detail| detail >= least) {
        lines = in_detail(scene, (ids, &clients, &partitions), area.width, detail);
        if lines.len() <= usize::from(area.height) {
            break;
        }
    }
    lines
}

fn in_detail(
    scene: &Scene<'_>,
    (ids, clients, partitions): (
        &[TransactionView],
        &[TransactionalClientView],
        &[PartitionIndex],
    ),
    width: u16,
    detail: Detail,
) -> Vec<Line<'static>> {
    let mut of_ids = Vec::new();
    for view in ids {
        of_ids.push(owner::head(scene, view, width));
        if detail >= Detail::Owners {
            of_ids.extend(owner::owners(scene, (view, clients), width));
        }
        if detail >= Detail::Log {
            of_ids.extend(owner::log(scene, view, width));
        }
    }
    if of_ids.is_empty() {
        let words = "no transactional id has an owner yet";
        of_ids.push(Line::styled(words, scene.theme().styles.text.dim));
    }
    let of_lanes = lane::lanes(scene, partitions, width, detail);
    // Many ids would hide the lanes.
    if ids.len() > 3 {
        of_lanes.into_iter().chain(of_ids).collect()
    } else {
        of_ids.into_iter().chain(of_lanes).collect()
    }
}

impl Panel for Markers<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        match (self.lines.is_empty(), self.open) {
            (true, _) => Line::from(Span::styled("none", styles.text.dim)),
            (false, 0) => Line::from(Span::styled("none open", styles.text.dim)),
            (false, open) => Line::from(Span::styled(format!("{open} open"), styles.text.plain)),
        }
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.lines(area.width).len(), area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Widget for &Markers<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let lines = self.lines(area.width);
        let first = self.first.min(self.extent(area).scroll_max());
        let ellipsis = self.theme.glyphs.ellipsis;
        for (row, line) in (0..area.height).zip(lines.iter().skip(usize::from(first))) {
            text::put_line_cut(buffer, area, row, line, ellipsis);
        }
    }
}
