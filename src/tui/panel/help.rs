//! The help: every key of the one table, by where it works, and what the screen's own commands are.

use ratatui::text::{Line, Span};

use crate::command::screen;
use crate::tui::keymap::{Context, KEYMAP};
use crate::tui::theme::Theme;

/// Where keys work, in the order of the help.
const CONTEXTS: [Context; 7] = [
    Context::Dashboard,
    Context::Prompt,
    Context::Filter,
    Context::Text,
    Context::Leave,
    Context::Picker,
    Context::Everywhere,
];

/// All lines of the help.
pub fn lines(theme: &Theme) -> Vec<Line<'static>> {
    let styles = theme.styles;
    let mut lines = Vec::new();
    for context in CONTEXTS {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::from(Span::styled(context.name(), styles.text.strong)));
        for binding in KEYMAP
            .iter()
            .filter(|binding| binding.context == context && !binding.help.is_empty())
        {
            lines.push(Line::from(vec![
                Span::styled(format!("  {:<11}", binding.shown), styles.text.accent),
                Span::styled(binding.help, styles.text.plain),
            ]));
        }
    }
    lines.push(Line::default());
    let heading = "Typed at the prompt, for the screen (Tab shows all other commands)";
    lines.push(Line::from(Span::styled(heading, styles.text.strong)));
    for (usage, help) in screen::REFERENCE {
        lines.push(Line::from(Span::styled(
            format!("  {usage}"),
            styles.text.accent,
        )));
        lines.push(Line::from(Span::styled(
            format!("    {help}"),
            styles.text.plain,
        )));
    }
    lines
}
