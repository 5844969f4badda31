//! One line of text under a cursor, with the keys that shells have taught people.

/// One change to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// A character at the cursor.
    Insert(char),
    /// Remove the character before the cursor.
    Backspace,
    /// Remove the character under the cursor.
    Delete,
    /// Remove the word before the cursor.
    DeleteWord,
    /// Remove everything before the cursor.
    DeleteToStart,
    /// Remove everything from the cursor on.
    DeleteToEnd,
    /// Cursor one character back.
    Left,
    /// Cursor one character on.
    Right,
    /// Cursor before the first character.
    Home,
    /// Cursor behind the last character.
    End,
}

/// Characters that a line can hold.
pub const LINE_CHARS_MAX: usize = 2_000;

/// A line with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEdit {
    chars: Vec<char>,
    cursor: usize,
}

impl LineEdit {
    /// The whole line.
    pub fn text(&self) -> String {
        self.chars.iter().collect()
    }

    /// What stands before the cursor.
    pub fn before_cursor(&self) -> String {
        self.chars[..self.cursor].iter().collect()
    }

    /// What stands behind the cursor.
    pub fn after_cursor(&self) -> String {
        self.chars[self.cursor..].iter().collect()
    }

    /// Whether nothing was typed.
    pub fn is_empty(&self) -> bool {
        self.chars.is_empty()
    }

    /// Replaces the whole line; the cursor goes behind it.
    pub fn set(&mut self, text: &str) {
        self.chars = text.chars().take(LINE_CHARS_MAX).collect();
        self.cursor = self.chars.len();
    }

    /// Replaces what stands before the cursor.
    pub fn set_before_cursor(&mut self, text: &str) {
        let after = self.chars.split_off(self.cursor);
        self.chars = text.chars().take(LINE_CHARS_MAX).collect();
        self.cursor = self.chars.len();
        self.chars.extend(after);
    }

    /// Empties the line and returns what it held.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.chars.clear();
        self.cursor = 0;
        text
    }

    /// Applies one change; returns whether the text is another now.
    pub fn apply(&mut self, edit: Edit) -> bool {
        let before = self.chars.len();
        match edit {
            Edit::Insert(c) => self.insert(c),
            Edit::Backspace => self.remove_back_to(self.cursor.saturating_sub(1)),
            Edit::Delete if self.cursor < before => {
                self.chars.remove(self.cursor);
            }
            Edit::Delete => {}
            Edit::DeleteWord => self.remove_back_to(self.word_start()),
            Edit::DeleteToStart => self.remove_back_to(0),
            Edit::DeleteToEnd => self.chars.truncate(self.cursor),
            Edit::Left => self.cursor = self.cursor.saturating_sub(1),
            Edit::Right => self.cursor = (self.cursor + 1).min(before),
            Edit::Home => self.cursor = 0,
            Edit::End => self.cursor = before,
        }
        self.chars.len() != before
    }

    fn insert(&mut self, c: char) {
        if self.chars.len() < LINE_CHARS_MAX {
            self.chars.insert(self.cursor, c);
            self.cursor += 1;
        }
    }

    fn remove_back_to(&mut self, start: usize) {
        self.chars.drain(start..self.cursor);
        self.cursor = start;
    }

    fn word_start(&self) -> usize {
        let before = &self.chars[..self.cursor];
        let spaces = before
            .iter()
            .rev()
            .take_while(|c| c.is_whitespace())
            .count();
        let word = before
            .iter()
            .rev()
            .skip(spaces)
            .take_while(|c| !c.is_whitespace())
            .count();
        self.cursor - spaces - word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> LineEdit {
        let mut line = LineEdit::default();
        text.chars().for_each(|c| {
            line.apply(Edit::Insert(c));
        });
        line
    }

    #[test]
    fn a_forgotten_word_is_put_in_the_middle() {
        let mut line = typed("broker 2");
        line.apply(Edit::Left);
        "kill ".chars().for_each(|c| {
            line.apply(Edit::Insert(c));
        });
        assert_eq!(line.text(), "broker kill 2");
        assert_eq!(line.after_cursor(), "2");
    }

    #[test]
    fn words_and_line_ends_go_as_in_a_shell() {
        let mut line = typed("link cut trips ");
        line.apply(Edit::DeleteWord);
        assert_eq!(line.text(), "link cut ");
        line.apply(Edit::Home);
        line.apply(Edit::DeleteToEnd);
        assert!(line.is_empty());
    }

    #[test]
    fn no_edit_fails_on_an_empty_line() {
        let mut line = LineEdit::default();
        for edit in [
            Edit::Backspace,
            Edit::Delete,
            Edit::DeleteWord,
            Edit::DeleteToStart,
            Edit::DeleteToEnd,
            Edit::Left,
            Edit::Right,
            Edit::Home,
            Edit::End,
        ] {
            assert!(!line.apply(edit));
        }
    }

    #[test]
    fn characters_beyond_ascii_are_one_step_each() {
        let mut line = typed("né");
        line.apply(Edit::Backspace);
        assert_eq!(line.text(), "n");
    }
}
