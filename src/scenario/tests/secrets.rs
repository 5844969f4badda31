//! Secrets in scenario files: problems are shown where they stand, and what is secret is not.

use super::*;

/// [`SMALL`] with these lines in its producer.
fn with_client(lines: &str) -> String {
    let name = "name = \"trips\"";
    SMALL.replace(name, &format!("{name}\n{lines}"))
}

/// What is said, which must not be the secret.
fn without_secret(said: String) -> String {
    assert!(!said.contains("sesame"), "{said}");
    assert!(!said.contains("barley"), "{said}");
    said
}

#[test]
fn caret_lines_hide_the_values_of_secrets_and_nothing_else() {
    let clients = [
        "config.ssl.key.password = [1, \"sesame\"]",
        "config = { \"sasl.jaas.config\" = \"sesame\", \"linger.ms\" = [5], \"acks\" = \"1\" }",
        "config = { ssl.keystore.key = \"\"\"\nsesame\nbarley\"\"\", retries = -7 }",
        "confg.ssl.truststore.password = \"sesame\"",
        "confg.ssl = { keystore = { password = \"sesame\" } }",
    ];
    let commands = [
        "set producer tripps ssl.key.password=sesame",
        "set producer trips ssl.key.password=sesame barley",
        "set producer trips ssl.kye.password=sesame",
    ];
    let clients = clients.iter().map(|lines| with_client(lines));
    let commands = commands
        .iter()
        .map(|line| small_and(&format!("[[timeline]]\nat = \"1s\"\ndo = \"{line}\"\n")));
    let said: Vec<String> = clients
        .chain(commands)
        .map(|text| without_secret(refused(&text)))
        .collect();
    golden(
        "caret_lines_hide_the_values_of_secrets_and_nothing_else",
        &said.join("\n"),
    );
}

#[test]
fn a_secret_that_is_no_toml_is_hidden_with_the_rest_of_its_line() {
    let clients = [
        "config.ssl.key.password = \"sesame\"barley\"",
        "config.ssl.key.password = sesame",
        "config.ssl.key.password = \"sesame",
        "config.ssl.key.password: \"sesame\"",
        "config.\"sasl.jaas.config\" \"sesame\"",
        "config.ssl.keystore.key = \"\"\"\nsesame\\q\nbarley\"\"\"",
        "config.ssl.keystore.key = [\"sesame\",\n\"barley\" \"sesame\"]",
        "config.ssl.key = \"a\"\nconfig.ssl.key.password = \"sesame\"",
    ];
    let said: Vec<String> = clients
        .iter()
        .map(|lines| without_secret(refused(&with_client(lines))))
        .collect();
    golden(
        "a_secret_that_is_no_toml_is_hidden_with_the_rest_of_its_line",
        &said.join("\n"),
    );
}

#[test]
fn a_secret_of_the_command_line_is_hidden_too() {
    let set = "producer.trps.config.ssl.key.password=sesame";
    let problems = load_with(SMALL, &[set]).unwrap_err();
    golden(
        "a_secret_of_the_command_line_is_hidden_too",
        &without_secret(problems.render(Paint::Plain)),
    );
}

#[test]
fn a_long_line_hides_its_secret_wherever_it_is_cut() {
    let long = "sesame".repeat(60);
    for client in [
        format!("config = {{ \"ssl.key.password\" = \"{long}\", \"linger.ms\" = [5] }}"),
        format!("config = {{ \"linger.ms\" = [5], \"ssl.key.password\" = \"{long}\" }}"),
        format!("config.ssl.key.password = [5, \"{long}\"]"),
    ] {
        without_secret(refused(&with_client(&client)));
    }
}

#[test]
fn a_scenario_keeps_its_text_as_it_was_written() {
    let text = with_client("config.ssl.key.password = \"sesame\"");
    let scenario = load_text(&text).unwrap();
    assert_eq!(scenario.text, text);
    assert!(
        scenario
            .notes
            .iter()
            .all(|note| !note.rendered.contains("sesame"))
    );
}
