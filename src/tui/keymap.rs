//! One table of keys. What a key does, what the footer offers and what the help lists all come
//! from here, so they cannot disagree.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::command::screen::Moment;
use crate::tui::line_edit::Edit;
use crate::tui::model::{Detail, Layer, Model, Origin, Rehearsing};
use crate::tui::msg::{Life, Msg, Scroll};
use crate::tui::pace::{Motion, Speed};
use crate::tui::pane::Pane;
use crate::tui::seek::Target;

/// Where a key is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// Everywhere.
    Everywhere,
    /// The dashboard, with nothing over it.
    Dashboard,
    /// The command prompt.
    Prompt,
    /// The events' filter.
    Filter,
    /// Help, cards and other texts.
    Text,
    /// The question whether to leave a run.
    Leave,
    /// The list of scenarios.
    Picker,
}

impl Context {
    /// The heading of its keys in the help.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everywhere => "Everywhere",
            Self::Dashboard => "Dashboard",
            Self::Prompt => "Command prompt",
            Self::Filter => "Filter",
            Self::Text => "Help and cards",
            Self::Leave => "Leaving a run",
            Self::Picker => "List of scenarios",
        }
    }

    /// The context of what lies on top.
    pub const fn of(layer: &Layer) -> Self {
        match layer {
            Layer::None => Self::Dashboard,
            Layer::Help(_)
            | Layer::Card(_)
            | Layer::Why(..)
            | Layer::Text(..)
            | Layer::Output(..)
            | Layer::Briefing(_)
            | Layer::Debrief(_)
            | Layer::Hint(..) => Self::Text,
            Layer::Prompt => Self::Prompt,
            Layer::Filter => Self::Filter,
            Layer::Leave => Self::Leave,
        }
    }

    /// Whether characters that no binding takes are typed.
    pub const fn types(self) -> bool {
        matches!(self, Self::Prompt | Self::Filter | Self::Picker)
    }
}

/// When a key does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// While simulated time passes.
    Running,
    /// While the run goes to another moment.
    Seeking,
    /// While it waits.
    Paused,
    /// Before the run is over.
    Going,
    /// Unless the speed is real time already.
    NotRealTime,
    /// In panes that show one of several producers.
    SeveralProducers,
    /// While the focused pane stands among the others.
    Small,
    /// While the focused pane takes the whole screen.
    Expanded,
    /// In the expanded or plain dashboard where `Esc` closes something.
    Closable,
    /// In a run that was started from the list.
    FromPicker,
    /// While the run is one.
    Whole,
    /// While the run is split into two branches.
    Forked,
    /// While the focused pane has more lines than fit.
    Scrollable,
    /// While an answer to why lies on top.
    Explained,
    /// While a rehearsal is under way.
    Rehearsing,
    /// In a rehearsal, decided or not.
    Rehearsal,
}

impl When {
    /// Whether that is so now.
    pub fn holds(self, model: &Model) -> bool {
        match self {
            Self::Always => true,
            Self::Running => model.life == Life::Going && model.pace.motion == Motion::Running,
            Self::Seeking => matches!(model.pace.motion, Motion::Seeking(_)),
            Self::Paused => model.life == Life::Going && model.pace.motion == Motion::Paused,
            Self::Going => model.life == Life::Going,
            Self::NotRealTime => model.life == Life::Going && model.pace.speed != Speed::REAL,
            Self::SeveralProducers => model.producers > 1 && model.focus.is_of_one_producer(),
            Self::Small => model.detail == Detail::Dashboard,
            Self::Expanded => model.detail == Detail::Expanded,
            Self::Closable => model.detail == Detail::Expanded || !model.filter.is_empty(),
            Self::Whole => model.fork.is_none(),
            Self::Forked => model.fork.is_some(),
            Self::FromPicker => model.origin == Origin::Picker,
            Self::Rehearsing => model.rehearsing == Rehearsing::UnderWay,
            Self::Rehearsal => model.rehearsing != Rehearsing::Not,
            Self::Explained => matches!(model.layer, Layer::Why(..)),
            Self::Scrollable => model.extents[model.focus.index()].scroll_max() > 0,
        }
    }
}

/// One key of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub code: KeyCode,
    /// With Ctrl, Alt, or neither; Shift is part of a character.
    pub modifiers: KeyModifiers,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Where it works.
    pub context: Context,
    /// When it does something.
    pub when: When,
    /// The keys, any of them.
    pub keys: &'static [Key],
    /// The keys as people read them.
    pub shown: &'static str,
    /// What they mean.
    pub msg: Msg,
    /// What the help says; empty where the line before says it too.
    pub help: &'static str,
    /// What the footer says; empty when it says nothing.
    pub footer: &'static str,
    /// The keys as the footer shows them, which may speak for a neighbouring line too.
    pub footer_keys: &'static str,
}

const fn key(code: KeyCode) -> Key {
    Key {
        code,
        modifiers: KeyModifiers::NONE,
    }
}

const fn char(c: char) -> Key {
    key(KeyCode::Char(c))
}

const fn ctrl(c: char) -> Key {
    Key {
        code: KeyCode::Char(c),
        modifiers: KeyModifiers::CONTROL,
    }
}

const fn alt(code: KeyCode) -> Key {
    Key {
        code,
        modifiers: KeyModifiers::ALT,
    }
}

/// A line with all its parts; `rows!` makes the table readable.
macro_rules! rows {
    ($($context:ident $when:ident [$($key:expr),+] $shown:literal $msg:expr,
        $help:literal, $footer:literal $(as $keys:literal)?;)+) => {
        &[$(Binding {
            context: Context::$context,
            when: When::$when,
            keys: &[$($key),+],
            shown: $shown,
            msg: $msg,
            help: $help,
            footer: $footer,
            footer_keys: [$($keys,)? $shown][0],
        }),+]
    };
}

/// The table. In the footer, lines come in this order until there is no more room.
pub static KEYMAP: &[Binding] = rows! {
    Dashboard Seeking  [key(KeyCode::Esc), char(' ')] "Esc" Msg::StopSeek,
        "while the run goes to another moment: stop there", "stop here";
    Everywhere Seeking [ctrl('c')] "Ctrl+C" Msg::StopSeek,
        "while the run goes to another moment: stop there", "";
    Dashboard Running  [char(' ')] "Space" Msg::TogglePause, "pause, or go on", "pause";
    Dashboard Paused   [char(' ')] "Space" Msg::TogglePause, "", "go on";
    Dashboard Rehearsing [char('a')] "a" Msg::Acknowledge, "say that the page is seen",
        "acknowledge";
    Dashboard Rehearsing [char('h')] "h" Msg::Hint, "ask for a hint, which costs score", "hint";
    Dashboard Rehearsal [char('b')] "b" Msg::OpenBriefing,
        "the briefing of a rehearsal, or its debrief", "briefing";
    Dashboard Paused   [char('.')] "." Msg::Step, "pause, and one event on", "event" as ", .";
    Dashboard Always   [char(',')] "," Msg::StepBack, "pause, and one event back", "";
    Dashboard Running  [char('.')] "." Msg::Step, "", "";
    Dashboard Going    [char('<')] "<" Msg::Slower, "slower", "speed" as "< >";
    Dashboard Going    [char('>')] ">" Msg::Faster, "faster", "";
    Dashboard NotRealTime [char('=')] "=" Msg::RealTime, "real time", "real time";
    Dashboard Forked   [char('f')] "f" Msg::Flip, "in a run that was split: the other branch",
        "other branch";
    Dashboard Always   [char(':')] ":" Msg::OpenPrompt, "type a command: a fault, a knob", "command";
    Dashboard Small    [char('e'), key(KeyCode::Enter)] "e" Msg::Expand,
        "the focused pane over the whole screen, or back among the others", "expand";
    Dashboard Expanded [char('e'), key(KeyCode::Enter)] "e" Msg::Expand,
        "", "shrink";
    Dashboard Closable [key(KeyCode::Esc)] "Esc" Msg::Close,
        "close the filter or the expanded pane", "close";
    Dashboard FromPicker [key(KeyCode::Esc)] "Esc" Msg::Close, "back to the list of scenarios",
        "scenarios";
    Dashboard SeveralProducers [key(KeyCode::Right)] "Right" Msg::ProducerNext,
        "the next producer, in panes that show one", "producer" as "Left Right";
    Dashboard SeveralProducers [key(KeyCode::Left)] "Left" Msg::ProducerPrevious,
        "the previous producer", "";
    Dashboard Always   [key(KeyCode::Tab)] "Tab" Msg::FocusNext, "focus the next pane", "focus";
    Dashboard Always   [key(KeyCode::BackTab)] "Shift+Tab" Msg::FocusPrevious,
        "focus the previous pane", "";
    Dashboard Always   [char('1')] "1 to 9" Msg::Focus(Pane::Fill), "focus the pane of that digit", "";
    Dashboard Always   [char('2')] "2" Msg::Focus(Pane::Wait), "", "";
    Dashboard Always   [char('3')] "3" Msg::Focus(Pane::Partitions), "", "";
    Dashboard Always   [char('4')] "4" Msg::Focus(Pane::Markers), "", "";
    Dashboard Always   [char('5')] "5" Msg::Focus(Pane::Cluster), "", "";
    Dashboard Always   [char('6')] "6" Msg::Focus(Pane::Warnings), "", "";
    Dashboard Always   [char('7')] "7" Msg::Focus(Pane::Events), "", "";
    Dashboard Always   [char('8')] "8" Msg::Focus(Pane::Expectations), "", "";
    Dashboard Always   [char('9')] "9" Msg::Focus(Pane::Ledger), "", "";
    Dashboard Scrollable [key(KeyCode::Up), char('k')] "Up" Msg::Scroll(Scroll::Up),
        "scroll the focused pane up", "";
    Dashboard Scrollable [key(KeyCode::Down), char('j')] "Down" Msg::Scroll(Scroll::Down),
        "scroll it down", "scroll" as "Up Down";
    Dashboard Scrollable [key(KeyCode::PageUp)] "PgUp" Msg::Scroll(Scroll::PageUp),
        "scroll it up by a screen", "";
    Dashboard Scrollable [key(KeyCode::PageDown)] "PgDn" Msg::Scroll(Scroll::PageDown),
        "scroll it down by a screen", "";
    Dashboard Always   [char('+')] "+" Msg::ZoomIn, "shorter time axis", "zoom" as "+ -";
    Dashboard Always   [char('-')] "-" Msg::ZoomOut, "longer time axis", "";
    Dashboard Always   [char('/')] "/" Msg::OpenFilter, "show only events that contain a text",
        "filter";
    Dashboard Always   [char('w')] "w" Msg::AskWhy,
        "why: what the focused pane shows comes from", "why";
    Dashboard Always   [char('i')] "i" Msg::OpenCard,
        "what of the focused pane is exact, approximated or absent", "fidelity";
    Dashboard Going    [key(KeyCode::End)] "End" Msg::Seek(Target::Moment(Moment::End)),
        "as fast as possible to the end", "end";
    Dashboard Always   [key(KeyCode::Home)] "Home" Msg::Seek(Target::Moment(Moment::START)),
        "back to the start; commands come again at their moments", "";
    Dashboard Always   [char('[')] "[" Msg::Seek(Target::MarkBefore),
        "to the mark before: a fault, a command, a loss", "marks" as "[ ]";
    Dashboard Always   [char(']')] "]" Msg::Seek(Target::MarkAfter), "to the next mark", "";
    Dashboard Whole    [char('F')] "F" Msg::Fork,
        "split the run here into two branches, which go on side by side", "fork";
    Dashboard Always   [char('s')] "s" Msg::Save,
        "save the run, with all that was typed in it, as a scenario", "save";
    Dashboard Always   [ctrl('r')] "Ctrl+R" Msg::Restart, "read the scenario again and start over",
        "restart";
    Prompt Always [key(KeyCode::Enter)] "Enter" Msg::Accept, "run the command now", "run";
    Prompt Always [key(KeyCode::Tab)] "Tab" Msg::Complete, "complete the word, or the next one",
        "complete";
    Prompt Always [key(KeyCode::Up), ctrl('p')] "Up" Msg::HistoryOlder, "an older line", "history" as "Up Down";
    Prompt Always [key(KeyCode::Down), ctrl('n')] "Down" Msg::HistoryNewer, "a newer line", "";
    Prompt Always [key(KeyCode::Esc)] "Esc" Msg::Close, "close the prompt", "close";
    Filter Always [key(KeyCode::Enter)] "Enter" Msg::Accept, "keep the filter", "keep";
    Filter Always [key(KeyCode::Esc)] "Esc" Msg::Close, "show all events again", "show all";
    Text Always [key(KeyCode::Up), char('k')] "Up" Msg::Scroll(Scroll::Up), "scroll up", "";
    Text Always [key(KeyCode::Down), char('j')] "Down" Msg::Scroll(Scroll::Down), "scroll down",
        "scroll" as "Up Down";
    Text Always [key(KeyCode::PageUp)] "PgUp" Msg::Scroll(Scroll::PageUp), "up by a screen", "";
    Text Always [key(KeyCode::PageDown), char(' ')] "PgDn" Msg::Scroll(Scroll::PageDown),
        "down by a screen", "";
    Text Explained [char('1')] "1 to 9" Msg::Jump(1),
        "in an answer to why: to the moment of that number", "go there" as "1 to 9";
    Text Explained [char('2')] "2" Msg::Jump(2), "", "";
    Text Explained [char('3')] "3" Msg::Jump(3), "", "";
    Text Explained [char('4')] "4" Msg::Jump(4), "", "";
    Text Explained [char('5')] "5" Msg::Jump(5), "", "";
    Text Explained [char('6')] "6" Msg::Jump(6), "", "";
    Text Explained [char('7')] "7" Msg::Jump(7), "", "";
    Text Explained [char('8')] "8" Msg::Jump(8), "", "";
    Text Explained [char('9')] "9" Msg::Jump(9), "", "";
    Text Always [key(KeyCode::Esc), char('?'), char('i'), char('w'), key(KeyCode::Enter)] "Esc" Msg::Close,
        "close", "close";
    Leave Always [key(KeyCode::Enter), char('y')] "Enter" Msg::Accept,
        "leave this run for the list of scenarios", "leave this run";
    Leave Always [key(KeyCode::Esc), char('n')] "Esc" Msg::Close, "stay", "stay";
    Picker Always [key(KeyCode::Enter)] "Enter" Msg::Accept, "run the scenario", "run";
    Picker Always [key(KeyCode::Up), ctrl('p')] "Up" Msg::Scroll(Scroll::Up), "up", "";
    Picker Always [key(KeyCode::Down), ctrl('n')] "Down" Msg::Scroll(Scroll::Down), "down", "select" as "Up Down";
    Picker Always [key(KeyCode::PageUp)] "PgUp" Msg::Scroll(Scroll::PageUp), "up by a screen", "";
    Picker Always [key(KeyCode::PageDown)] "PgDn" Msg::Scroll(Scroll::PageDown),
        "down by a screen", "";
    Picker Always [key(KeyCode::Esc)] "Esc" Msg::Close,
        "clear what was typed; with nothing typed, leave", "clear, or leave";
    Prompt Always [key(KeyCode::Left), ctrl('b')] "Left" Msg::Edit(Edit::Left),
        "one character back", "";
    Prompt Always [key(KeyCode::Right), ctrl('f')] "Right" Msg::Edit(Edit::Right),
        "one character on", "";
    Everywhere Always [key(KeyCode::Home), ctrl('a')] "Home" Msg::Edit(Edit::Home),
        "where a line is typed: its start", "";
    Everywhere Always [key(KeyCode::End), ctrl('e')] "End" Msg::Edit(Edit::End),
        "where a line is typed: its end", "";
    Everywhere Always [key(KeyCode::Backspace), ctrl('h')] "Backspace" Msg::Edit(Edit::Backspace),
        "where a line is typed: remove a character", "";
    Everywhere Always [key(KeyCode::Delete), ctrl('d')] "Delete" Msg::Edit(Edit::Delete),
        "where a line is typed: remove the next character", "";
    Everywhere Always [ctrl('w'), alt(KeyCode::Backspace)] "Ctrl+W" Msg::Edit(Edit::DeleteWord),
        "where a line is typed: remove a word", "";
    Everywhere Always [ctrl('u')] "Ctrl+U" Msg::Edit(Edit::DeleteToStart),
        "where a line is typed: remove what is before the cursor", "";
    Everywhere Always [ctrl('k')] "Ctrl+K" Msg::Edit(Edit::DeleteToEnd),
        "where a line is typed: remove what is after the cursor", "";
    Dashboard Always [char('?')] "?" Msg::Help, "this help", "help";
    Dashboard Always [char('q'), char('Q')] "q" Msg::Quit, "leave", "quit";
    Text Always [char('q'), char('Q')] "q" Msg::Quit, "leave", "quit";
    Everywhere Always [ctrl('c')] "Ctrl+C" Msg::Quit, "leave", "";
    Everywhere Always [ctrl('l')] "Ctrl+L" Msg::Redraw, "draw the screen anew", "";
    Everywhere Always [ctrl('z')] "Ctrl+Z" Msg::Suspend, "suspend, as in a shell", "";
};

/// The message of a key in a context, if it means anything there. A key that is bound for another
/// state (`When`) still means what its table line says, except that lines that hold come first.
pub fn lookup(context: Context, model: Option<&Model>, event: &KeyEvent) -> Option<Msg> {
    let pressed = normalized(event);
    let here = |binding: &&Binding| {
        (binding.context == context || binding.context == Context::Everywhere)
            && binding.keys.contains(&pressed)
            && is_so(binding.when, model)
            && (context.types() || !matches!(binding.msg, Msg::Edit(_)))
    };
    if let Some(binding) = KEYMAP.iter().find(here) {
        return Some(binding.msg.clone());
    }
    match (context.types(), pressed.code) {
        (true, KeyCode::Char(c)) if pressed.modifiers.is_empty() => {
            Some(Msg::Edit(Edit::Insert(c)))
        }
        _ => None,
    }
}

/// The bindings that do something in a context now, for the footer.
pub fn offered(context: Context, model: Option<&Model>) -> impl Iterator<Item = &'static Binding> {
    KEYMAP.iter().filter(move |binding| {
        binding.context == context && !binding.footer.is_empty() && is_so(binding.when, model)
    })
}

/// Whether a binding does something now. Where no run is shown, no run goes anywhere.
fn is_so(when: When, model: Option<&Model>) -> bool {
    model.map_or(when != When::Seeking, |model| when.holds(model))
}

/// Shift is part of a character, and terminals disagree about it elsewhere.
fn normalized(event: &KeyEvent) -> Key {
    let wanted = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let modifiers = event.modifiers & wanted;
    let code = match event.code {
        KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => {
            KeyCode::Char(c.to_ascii_lowercase())
        }
        KeyCode::Tab if event.modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        code => code,
    };
    Key { code, modifiers }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn no_key_means_two_things_in_one_place_and_state() {
        for (place, one) in KEYMAP.iter().enumerate() {
            for other in &KEYMAP[place + 1..] {
                let shared = one.keys.iter().any(|key| other.keys.contains(key));
                let same = one.context == other.context && one.when == other.when;
                assert!(
                    !(shared && same),
                    "{} and {}: {}",
                    one.shown,
                    other.shown,
                    one.help
                );
            }
        }
    }

    #[test]
    fn shift_is_part_of_a_character() {
        let question = pressed(KeyCode::Char('?'), KeyModifiers::SHIFT);
        assert_eq!(lookup(Context::Dashboard, None, &question), Some(Msg::Help));
        let back = pressed(KeyCode::BackTab, KeyModifiers::SHIFT);
        assert_eq!(
            lookup(Context::Dashboard, None, &back),
            Some(Msg::FocusPrevious)
        );
    }

    #[test]
    fn letters_are_typed_where_a_line_is_typed_and_control_keys_are_not() {
        let q = pressed(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(lookup(Context::Dashboard, None, &q), Some(Msg::Quit));
        assert_eq!(
            lookup(Context::Prompt, None, &q),
            Some(Msg::Edit(Edit::Insert('q')))
        );
        let control_c = pressed(KeyCode::Char('c'), KeyModifiers::CONTROL);
        for context in [
            Context::Prompt,
            Context::Filter,
            Context::Text,
            Context::Leave,
        ] {
            assert_eq!(lookup(context, None, &control_c), Some(Msg::Quit));
        }
        let unbound = pressed(KeyCode::Char('x'), KeyModifiers::CONTROL);
        assert_eq!(lookup(Context::Prompt, None, &unbound), None);
    }

    #[test]
    fn editing_keys_do_nothing_where_no_line_is_typed() {
        let home = pressed(KeyCode::Home, KeyModifiers::NONE);
        assert_eq!(
            lookup(Context::Dashboard, None, &home),
            Some(Msg::Seek(Target::Moment(Moment::START)))
        );
        let backspace = pressed(KeyCode::Backspace, KeyModifiers::NONE);
        assert_eq!(lookup(Context::Dashboard, None, &backspace), None);
    }

    #[test]
    fn escape_never_quits() {
        for binding in KEYMAP {
            let is_escape = binding.keys.contains(&key(KeyCode::Esc));
            assert!(!is_escape || binding.msg != Msg::Quit);
        }
    }
}
