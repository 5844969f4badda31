//! `set producer NAME key=value`: the part that the client itself would check.

use std::ops::Range;

use crate::kafka::config::{ConfigProblem, java, rdkafka};
use crate::kafka::rdkafka_version::RdkafkaVersion;
use crate::kafka::version::KafkaVersion;

use super::problem::CommandProblem;
use super::text::nearest;

/// A client library with its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientVersion {
    /// Apache Kafka's Java client.
    Java(KafkaVersion),
    /// librdkafka.
    Rdkafka(RdkafkaVersion),
}

/// Splits `key=value`, and refuses what the client would refuse with this change.
///
/// An unknown key, which a Java client would ignore, is refused too: whoever types it means
/// another one.
pub(super) fn parse(
    setting: &str,
    client: Option<(ClientVersion, &[(String, String)])>,
    range: Range<usize>,
) -> Result<(String, String), CommandProblem> {
    let problem = |message: String| CommandProblem::new(message, range.clone());
    let Some((key, value)) = setting
        .split_once('=')
        .filter(|(key, _)| !key.trim().is_empty())
    else {
        return Err(problem(format!("`{setting}` is not KEY=VALUE")).hint("such as linger.ms=20"));
    };
    let (key, value) = (key.trim(), value.trim());
    let (client, given) = client.unwrap_or((ClientVersion::Java(KafkaVersion::DEFAULT), &[]));
    if let ClientVersion::Java(version) = client
        && !java::find(key).is_some_and(|known| known.is_known_to(version))
    {
        let names = java::table().filter(|known| known.is_known_to(version));
        let near = nearest(key, names.map(|known| known.name));
        return Err(problem(format!("a {version} client has no `{key}`"))
            .maybe(near, || "the client would ignore it".to_owned()));
    }
    if key == "transactional.id" {
        return Err(problem(
            "`transactional.id` cannot change within a run".to_owned(),
        ));
    }
    match refused(client, given, (key, value)).first() {
        Some(refused) => {
            let (error, text) = (refused.error.name(), refused.text.trim_end_matches('.'));
            let problem = problem(format!("{error}: {text}"));
            Err(match &refused.hint {
                Some(hint) => problem.hint(hint.clone()),
                None => problem,
            })
        }
        None => Ok((key.to_owned(), value.to_owned())),
    }
}

/// What the client says against its configuration with this change.
fn refused(
    client: ClientVersion,
    given: &[(String, String)],
    (key, value): (&str, &str),
) -> Vec<ConfigProblem> {
    let mut pairs = given.to_vec();
    pairs.retain(|(given, _)| given != key);
    pairs.push((key.to_owned(), value.to_owned()));
    match client {
        ClientVersion::Java(version) => java::validate(version, &pairs).err(),
        ClientVersion::Rdkafka(version) => rdkafka::validate(version, &pairs).err(),
    }
    .unwrap_or_default()
}

/// A client's keys, with what they mean; a Java client's where the producer is not known.
pub(super) fn keys(client: Option<ClientVersion>) -> Vec<(&'static str, String)> {
    match client {
        Some(ClientVersion::Rdkafka(_)) => rdkafka::names()
            .filter(|(_, property)| property.role != rdkafka::Role::Consumer)
            .map(|(name, property)| (name, property.key.help.to_owned()))
            .collect(),
        _ => java::table()
            .map(|key| (key.name, key.help.to_owned()))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(setting: &str) -> Result<(String, String), CommandProblem> {
        let given = [("enable.idempotence".to_owned(), "true".to_owned())];
        let client = ClientVersion::Rdkafka(RdkafkaVersion::DEFAULT);
        parse(setting, Some((client, &given)), 0..setting.len())
    }

    #[test]
    fn a_change_of_librdkafka_is_checked_with_what_was_given_before() {
        assert!(change("linger.ms=20").is_ok());
        let refused = change("max.in.flight=6").unwrap_err().to_string();
        let text = "`max.in.flight` must be set <= 5 when `enable.idempotence` is true";
        assert!(refused.contains(text), "{refused}");
    }

    #[test]
    fn a_java_key_is_no_property_of_librdkafka() {
        let refused = change("buffer.memory=1").unwrap_err().to_string();
        assert!(
            refused.contains("No such configuration property"),
            "{refused}"
        );
    }

    #[test]
    fn librdkafkas_keys_are_offered_under_all_their_names_but_not_those_of_consumers() {
        let keys = keys(Some(ClientVersion::Rdkafka(RdkafkaVersion::DEFAULT)));
        let has = |name| keys.iter().any(|(key, _)| *key == name);
        assert!(has("linger.ms") && has("queue.buffering.max.ms"));
        assert!(!has("session.timeout.ms"));
    }
}
