//! Everything that can reach the screen's state, and everything that it can ask for.

use std::time::Duration;

use crate::command::screen::Branch;
use crate::insight::why::{Chain, Question};
use crate::sim::time::{SimSpan, SimTime};
use crate::tui::line_edit::Edit;
use crate::tui::pane::Pane;
use crate::tui::seek::Target;

/// What can reach the screen's state: keys by their meaning, real time, answers of the session.
#[derive(Clone, Debug, PartialEq)]
pub enum Msg {
    /// Leave the program.
    Quit,
    /// Close the top layer.
    Close,
    /// Open the help.
    Help,
    /// Pause, or go on.
    TogglePause,
    /// One event on, then stay.
    Step,
    /// One event back, then stay.
    StepBack,
    /// The next slower speed.
    Slower,
    /// The next faster speed.
    Faster,
    /// Real time.
    RealTime,
    /// To a moment of the run, then stay.
    Seek(Target),
    /// Stay where a seek got to.
    StopSeek,
    /// The next pane.
    FocusNext,
    /// The previous pane.
    FocusPrevious,
    /// This pane.
    Focus(Pane),
    /// The focused pane over the whole screen, or back among the others.
    Expand,
    /// A shorter time axis.
    ZoomIn,
    /// A longer time axis.
    ZoomOut,
    /// Scroll what is on top: a layer, or the focused pane.
    Scroll(Scroll),
    /// The next producer, in panes that show one.
    ProducerNext,
    /// The previous producer.
    ProducerPrevious,
    /// Open the command prompt.
    OpenPrompt,
    /// Open the events' filter.
    OpenFilter,
    /// What of the focused pane is exact, approximated or absent.
    OpenCard,
    /// What the focused pane shows comes from.
    AskWhy,
    /// To the moment with this number in what lies on top, from 1.
    Jump(u8),
    /// Say that the page is seen.
    Acknowledge,
    /// Ask for the next hint.
    Hint,
    /// The briefing of a rehearsal, or its debrief once it is decided.
    OpenBriefing,
    /// Read the scenario again and start over.
    Restart,
    /// Save the run as a scenario.
    Save,
    /// Split the run into two branches.
    Fork,
    /// The other branch.
    Flip,
    /// Draw everything anew.
    Redraw,
    /// Stop the process as Ctrl+Z does.
    Suspend,
    /// Change the line that is being typed.
    Edit(Edit),
    /// Text from the clipboard.
    Paste(String),
    /// The line is done.
    Accept,
    /// An older line.
    HistoryOlder,
    /// A newer line.
    HistoryNewer,
    /// Complete the word before the cursor.
    Complete,

    /// A frame's time has come; real time since the last one.
    Frame(Duration),
    /// The engine moved on.
    Advanced(Advanced),
    /// A seek began, and got as far as this.
    Sought(Sought),
    /// There is another number of branches, or another one in focus.
    Branched(Branched),
    /// The terminal has another size.
    Resized,
    /// What a command came to.
    Answered(Result<String, Trouble>),
    /// What the word before the cursor could become.
    Completed(Completion),
    /// What it comes from.
    Explained(Vec<Chain>),
    /// The run starts over from here.
    Restarted(String),
    /// It could not be started over.
    NotRestarted(String),
    /// The rehearsal is won or lost.
    Decided,
    /// A hint, as it was asked for.
    Hinted(String),
    /// What a key asked for could not be done.
    Refused(Trouble),
}

/// How far a key scrolls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scroll {
    /// One line back.
    Up,
    /// One line on.
    Down,
    /// One screen back.
    PageUp,
    /// One screen on.
    PageDown,
}

/// Where a frame got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advanced {
    /// Simulated time before it.
    pub from: SimTime,
    /// Simulated time after it.
    pub to: SimTime,
    /// Real time that it stood for.
    pub elapsed: Duration,
    /// Whether the run is over.
    pub life: Life,
}

/// How far a seek got at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sought {
    /// The way.
    pub way: Advanced,
    /// Where it leads.
    pub to: SimTime,
    /// What is said on arrival.
    pub words: String,
}

/// What the branches of a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branched {
    /// The one in focus; `None` where there is one only.
    pub focus: Option<Branch>,
    /// Whether that one is over.
    pub life: Life,
    /// Its length.
    pub length: SimSpan,
    /// How many producers it has.
    pub producers: usize,
    /// What is said about it.
    pub words: String,
}

/// Whether a run can still go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// Something can still happen.
    Going,
    /// The end of the scenario is reached.
    Over,
}

/// Why something that was typed could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, in one line.
    pub text: String,
    /// What would help.
    pub hint: Option<String>,
}

/// What the word before the cursor could become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Where the word starts, in bytes of the text before the cursor.
    pub start: usize,
    /// Whole words, in order.
    pub words: Vec<String>,
}

/// What the screen's state asks the shell to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Leave the program.
    Quit,
    /// Leave the run for the list of scenarios.
    ToPicker,
    /// Move the engine on by what this much real time stands for, as far as one frame allows.
    Advance(Duration),
    /// Move the engine on by one event.
    Step,
    /// Move the engine back by one event.
    StepBack,
    /// Hand a command line to the session.
    Command(String),
    /// Ask what the word at the end of this text could become.
    Complete(String),
    /// Ask where something comes from.
    Why(Question),
    /// Go to a moment of the run.
    Seek(Target),
    /// Save the run as a scenario.
    Save,
    /// Tell the session that the page is seen.
    Acknowledge,
    /// Ask the session for the next hint.
    Hint,
    /// Split the run into two branches.
    Fork,
    /// Put the other branch into focus.
    Flip,
    /// Read the scenario's file again and start over.
    Restart,
    /// Stop the process as Ctrl+Z does.
    Suspend,
    /// Clear the terminal and draw everything anew.
    Clear,
}
