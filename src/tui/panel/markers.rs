//! Transaction markers. This version knows no transactional producer, and says so.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::tui::model::Extent;
use crate::tui::panel::{Panel, list};
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What would be shown, by lines.
const WOULD_SHOW: &str = "With a transactional.id: a lane per partition with data by producer and \
    epoch, COMMIT and ABORT markers, last stable offset and high watermark; the coordinator's log; \
    the time left to transaction.timeout.ms; fenced producers.";

/// What the pane shows.
#[derive(Debug)]
pub struct Markers<'a> {
    /// Looks.
    pub theme: &'a Theme,
    /// First line shown.
    pub first: u16,
}

impl<'a> Markers<'a> {
    /// The pane now.
    pub fn read(scene: &'a Scene<'a>) -> Self {
        let first = scene.model.scroll[crate::tui::pane::Pane::Markers.index()];
        Self {
            theme: scene.theme(),
            first,
        }
    }

    fn lines(&self, width: u16) -> Vec<Line<'static>> {
        let styles = self.theme.styles;
        let fact = "no producer here is transactional";
        let says = text::wrap(fact, width)
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

impl Panel for Markers<'_> {
    fn value(&self, _room: u16) -> Line<'static> {
        Line::from(Span::styled("none", self.theme.styles.text.dim))
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
        for (row, line) in lines.iter().skip(usize::from(first)).enumerate() {
            text::put_line(buffer, area, row.min(usize::from(u16::MAX)) as u16, line);
        }
    }
}
