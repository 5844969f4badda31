//! What happened, the newest at the bottom.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::insight::event_log::Entry;
use crate::insight::kind::{self, Severity};
use crate::insight::sentence::sentence;
use crate::sim::fact::Fact;
use crate::tui::model::Extent;
use crate::tui::pane::Pane;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What the pane shows.
#[derive(Debug)]
pub struct Events<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// Entries that the filter lets through.
    pub matching: usize,
    /// Facts so far.
    pub seen: u64,
    /// The filter; empty shows everything.
    pub filter: String,
    lines: Vec<Line<'static>>,
}

impl<'a> Events<'a> {
    /// The pane now: only the entries that fit are put into words.
    pub fn read(scene: &'a Scene<'a>, area: Rect) -> Self {
        let theme = scene.theme();
        let log = scene.session.insight().log();
        let filter = scene.model.filter.text().to_lowercase();
        let kinds = scene.is_expanded() || area.width >= 90;
        let words = |entry: &Entry| {
            let said = sentence(&entry.first.fact, scene.config());
            (
                kind::kind_name(&entry.first.fact),
                text::visible(&said).into_owned(),
            )
        };
        let is_secret = scene.is_secret();
        let passes = |entry: &&Entry| {
            if is_secret && is_telling(scene, entry) {
                return false;
            }
            filter.is_empty() || {
                let (kind, said) = words(entry);
                kind.contains(&filter) || said.to_lowercase().contains(&filter)
            }
        };
        let matching = if filter.is_empty() && !is_secret {
            log.entries().len()
        } else {
            log.entries().filter(passes).count()
        };
        let up = scene
            .model
            .scroll_of(Pane::Events, list(matching, area.height));
        let mut lines: Vec<Line<'static>> = log
            .entries()
            .rev()
            .filter(passes)
            .skip(usize::from(up))
            .take(usize::from(area.height))
            .map(|entry| {
                let (kind, said) = words(entry);
                line(theme, entry, if kinds { kind } else { "" }, &said)
            })
            .collect();
        lines.reverse();
        let filter = scene.model.filter.text();
        Self {
            theme,
            matching,
            seen: log.seen(),
            filter,
            lines,
        }
    }
}

/// Whether an entry is a fault of the timeline itself, which nobody sees outside of a simulation.
fn is_telling(scene: &Scene<'_>, entry: &Entry) -> bool {
    match &entry.first.fact {
        Fact::LinkChanged { .. } => true,
        Fact::CommandApplied(_) | Fact::CommandRefused { .. } => {
            let mut journal = scene.session.journal().iter();
            !journal.any(|given| given.at == entry.first.at)
        }
        _ => false,
    }
}

fn style_of(theme: &Theme, severity: Severity) -> (&'static str, Style) {
    let styles = theme.styles;
    match severity {
        Severity::Error => (theme.glyphs.failed, styles.tone.bad),
        Severity::Warning => (theme.glyphs.alert, styles.tone.warn),
        Severity::Notice => (theme.glyphs.selected, styles.text.accent),
        Severity::Info => (theme.glyphs.dot, styles.text.dim),
    }
}

fn line(theme: &Theme, entry: &Entry, kind: &str, said: &str) -> Line<'static> {
    let styles = theme.styles;
    let severity = kind::severity(&entry.first.fact);
    let (mark, tone) = style_of(theme, severity);
    let plain = if severity == Severity::Info {
        styles.text.dim
    } else {
        styles.text.plain
    };
    let mut spans = vec![
        Span::styled(
            format!("{:>9} ", entry.first.at.to_string()),
            styles.text.dim,
        ),
        Span::styled(format!("{mark} "), tone),
    ];
    if !kind.is_empty() {
        spans.push(Span::styled(format!("{kind:<21} "), styles.text.dim));
    }
    if entry.count > 1 {
        let times = format!("{}{} ", theme.glyphs.times, entry.count);
        spans.push(Span::styled(times, styles.text.strong));
    }
    spans.push(Span::styled(said.to_owned(), plain));
    Line::from(spans)
}

impl Panel for Events<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        let styles = self.theme.styles;
        if self.filter.is_empty() {
            return Line::from(Span::styled(self.seen.to_string(), styles.text.dim));
        }
        Line::from(vec![
            Span::styled(
                format!("/{} ", text::visible(&self.filter)),
                styles.text.accent,
            ),
            Span::styled(format!("{} match", self.matching), styles.text.dim),
        ])
    }

    fn extent(&self, area: Rect) -> Extent {
        list(self.matching, area.height)
    }

    fn draw(&self, area: Rect, buffer: &mut Buffer) {
        self.render(area, buffer);
    }
}

impl Widget for &Events<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        if self.lines.is_empty() {
            let words = if self.filter.is_empty() {
                "nothing yet"
            } else {
                "no event contains this"
            };
            text::put(buffer, area, (0, 0), words, self.theme.styles.text.dim);
        }
        for (row, line) in self.lines.iter().take(usize::from(area.height)).enumerate() {
            let ellipsis = self.theme.glyphs.ellipsis;
            text::put_line_cut(buffer, area, row as u16, line, ellipsis);
        }
    }
}
