//! Where things stand, for every size of terminal. Saturating arithmetic throughout: a rectangle
//! may come out empty, never wrong.
//!
//! ```text
//! 80×24                     120×36                       200×60
//! header                    header                       header
//! ┌ fill ─────┬ wait ────┐  ┌ fill ───────┬ wait ─────┐  ┌ fill ───┬ wait ────┬ warnings ┐
//! │           │          │  │             │           │  │         │          ├ events   ┤
//! ├ load ─────┼ markers ─┤  ├ load ───────┼ cluster ──┤  ├ load ───┼ cluster ─┤          │
//! │           ├ 5…9 ─────┤  │             ├ warnings ─┤  │         ├ markers ─┼ expect. ─┤
//! │           │ (shared) │  │             ├ events ───┤  │         │          ├ ledger   ┤
//! └───────────┴──────────┘  ├ markers ────┼ expect. ──┤  └─────────┴──────────┴──────────┘
//! footer                    ├ ledger ─────┴───────────┤  footer
//!                           footer
//! ```

use ratatui::layout::Rect;

use crate::tui::pane::Pane;

/// The smallest width that the dashboard is made for.
pub const WIDTH_MIN: u16 = 80;
/// The smallest height that the dashboard is made for.
pub const HEIGHT_MIN: u16 = 24;
/// From this width on there are three columns.
const WIDTH_WIDE: u16 = 160;
/// From this size on every pane has its own place in two columns.
const WIDTH_FULL: u16 = 100;
const HEIGHT_FULL: u16 = 34;
/// Lines above the panes.
const HEADER_LINES: u16 = 2;

/// What a run would like to show; it decides who gets the lines that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// Partitions.
    pub partitions: u16,
    /// Brokers and producers together.
    pub machines: u16,
    /// Consumer groups and their members together.
    pub consumers: u16,
    /// Lines for transactional ids and lanes; 0 where nobody is transactional.
    pub lanes: u16,
    /// Expectations.
    pub expectations: u16,
    /// Lines of a rehearsal's playbook, which then stands in the place of expectations; else 0.
    pub playbook: u16,
}

/// One place on the dashboard: a pane, or several that share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its outline; neighbours share their lines.
    pub outline: Rect,
    /// The panes that can show in it.
    pub panes: &'static [Pane],
}

/// The dashboard for one size of terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dashboard {
    /// Scenario, time, speed, timeline.
    pub header: Rect,
    /// All between header and footer.
    pub body: Rect,
    /// Places for panes.
    pub slots: Vec<Slot>,
    /// Keys, notices, the prompt.
    pub footer: Rect,
}

/// Lines of the table of latencies, the blank before it included.
pub const LATENCY_LINES: u16 = 8;
/// Lines of the ledger with one item on each.
pub const LEDGER_LINES: u16 = 12;

/// Lines that consumer groups and members take from the partitions at most.
const CONSUMER_LINES_MAX: u16 = 6;
/// The same on a small screen.
const CONSUMER_LINES_COMPACT_MAX: u16 = 4;

/// The same, of transactional ids and lanes.
const LANE_LINES_MAX: u16 = 9;
const LANE_LINES_COMPACT_MAX: u16 = 6;

/// Panes that share one place on a small screen.
const SHARED: &[Pane] = &[
    Pane::Cluster,
    Pane::Warnings,
    Pane::Events,
    Pane::Expectations,
    Pane::Ledger,
];

/// Whether the terminal is large enough for the dashboard.
pub const fn is_large_enough(area: Rect) -> bool {
    area.width >= WIDTH_MIN && area.height >= HEIGHT_MIN
}

/// The dashboard for a terminal of this size and a run that has so much to show.
pub fn dashboard(area: Rect, wants: Wants) -> Dashboard {
    let header = Rect {
        height: HEADER_LINES.min(area.height),
        ..area
    };
    let footer_y = area.bottom().saturating_sub(1).max(header.bottom());
    let footer = Rect {
        y: footer_y,
        height: area.bottom().saturating_sub(footer_y),
        ..area
    };
    let body = Rect {
        y: header.bottom(),
        height: footer_y.saturating_sub(header.bottom()),
        ..area
    };
    Dashboard {
        header,
        body,
        slots: slots(body, wants),
        footer,
    }
}

/// Places for panes in a body of this size.
pub fn slots(body: Rect, wants: Wants) -> Vec<Slot> {
    if body.width >= WIDTH_WIDE {
        wide(body, wants)
    } else if body.width >= WIDTH_FULL && body.height >= HEIGHT_FULL - HEADER_LINES - 1 {
        full(body, wants)
    } else {
        compact(body, wants)
    }
}

/// Two columns and one shared place.
fn compact(body: Rect, wants: Wants) -> Vec<Slot> {
    let [left, right] = columns(body, 52);
    let upper = share(body.height, 48);
    let [fill, load] = rows(left, upper);
    let [wait, rest] = rows(right, upper);
    let markers = marker_lines(wants, (CONSUMER_LINES_COMPACT_MAX, LANE_LINES_COMPACT_MAX));
    let [markers, shared] = rows(rest, markers);
    vec![
        one(fill, &[Pane::Fill]),
        one(wait, &[Pane::Wait]),
        one(load, &[Pane::Partitions]),
        one(markers, &[Pane::Markers]),
        one(shared, SHARED),
    ]
}

/// Lines of a pane of `content` lines, its outline included.
const fn outlined(content: u16) -> u16 {
    content.saturating_add(2)
}

/// Lines that the load pane would like: a heading, a row each, the hottest keys. A cause takes
/// their line where there is none to spare, so that nothing moves when it shows.
const fn load_lines(wants: Wants) -> u16 {
    outlined(wants.partitions.saturating_add(2))
}

/// Lines that the markers' pane would like, for lanes or, where nobody is transactional, for
/// consumers: so many at most.
fn marker_lines(wants: Wants, (consumers_max, lanes_max): (u16, u16)) -> u16 {
    outlined(match wants.lanes {
        0 => wants.consumers.clamp(2, consumers_max),
        lanes => lanes.clamp(2, lanes_max),
    })
}

/// Two columns and the ledger below them.
fn full(body: Rect, wants: Wants) -> Vec<Slot> {
    let [main, ledger] = rows(body, body.height.saturating_sub(2));
    let [left, right] = columns(main, 54);
    // What partitions do not need goes to the charts.
    let spare = (main.height + 2).saturating_sub(load_lines(wants).saturating_add(5));
    let upper = spare.clamp(12, share(main.height, 46).max(12));
    let [fill, below] = rows(left, upper);
    let markers = marker_lines(wants, (CONSUMER_LINES_MAX, LANE_LINES_MAX));
    let load = load_lines(wants).min(below.height.saturating_sub(markers));
    let [load, markers] = rows(below, load);
    let [wait, rest] = rows(right, upper);
    let machines = outlined(wants.machines.saturating_add(1)).min(share(rest.height, 40));
    let [cluster, rest] = rows(rest, machines);
    // A person who rehearses follows the playbook; what kdrill would say is hidden.
    let (warned, told) = match wants.playbook {
        0 => (36, 50),
        _ => (24, 34),
    };
    let [warnings, rest] = rows(rest, share(rest.height, warned));
    let events = (u32::from(rest.height) * told).div_ceil(100) as u16;
    let [events, expectations] = rows(rest, events);
    vec![
        one(fill, &[Pane::Fill]),
        one(wait, &[Pane::Wait]),
        one(load, &[Pane::Partitions]),
        one(markers, &[Pane::Markers]),
        one(cluster, &[Pane::Cluster]),
        one(warnings, &[Pane::Warnings]),
        one(events, &[Pane::Events]),
        one(expectations, &[Pane::Expectations]),
        one(ledger, &[Pane::Ledger]),
    ]
}

/// Three columns.
fn wide(body: Rect, wants: Wants) -> Vec<Slot> {
    let [left, rest] = columns(body, 38);
    let [middle, right] = columns(rest, 51);
    let spare = (body.height + 1).saturating_sub(load_lines(wants));
    let upper = spare.clamp(share(body.height, 42), share(body.height, 58));
    let [fill, load] = rows(left, upper);
    let [wait, below] = rows(middle, upper);
    let machines = outlined(wants.machines.saturating_add(1 + LATENCY_LINES));
    let markers = wants.lanes.min(LANE_LINES_MAX).saturating_add(1).max(4);
    let [cluster, markers] = rows(below, machines.min(below.height.saturating_sub(markers)));
    let tall = outlined(LEDGER_LINES);
    let ledger = if body.height >= 40 { tall } else { outlined(2) };
    let [upper, ledger] = rows(right, (body.height + 1).saturating_sub(ledger));
    let expected = wants.expectations.max(wants.playbook).max(1);
    let expectations = outlined(expected)
        .min(share(body.height, if wants.playbook > 0 { 40 } else { 28 }))
        .max(3);
    let [upper, expectations] = rows(upper, (upper.height + 1).saturating_sub(expectations));
    let [warnings, events] = rows(upper, share(upper.height, 45));
    vec![
        one(fill, &[Pane::Fill]),
        one(wait, &[Pane::Wait]),
        one(load, &[Pane::Partitions]),
        one(markers, &[Pane::Markers]),
        one(cluster, &[Pane::Cluster]),
        one(warnings, &[Pane::Warnings]),
        one(events, &[Pane::Events]),
        one(expectations, &[Pane::Expectations]),
        one(ledger, &[Pane::Ledger]),
    ]
}

const fn one(outline: Rect, panes: &'static [Pane]) -> Slot {
    Slot { outline, panes }
}

/// `percent` of a length.
fn share(length: u16, percent: u16) -> u16 {
    (u32::from(length) * u32::from(percent) / 100) as u16
}

/// Two outlines side by side that share a vertical line, by percent of the width.
fn columns(area: Rect, percent: u16) -> [Rect; 2] {
    let left = share(area.width, percent).max(1).min(area.width);
    [
        Rect {
            width: left,
            ..area
        },
        Rect {
            x: area.x + left.saturating_sub(1),
            width: area.width.saturating_sub(left.saturating_sub(1)),
            ..area
        },
    ]
}

/// Two outlines one above the other that share a horizontal line; the upper one has this many
/// lines, both outlines included.
fn rows(area: Rect, upper: u16) -> [Rect; 2] {
    let upper = upper.max(1).min(area.height);
    [
        Rect {
            height: upper,
            ..area
        },
        Rect {
            y: area.y + upper.saturating_sub(1),
            height: area.height.saturating_sub(upper.saturating_sub(1)),
            ..area
        },
    ]
}

/// A box in the middle of `area`, at most this large.
pub fn centered(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

/// `area` from row `lines` on.
pub fn below(area: Rect, lines: u16) -> Rect {
    let lines = lines.min(area.height);
    Rect {
        y: area.y + lines,
        height: area.height - lines,
        ..area
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WANTS: Wants = Wants {
        partitions: 12,
        machines: 4,
        lanes: 0,
        consumers: 0,
        expectations: 9,
        playbook: 0,
    };

    proptest! {
        #[test]
        fn every_place_lies_inside_and_no_two_insides_overlap(
            width in 0_u16..420, height in 0_u16..130, x in 0_u16..5, y in 0_u16..5,
            partitions in 0_u16.., machines in 0_u16.., consumers in 0_u16..,
            expectations in 0_u16.., lanes in 0_u16.., playbook in 0_u16..,
        ) {
            let area = Rect::new(x, y, width, height);
            let wants = Wants {
                partitions, machines, consumers, lanes, expectations, playbook,
            };
            let dashboard = dashboard(area, wants);
            for slot in &dashboard.slots {
                prop_assert_eq!(slot.outline.intersection(dashboard.body), slot.outline);
            }
            let insides: Vec<Rect> = dashboard
                .slots
                .iter()
                .map(|slot| crate::tui::widget::frame::inside(slot.outline))
                .filter(|inside| !inside.is_empty())
                .collect();
            for (n, one) in insides.iter().enumerate() {
                for other in &insides[n + 1..] {
                    prop_assert!(!one.intersects(*other), "{} {}", one, other);
                }
            }
        }
    }

    #[test]
    fn the_four_panes_are_on_the_first_screen_at_every_size_that_is_large_enough() {
        for (width, height) in [
            (80, 24),
            (100, 34),
            (120, 36),
            (160, 24),
            (200, 60),
            (400, 120),
        ] {
            let dashboard = dashboard(Rect::new(0, 0, width, height), WANTS);
            for pane in [Pane::Fill, Pane::Wait, Pane::Partitions, Pane::Markers] {
                let slot = dashboard
                    .slots
                    .iter()
                    .find(|slot| slot.panes.contains(&pane));
                let inside = crate::tui::widget::frame::inside(slot.expect("a place").outline);
                assert!(
                    inside.width >= 30 && inside.height >= 2,
                    "{pane:?} at {width}×{height}"
                );
            }
        }
    }

    #[test]
    fn every_pane_has_a_place_at_every_size() {
        for (width, height) in [(80, 24), (120, 36), (200, 60)] {
            let dashboard = dashboard(Rect::new(0, 0, width, height), WANTS);
            for pane in Pane::ALL {
                assert!(
                    dashboard
                        .slots
                        .iter()
                        .any(|slot| slot.panes.contains(&pane))
                );
            }
        }
    }
}
