//! Colours, where a terminal shows them.

use anstyle::{AnsiColor, Style};

use crate::scenario::Paint;

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::keys) enum Tone {
    Plain,
    Dim,
    Bold,
    Heading,
    Warn,
    Bar,
}

/// Paints, or does not.
#[derive(Clone, Copy, Debug)]
pub(in crate::keys) struct Ink(pub(in crate::keys) Paint);

impl Ink {
    /// `text` in its tone. Blanks around it are not painted.
    pub(in crate::keys) fn paint(self, tone: Tone, text: &str) -> String {
        let style = match (self.0, tone) {
            (Paint::Plain, _) | (_, Tone::Plain) => return text.to_owned(),
            (_, Tone::Dim | Tone::Heading) => Style::new().dimmed(),
            (_, Tone::Bold) => Style::new().bold(),
            (_, Tone::Warn) => AnsiColor::Yellow.on_default(),
            (_, Tone::Bar) => AnsiColor::Cyan.on_default(),
        };
        format!("{style}{text}{style:#}")
    }
}
