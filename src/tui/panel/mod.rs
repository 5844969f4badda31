//! One file per pane. A pane first reads what it shows into plain values, then draws them.

pub mod card;
pub mod cluster;
mod consumers;
pub mod difference;
pub mod events;
pub mod expectations;
pub mod fill;
pub mod footer;
pub mod header;
pub mod help;
pub mod ledger;
pub mod markers;
pub mod metrics;
pub mod partitions;
pub mod playbook;
pub mod queue;
pub mod room;
pub mod sheet;
pub mod wait;
pub mod warnings;
pub mod why;

use std::fmt::Debug;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::tui::model::Extent;
use crate::tui::pane::Pane;
use crate::tui::scene::{Content, Scene};

/// A pane with everything it shows.
pub trait Panel: Debug {
    /// The current value, for the pane's title, where this many cells are free.
    fn value(&self, room: u16) -> Line<'static>;

    /// How much there is, and how much of it fits.
    fn extent(&self, area: Rect) -> Extent;

    /// Draws into the inside of the pane.
    fn draw(&self, area: Rect, buffer: &mut Buffer);
}

/// A pane as it is now, for this inside.
pub fn read<'a>(scene: &'a Scene<'a>, pane: Pane, area: Rect) -> Box<dyn Panel + 'a> {
    let pane = match scene.content(pane) {
        Content::Queue(queue) => return Box::new(queue::Queue::read(scene, queue, area)),
        Content::Room(queue) => return Box::new(room::Room::read(scene, queue, area)),
        Content::Consumers => return Box::new(consumers::Consumers::read(scene)),
        Content::Playbook => return Box::new(playbook::Playbook::read(scene, area)),
        Content::Usual(pane) => pane,
    };
    match pane {
        Pane::Fill => Box::new(fill::Fill::read(scene, area)),
        Pane::Wait => Box::new(wait::Wait::read(scene, area)),
        Pane::Partitions => Box::new(partitions::Partitions::read(scene, area)),
        Pane::Markers => Box::new(markers::Markers::read(scene, area)),
        Pane::Cluster => Box::new(cluster::Cluster::read(scene)),
        Pane::Warnings => Box::new(warnings::Warnings::read(scene, area)),
        Pane::Events => Box::new(events::Events::read(scene, area)),
        Pane::Expectations => Box::new(expectations::Expectations::read(scene)),
        Pane::Ledger => Box::new(ledger::Ledger::read(scene)),
    }
}

/// The extent of a pane that is as large as its place.
pub(crate) const fn whole(area: Rect) -> Extent {
    Extent {
        lines: area.height,
        visible: area.height,
    }
}

/// The extent of a list of so many lines.
pub(crate) fn list(lines: usize, visible: u16) -> Extent {
    Extent {
        lines: u16::try_from(lines).unwrap_or(u16::MAX),
        visible,
    }
}
