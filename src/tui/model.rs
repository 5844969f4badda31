//! The state of the screen, and nothing else: what is focused, open, typed, scrolled. The run
//! itself lives in the session.

use std::time::Duration;

use crate::command::screen::Branch;
use crate::insight::why::Chain;
use crate::sim::time::{SimSpan, SimTime};
use crate::tui::line_edit::LineEdit;
use crate::tui::msg::{Life, Trouble};
use crate::tui::pace::{Motion, Pace, Speed};
use crate::tui::pane::{PANES, Pane};
use crate::tui::prompt::Prompt;
use crate::tui::theme::Theme;
use crate::tui::zoom::Zoom;

/// The state of the screen while a scenario runs.
#[derive(Clone, Debug)]
pub struct Model {
    /// Looks.
    pub theme: Theme,
    /// How simulated time follows real time.
    pub pace: Pace,
    /// The seek under way, if there is one.
    pub seek: Option<Seek>,
    /// The branch in focus, where the run was split.
    pub fork: Option<Branch>,
    /// Whether the run can still go on.
    pub life: Life,
    /// Length of the run.
    pub run: SimSpan,
    /// The focused pane.
    pub focus: Pane,
    /// The pane that shows in the place that several share, where the screen is small.
    pub shared: Pane,
    /// How much of the screen the focused pane takes.
    pub detail: Detail,
    /// What lies over the dashboard.
    pub layer: Layer,
    /// The command prompt.
    pub prompt: Prompt,
    /// Which events are shown.
    pub filter: LineEdit,
    /// How much of the run charts show.
    pub zoom: Zoom,
    /// First line shown of each pane, by [`Pane::index`]; for events, lines up from the newest.
    pub scroll: [u16; PANES],
    /// How far each pane can scroll, as measured when it was last laid out.
    pub extents: [Extent; PANES],
    /// Extent of the layer on top.
    pub layer_extent: Extent,
    /// The producer that panes of one producer show.
    pub producer: usize,
    /// How many producers there are.
    pub producers: usize,
    /// What was said last, until the next key.
    pub notice: Option<Notice>,
    /// Where `Esc` leads when nothing is open.
    pub origin: Origin,
    /// How far a rehearsal is, where the run is one.
    pub rehearsing: Rehearsing,
}

/// How far a rehearsal is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rehearsing {
    /// The run is none.
    #[default]
    Not,
    /// The briefing is read for the first time; time waits.
    Briefing,
    /// It can be won or lost; what is to be hidden is.
    UnderWay,
    /// It is won or lost, and nothing is hidden.
    Decided,
}

/// How much of the screen the focused pane takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Its place among the others.
    Dashboard,
    /// All of it.
    Expanded,
}

/// What lies over the dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Nothing.
    None,
    /// The list of keys, from this line on.
    Help(u16),
    /// The command prompt.
    Prompt,
    /// The events' filter, being typed.
    Filter,
    /// What of the focused pane is exact, approximated or absent, from this line on.
    Card(u16),
    /// What the focused pane shows comes from, from this line on.
    Why(Vec<Chain>, u16),
    /// A longer text, from this line on.
    Text(String, u16),
    /// What one of Kafka's tools printed, from this line on.
    Output(String, u16),
    /// The question whether to leave this run for the list of scenarios.
    Leave,
    /// What the person on call knows at the start, from this line on.
    Briefing(u16),
    /// What the rehearsal came to, from this line on.
    Debrief(u16),
    /// A hint, from this line on.
    Hint(String, u16),
}

/// How much a pane holds and shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Lines that there are.
    pub lines: u16,
    /// Lines that fit.
    pub visible: u16,
}

impl Extent {
    /// The furthest that it makes sense to scroll.
    pub const fn scroll_max(self) -> u16 {
        self.lines.saturating_sub(self.visible)
    }
}

/// Something said to the person, until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It worked; what it did.
    Done(String),
    /// It did not.
    Failed(Trouble),
}

/// A seek that takes longer than anybody waits without seeing something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seek {
    /// Where its frames began.
    pub from: SimTime,
    /// Real time that they took so far.
    pub spent: Duration,
    /// What is said on arrival.
    pub words: String,
}

impl Seek {
    /// Real time that the rest of the way takes, if it is like the way so far.
    pub fn left(&self, now: SimTime, to: SimTime) -> Option<Duration> {
        let gone = now.since(self.from).as_seconds();
        let rest = to.since(now).as_seconds();
        (gone > 0.0).then(|| self.spent.mul_f64((rest / gone).min(1e6)))
    }
}

/// Where a run was started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    CommandLine,
    /// The list of scenarios.
    Picker,
}

/// What a model needs to know about the run that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunFacts {
    /// Its length.
    pub length: SimSpan,
    /// How many producers it has.
    pub producers: usize,
}

impl Model {
    /// The screen as it is when a run begins.
    pub fn new(theme: Theme, facts: RunFacts, origin: Origin) -> Self {
        Self {
            theme,
            pace: Pace::new(Motion::Running, Speed::REAL),
            seek: None,
            fork: None,
            life: Life::Going,
            run: facts.length,
            focus: Pane::Fill,
            shared: Pane::Warnings,
            detail: Detail::Dashboard,
            layer: Layer::None,
            prompt: Prompt::default(),
            filter: LineEdit::default(),
            zoom: Zoom::fitting(facts.length),
            scroll: [0; PANES],
            extents: [Extent::default(); PANES],
            layer_extent: Extent::default(),
            producer: 0,
            producers: facts.producers,
            notice: None,
            origin,
            rehearsing: Rehearsing::Not,
        }
    }

    /// The first line to show of a pane whose content has `lines` lines, `visible` of them at once.
    pub fn scroll_of(&self, pane: Pane, extent: Extent) -> u16 {
        self.scroll[pane.index()].min(extent.scroll_max())
    }

    /// Whether this pane has the focus.
    pub fn is_focused(&self, pane: Pane) -> bool {
        self.focus == pane
    }

    /// Moves the focus.
    pub(crate) fn focus_on(&mut self, pane: Pane) {
        self.focus = pane;
        if pane >= Pane::Cluster {
            self.shared = pane;
        }
    }
}
