//! Addresses in `bootstrap.servers`, as the client reads them.
//!
//! Source: `ClientUtils.parseAndValidateAddresses`, `Utils.getHost`, `Utils.getPort`.

/// Why an address list is refused, in the client's words; nothing if it is not.
pub(super) fn refusal(addresses: &[String]) -> Option<String> {
    let mut named = addresses
        .iter()
        .filter(|address| !address.is_empty())
        .peekable();
    if named.peek().is_none() {
        return Some("No resolvable bootstrap urls given in bootstrap.servers".to_owned());
    }
    named.find_map(|address| match port(address) {
        None => Some(format!("Invalid url in bootstrap.servers: {address}")),
        Some(port) if port.parse::<u16>().is_err() => {
            Some(format!("Invalid port in bootstrap.servers: {address}"))
        }
        Some(_) => None,
    })
}

/// The digits behind the last colon of `host:port`, if the address has that form at all.
fn port(address: &str) -> Option<&str> {
    let is_label =
        |character: char| character.is_ascii_alphanumeric() || "-%._".contains(character);
    let without_scheme = match address.split_once("://") {
        Some((scheme, rest)) if scheme.chars().all(is_label) => rest,
        _ => address,
    };
    let (host, port) = without_scheme.rsplit_once(':')?;
    let host = host.strip_prefix('[').unwrap_or(host);
    let host = host.strip_suffix(']').unwrap_or(host);
    let is_host = host
        .chars()
        .all(|character| is_label(character) || character == ':');
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (is_host && is_port).then_some(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(addresses: &[&str]) -> Option<String> {
        refusal(
            &addresses
                .iter()
                .map(|&address| address.to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn names_numbers_and_schemes_are_addresses() {
        let good = [
            "kafka-1:9092",
            "10.0.0.1:9092",
            "[::1]:9092",
            "SASL_SSL://broker.example:9093",
        ];
        assert_eq!(refuse(&good), None);
    }

    #[test]
    fn an_address_without_a_port_is_no_url() {
        assert_eq!(
            refuse(&["kafka-1:9092", "kafka-2"]).as_deref(),
            Some("Invalid url in bootstrap.servers: kafka-2")
        );
    }

    #[test]
    fn a_port_has_an_end() {
        assert_eq!(
            refuse(&["kafka-1:65536"]).as_deref(),
            Some("Invalid port in bootstrap.servers: kafka-1:65536")
        );
    }

    #[test]
    fn an_empty_list_leads_nowhere() {
        let none = Some("No resolvable bootstrap urls given in bootstrap.servers");
        assert_eq!(refuse(&[]).as_deref(), none);
        assert_eq!(refuse(&[""]).as_deref(), none);
    }
}
