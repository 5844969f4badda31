//! The list of scenarios: what `kdrill` alone shows. Typing narrows it, Enter runs.

mod list;
mod preview;

use crossterm::event::KeyEvent;

use crate::scenario::library::{self, Entry};
use crate::scenario::{Overrides, Scenario, Source, load};
use crate::tui::keymap::{self, Context};
use crate::tui::line_edit::{Edit, LineEdit};
use crate::tui::msg::{Msg, Scroll};
use crate::tui::theme::Theme;

pub use list::draw;

/// Scenarios that a page key goes over.
const PAGE: usize = 10;

/// The state of the list.
#[derive(Clone, Debug)]
pub struct Picker {
    /// Looks.
    pub theme: Theme,
    /// All scenarios, by category and name.
    pub entries: Vec<Entry>,
    /// What narrows the list.
    pub filter: LineEdit,
    /// Why the last choice could not be run.
    pub trouble: Option<String>,
    selected: usize,
    /// The selected scenario in full, for the preview.
    shown: Option<Scenario>,
}

/// What a message to the list comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nothing yet.
    None,
    /// This scenario.
    Run(String),
    /// Leave the program.
    Quit,
    /// Stop the process as Ctrl+Z does.
    Suspend,
    /// Draw everything anew.
    Clear,
}

impl Picker {
    /// The list over the whole library.
    pub fn new(theme: Theme) -> Self {
        Self::over(library::list(), theme)
    }

    /// The list over these scenarios.
    pub fn over(entries: Vec<Entry>, theme: Theme) -> Self {
        let mut picker = Self {
            theme,
            entries,
            filter: LineEdit::default(),
            trouble: None,
            selected: 0,
            shown: None,
        };
        picker.look();
        picker
    }

    /// Selects the scenario of this name, if there is one.
    pub fn select(&mut self, name: &str) {
        if let Some(place) = self.matching().iter().position(|entry| entry.name == name) {
            self.selected = place;
            self.look();
        }
    }

    /// Loads the selected scenario for the preview, unless it is there.
    fn look(&mut self) {
        let name = self.selected().map(|entry| entry.name.clone());
        if name.as_ref() != self.shown.as_ref().map(|scenario| &scenario.name) {
            self.shown =
                name.and_then(|name| load(Source::Embedded(name), &Overrides::default()).ok());
        }
    }

    /// What a key means here. `q` leaves as long as nothing is typed.
    pub fn meaning(&self, key: &KeyEvent) -> Option<Msg> {
        let msg = keymap::lookup(Context::Picker, None, key)?;
        let leaves = matches!(msg, Msg::Edit(Edit::Insert('q' | 'Q'))) && self.filter.is_empty();
        Some(if leaves { Msg::Quit } else { msg })
    }

    /// Scenarios that contain every word that was typed.
    pub fn matching(&self) -> Vec<&Entry> {
        let filter = self.filter.text().to_lowercase();
        let contains = |entry: &&Entry| {
            let all = [&entry.name, &entry.category, &entry.title, &entry.question];
            filter
                .split_whitespace()
                .all(|word| all.iter().any(|text| text.to_lowercase().contains(word)))
        };
        self.entries.iter().filter(contains).collect()
    }

    fn selected(&self) -> Option<&Entry> {
        let matching = self.matching();
        matching
            .get(self.selected.min(matching.len().saturating_sub(1)))
            .copied()
    }

    fn scroll(&mut self, by: Scroll) {
        let last = self.matching().len().saturating_sub(1);
        let from = self.selected.min(last);
        let to = match by {
            Scroll::Up => from.saturating_sub(1),
            Scroll::Down => from + 1,
            Scroll::PageUp => from.saturating_sub(PAGE),
            Scroll::PageDown => from + PAGE,
        };
        self.selected = to.min(last);
    }
}

/// Takes one message into the list.
pub fn update(picker: &mut Picker, msg: Msg) -> Choice {
    let choice = take(picker, msg);
    picker.look();
    choice
}

fn take(picker: &mut Picker, msg: Msg) -> Choice {
    if picker.trouble.take().is_some() && msg == Msg::Close {
        return Choice::None;
    }
    match msg {
        Msg::Quit => return Choice::Quit,
        Msg::Suspend => return Choice::Suspend,
        Msg::Redraw | Msg::Resized => return Choice::Clear,
        Msg::Close if picker.filter.is_empty() => return Choice::Quit,
        Msg::Accept => {
            return picker
                .selected()
                .map_or(Choice::None, |entry| Choice::Run(entry.name.clone()));
        }
        Msg::Close => {
            picker.filter.take();
            picker.selected = 0;
        }
        Msg::Edit(edit) if picker.filter.apply(edit) => picker.selected = 0,
        Msg::Paste(text) => {
            text.lines().next().unwrap_or("").chars().for_each(|c| {
                picker.filter.apply(Edit::Insert(c));
            });
            picker.selected = 0;
        }
        Msg::Scroll(by) => picker.scroll(by),
        _ => {}
    }
    Choice::None
}
