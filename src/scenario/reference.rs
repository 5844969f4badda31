//! The format's reference as Markdown, out of the field tables.

use crate::command::text::append;

use super::fields::{Kind, Presence, ROOT, TableSpec};
use super::shape::described;

/// Every table with its keys: what they take, what holds without them, what they mean.
pub fn reference() -> String {
    let mut tables: Vec<&'static TableSpec> = vec![&ROOT];
    let mut at = 0;
    while let Some(spec) = tables.get(at) {
        for field in spec.fields {
            inner(&field.kind, &mut tables);
        }
        at += 1;
    }
    let mut text = String::new();
    for spec in tables {
        append(
            &mut text,
            format_args!("## `{}`\n\n{}.\n\n", spec.name, spec.help),
        );
        text.push_str("| key | takes | default | meaning |\n|---|---|---|---|\n");
        for field in spec.fields {
            let default = match field.presence {
                Presence::Required => "required",
                Presence::Optional => "–",
                Presence::Default(value) => value,
                Presence::Later => continue,
            };
            let takes = described(&field.kind).replace('|', "\\|");
            append(
                &mut text,
                format_args!("| `{}` | {takes} | {default} | ", field.name),
            );
            append(
                &mut text,
                format_args!("{} |\n", field.help.replace('|', "\\|")),
            );
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn inner(kind: &'static Kind, tables: &mut Vec<&'static TableSpec>) {
    match kind {
        Kind::Table(spec) | Kind::Tables(spec, _)
            if !tables.iter().any(|known| std::ptr::eq(*known, *spec)) =>
        {
            tables.push(spec);
        }
        Kind::Either(kinds) => kinds.iter().for_each(|kind| inner(kind, tables)),
        Kind::List(kind) | Kind::Numbered(kind) => inner(kind, tables),
        _ => {}
    }
}
