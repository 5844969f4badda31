//! Where everything of one frame stands: the dashboard, or, where the run was split, its branches
//! and what they differ in.
//!
//! Two branches stand side by side where each has room for a dashboard, or where one pane each is
//! shown; else the one in focus has the place, and the differences say what the other one is like.

use ratatui::layout::Rect;

use crate::command::screen::Branch;
use crate::tui::layout::{self, Dashboard, Slot, Wants};
use crate::tui::model::{Detail, Model};
use crate::tui::pane::Pane;
use crate::tui::panel::difference;

/// From this size of the body on, there are two dashboards side by side.
const WIDTH_BOTH: u16 = 200;
const HEIGHT_BOTH: u16 = 36;
/// From this width on, there are two panes side by side.
const WIDTH_PANES: u16 = 100;

/// Where everything stands.
#[derive(Debug)]
pub struct Plan {
    /// Header, body and footer; its slots are those of the branch in focus.
    pub dashboard: Dashboard,
    /// The slots of the other branch, where both are shown.
    pub beside: Vec<Slot>,
    /// A line above each branch, A's first, where both are shown.
    pub captions: Option<[Rect; 2]>,
    /// What they differ in; empty where there is one.
    pub difference: Rect,
}

impl Plan {
    /// The plan for a terminal of this size; the wants of the branch in focus, and of the other.
    pub fn new(area: Rect, model: &Model, wants: [Wants; 2]) -> Self {
        let Some(focus) = model.fork else {
            let dashboard = layout::dashboard(area, wants[0]);
            let slots = shown(model, dashboard.body, &dashboard.slots);
            return Self {
                dashboard: Dashboard { slots, ..dashboard },
                beside: Vec::new(),
                captions: None,
                difference: Rect::ZERO,
            };
        };
        let lines = difference::lines(area.height);
        let upper = Rect {
            height: area.height.saturating_sub(lines),
            ..area
        };
        let mut dashboard = layout::dashboard(upper, wants[0]);
        let difference = Rect {
            height: lines,
            ..dashboard.footer
        };
        dashboard.footer.y = dashboard.footer.y.saturating_add(lines);
        let plan = Self {
            dashboard,
            beside: Vec::new(),
            captions: None,
            difference,
        };
        plan.with_branches(model, focus, wants)
    }

    fn with_branches(mut self, model: &Model, focus: Branch, wants: [Wants; 2]) -> Self {
        let body = self.dashboard.body;
        let has_room = match model.detail {
            Detail::Dashboard => body.width >= WIDTH_BOTH && body.height >= HEIGHT_BOTH,
            Detail::Expanded => body.width >= WIDTH_PANES,
        };
        if !has_room {
            self.dashboard.slots = shown(model, body, &self.dashboard.slots);
            return self;
        }
        let left = Rect {
            width: body.width / 2,
            ..body
        };
        let right = Rect {
            x: left.right(),
            width: body.width - left.width,
            ..body
        };
        let halves = [left, right];
        let place = match focus {
            Branch::A => 0,
            Branch::B => 1,
        };
        let slots = |half: Rect, wants: Wants| {
            let half = Rect {
                y: half.y + 1,
                height: half.height.saturating_sub(1),
                ..half
            };
            shown(model, half, &layout::slots(half, wants))
        };
        self.dashboard.slots = slots(halves[place], wants[0]);
        self.beside = slots(halves[1 - place], wants[1]);
        self.captions = Some(halves.map(|half| Rect { height: 1, ..half }));
        self
    }
}

/// The places that are shown: all, or the whole body for the focused pane.
fn shown(model: &Model, body: Rect, slots: &[Slot]) -> Vec<Slot> {
    match model.detail {
        Detail::Dashboard => slots.to_vec(),
        Detail::Expanded => {
            let place = model.focus.index();
            vec![Slot {
                outline: body,
                panes: &Pane::ALL[place..=place],
            }]
        }
    }
}
