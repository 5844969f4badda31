//! What other programs say about kdrill: shells that complete its words, `man` that explains them.
//! Both come from the definition of the command line.

use std::io;
use std::path::Path;

use clap::CommandFactory;
use kdrill::cli::Cli;
use kdrill::headless::{Exit, catalog, complain};
use kdrill::report::output::Destination;

/// Prints the completions of a shell.
pub fn completions(shell: clap_complete::Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "kdrill", &mut script);
    catalog::print(&String::from_utf8_lossy(&script))
}

/// Prints the manual page, or writes a page for each subcommand.
pub fn pages(folder: Option<&Path>) -> Exit {
    let command = Cli::command();
    let written = match folder {
        None => page(&command).map(|page| catalog::print(&page)),
        Some(folder) => write_all(command, folder),
    };
    written.unwrap_or_else(|error| {
        complain(&format!("error: the manual cannot be written: {error}"));
        Exit::Unwritten
    })
}

fn write_all(mut command: clap::Command, folder: &Path) -> io::Result<Exit> {
    // Subcommands get their full names: `kdrill run` is explained by kdrill-run(1).
    command.build();
    std::fs::create_dir_all(folder)?;
    let pages = command.get_subcommands().chain([&command]);
    for one in pages.filter(|one| one.get_name() != "help") {
        let name = one.get_display_name().unwrap_or_else(|| one.get_name());
        let text = page(one)?;
        Destination::file(&folder.join(format!("{name}.1")))
            .and_then(|file| file.write(&text))
            .map_err(|error| error.cause)?;
    }
    Ok(Exit::Held)
}

fn page(command: &clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}
