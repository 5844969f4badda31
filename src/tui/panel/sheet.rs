//! Longer texts of a rehearsal: the briefing before it, the debrief after it.

use ratatui::text::{Line, Span};

use crate::tui::model::Rehearsing;
use crate::tui::scene::Scene;
use crate::tui::text;
use crate::tui::theme::Theme;

/// What the person on call knows at the start.
pub fn briefing(scene: &Scene<'_>, width: u16) -> Vec<Line<'static>> {
    let theme = scene.theme();
    let Some(plan) = scene.session.scenario().plan.as_ref() else {
        return Vec::new();
    };
    let mut lines = paragraphs(theme, &plan.briefing, width);
    let mut say = |words: &str| {
        lines.push(Line::default());
        lines.extend(wrapped(words, width, theme.styles.text.dim));
    };
    if let Some(objective) = plan.objective {
        let share = f64::from(objective.share_ppm) / 1e4;
        say(&format!(
            "Objective: {share} % of records are acknowledged within {}.",
            objective.within
        ));
    }
    if let Some(rehearsal) = scene.session.rehearsal() {
        say(&format!("Time is up at {}.", rehearsal.deadline()));
    }
    say(
        "Looking costs nothing; acting takes simulated time. Type commands at ':' as you would in \
         a shell: kafka-topics.sh, kafka-configs.sh, broker, set; '?' lists all keys, h asks for a \
         hint, ':give-up' ends it.",
    );
    if scene.model.rehearsing == Rehearsing::Briefing {
        lines.push(Line::default());
        let begin = Span::styled("Esc or Enter begins.", theme.styles.text.accent);
        lines.push(Line::from(begin));
    }
    lines
}

/// What the rehearsal came to.
pub fn debrief(scene: &Scene<'_>, width: u16) -> Vec<Line<'static>> {
    let Some(debrief) = scene.session.debrief() else {
        return Vec::new();
    };
    let styles = scene.theme().styles;
    let mut lines = Vec::new();
    let markdown = debrief.markdown();
    let is_told = |line: &&str| !line.starts_with("```") && !line.starts_with("| what |");
    for line in markdown.lines().filter(is_told) {
        let (words, style) = match line.trim_start_matches('#') {
            heading if heading.len() < line.len() => (heading.trim(), styles.text.strong),
            plain if plain.starts_with("|---") => continue,
            plain => (plain, styles.text.plain),
        };
        let words = table_row(words).unwrap_or_else(|| words.to_owned());
        lines.extend(wrapped(&words, width, style));
    }
    lines
}

/// `| lost | 3 |` as a row of a table on a screen.
fn table_row(line: &str) -> Option<String> {
    let inside = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let (what, count) = inside.split_once(" | ")?;
    Some(format!("{what:<36}{count:>12}"))
}

/// Text with paragraphs.
pub fn paragraphs(theme: &Theme, words: &str, width: u16) -> Vec<Line<'static>> {
    let lines = words.lines();
    let lines = lines.flat_map(|line| wrapped(line, width, theme.styles.text.plain));
    lines.collect()
}

fn wrapped(words: &str, width: u16, style: ratatui::style::Style) -> Vec<Line<'static>> {
    let words = text::visible(words);
    let lines = text::wrap(&words, width).into_iter();
    lines
        .map(|line| Line::from(Span::styled(line, style)))
        .collect()
}
