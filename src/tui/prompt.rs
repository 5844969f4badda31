//! The command prompt: a line, what was typed before, and what its last word could become.

use crate::tui::line_edit::{Edit, LineEdit};
use crate::tui::msg::{Completion, Trouble};

/// Lines that the prompt remembers.
pub const HISTORY_LINES_MAX: usize = 200;

/// The prompt's state; it outlives the prompt's being open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// What is being typed.
    pub line: LineEdit,
    /// What is wrong with the line that was tried last.
    pub trouble: Option<Trouble>,
    /// What the word before the cursor could become, while that is on offer.
    pub offer: Option<Offer>,
    history: Vec<String>,
    /// How far back in the history the line is, 0 for a new line.
    back: usize,
    /// The new line, kept while older ones are looked at.
    draft: String,
}

/// Words on offer, in place of the one before the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The words.
    pub words: Vec<String>,
    /// The one that stands in the line now.
    pub chosen: Option<usize>,
    /// The text before the word.
    before: String,
}

impl Prompt {
    /// Applies one change to the line.
    pub fn edit(&mut self, edit: Edit) {
        self.line.apply(edit);
        self.offer = None;
        self.trouble = None;
    }

    /// Puts text at the cursor; only its first line, since a command is one line.
    pub fn paste(&mut self, text: &str) {
        text.lines()
            .next()
            .unwrap_or("")
            .chars()
            .for_each(|c| self.edit(Edit::Insert(c)));
    }

    /// Takes the line for execution and remembers it; `None` when it says nothing.
    pub fn accept(&mut self) -> Option<String> {
        let text = self.line.text().trim().to_owned();
        self.offer = None;
        self.back = 0;
        if text.is_empty() {
            return None;
        }
        if self.history.last() != Some(&text) {
            self.history.push(text.clone());
        }
        if self.history.len() > HISTORY_LINES_MAX {
            self.history.remove(0);
        }
        Some(text)
    }

    /// Empties the line for the next time.
    pub fn clear(&mut self) {
        self.line.take();
        self.trouble = None;
        self.offer = None;
        self.back = 0;
    }

    /// Shows the line before the one that is shown.
    pub fn older(&mut self) {
        if self.back < self.history.len() {
            if self.back == 0 {
                self.draft = self.line.text();
            }
            self.back += 1;
            self.show_history();
        }
    }

    /// Shows the line after the one that is shown.
    pub fn newer(&mut self) {
        if self.back > 0 {
            self.back -= 1;
            self.show_history();
        }
    }

    fn show_history(&mut self) {
        let text = match self.back {
            0 => self.draft.clone(),
            back => self.history[self.history.len() - back].clone(),
        };
        self.line.set(&text);
        self.offer = None;
        self.trouble = None;
    }

    /// Another Tab: the next word on offer. `false` when nothing is on offer yet.
    pub fn next_offer(&mut self) -> bool {
        let Some(offer) = &mut self.offer else {
            return false;
        };
        let next = offer
            .chosen
            .map_or(0, |chosen| (chosen + 1) % offer.words.len().max(1));
        offer.chosen = Some(next);
        if let Some(word) = offer.words.get(next) {
            self.line
                .set_before_cursor(&format!("{}{word}", offer.before));
        }
        true
    }

    /// Takes what the word before the cursor could become: the only one at once, else as much as
    /// all of them share, and the rest on offer.
    pub fn complete(&mut self, completion: &Completion) {
        let typed = self.line.before_cursor();
        let start = (0..=completion.start.min(typed.len()))
            .rev()
            .find(|&place| typed.is_char_boundary(place))
            .unwrap_or(0);
        let before = typed[..start].to_owned();
        match completion.words.as_slice() {
            [] => self.offer = None,
            [only] => {
                let gap = if self.line.after_cursor().is_empty() {
                    " "
                } else {
                    ""
                };
                self.line.set_before_cursor(&format!("{before}{only}{gap}"));
                self.offer = None;
            }
            words => {
                let shared = shared_beginning(words);
                if shared.len() > typed.len() - start {
                    self.line.set_before_cursor(&format!("{before}{shared}"));
                }
                self.offer = Some(Offer {
                    words: words.to_vec(),
                    chosen: None,
                    before,
                });
            }
        }
    }
}

/// The longest text that all words begin with.
fn shared_beginning(words: &[String]) -> &str {
    let Some(first) = words.first() else {
        return "";
    };
    let mut length = first.len();
    for word in words {
        let same = first
            .char_indices()
            .zip(word.chars())
            .take_while(|((_, a), b)| a == b);
        length = length.min(
            same.last()
                .map_or(0, |((place, c), _)| place + c.len_utf8()),
        );
    }
    &first[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion(start: usize, words: &[&str]) -> Completion {
        Completion {
            start,
            words: words.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    fn typed(text: &str) -> Prompt {
        let mut prompt = Prompt::default();
        prompt.paste(text);
        prompt
    }

    #[test]
    fn the_only_word_is_taken_with_a_space_after_it() {
        let mut prompt = typed("broker ki");
        prompt.complete(&completion(7, &["kill"]));
        assert_eq!(prompt.line.text(), "broker kill ");
        assert_eq!(prompt.offer, None);
    }

    #[test]
    fn several_words_share_their_beginning_and_then_take_turns() {
        let mut prompt = typed("broker st");
        prompt.complete(&completion(7, &["start", "stop"]));
        assert_eq!(prompt.line.text(), "broker st");
        assert!(prompt.next_offer());
        assert_eq!(prompt.line.text(), "broker start");
        assert!(prompt.next_offer());
        assert_eq!(prompt.line.text(), "broker stop");
        assert!(prompt.next_offer());
        assert_eq!(prompt.line.text(), "broker start");
    }

    #[test]
    fn a_longer_shared_beginning_is_taken() {
        let mut prompt = typed("p");
        prompt.complete(&completion(0, &["producer pause", "producer resume"]));
        assert_eq!(prompt.line.text(), "producer ");
    }

    #[test]
    fn history_comes_back_and_so_does_the_draft() {
        let mut prompt = typed("rate trips 100");
        assert_eq!(prompt.accept().as_deref(), Some("rate trips 100"));
        prompt.clear();
        prompt.paste("lin");
        prompt.older();
        assert_eq!(prompt.line.text(), "rate trips 100");
        prompt.older();
        assert_eq!(prompt.line.text(), "rate trips 100");
        prompt.newer();
        assert_eq!(prompt.line.text(), "lin");
    }

    #[test]
    fn an_empty_line_is_no_command() {
        assert_eq!(typed("   ").accept(), None);
    }

    #[test]
    fn a_completion_from_elsewhere_never_splits_a_character() {
        let mut prompt = typed("é");
        prompt.complete(&completion(1, &["x"]));
        assert_eq!(prompt.line.text(), "x ");
    }
}
