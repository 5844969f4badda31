//! The keys of security in a client's configuration.
//!
//! Simplification: security has no effect on batching and delivery, so the simulation accepts
//! these keys and ignores them; only the mechanism's presence is checked, as the client does.

use super::super::definition::{ConfigKey, DefaultValue, Valid, ValueKind};

use ValueKind::{Boolean, Class, Double, Int, List, Long, Password, Short, String};

const fn key(
    name: &'static str,
    kind: ValueKind,
    default: &'static str,
    help: &'static str,
) -> ConfigKey {
    ConfigKey::new(name, kind, default, help).ignored()
}

/// A key of OAuth against an issuer of tokens, which came with KIP-768.
const fn oauth(
    name: &'static str,
    kind: ValueKind,
    default: &'static str,
    help: &'static str,
) -> ConfigKey {
    key(name, kind, default, help).since(3, 1)
}

/// The keys of security, in the client's order.
pub(in super::super) const SECURITY: &[ConfigKey] = &[
    key(
        "security.protocol",
        String,
        "PLAINTEXT",
        "How connections are encrypted and authenticated.",
    )
    .valid(Valid::OneOfIgnoringCase(&[
        "SASL_SSL",
        "PLAINTEXT",
        "SSL",
        "SASL_PLAINTEXT",
    ]))
    .medium(),
    key(
        "security.providers",
        String,
        "",
        "Classes that provide security algorithms.",
    )
    .null()
    .since(2, 4),
    key(
        "ssl.protocol",
        String,
        "TLSv1.3",
        "The protocol of encrypted connections.",
    )
    .medium(),
    key("ssl.provider", String, "", "Who provides the protocol.")
        .null()
        .medium(),
    key("ssl.cipher.suites", List, "", "Ciphers that may be used.")
        .valid(Valid::DistinctItems)
        .before(4, 2, DefaultValue::Null),
    key(
        "ssl.enabled.protocols",
        List,
        "TLSv1.2,TLSv1.3",
        "Protocols that may be used.",
    )
    .valid(Valid::DistinctItems)
    .medium(),
    key(
        "ssl.keystore.type",
        String,
        "JKS",
        "The format of the key store.",
    )
    .medium(),
    key(
        "ssl.keystore.location",
        String,
        "",
        "The file of the key store.",
    )
    .null()
    .high(),
    key(
        "ssl.keystore.password",
        Password,
        "",
        "The password of the key store.",
    )
    .null()
    .high(),
    key(
        "ssl.key.password",
        Password,
        "",
        "The password of the private key.",
    )
    .null()
    .high(),
    key("ssl.keystore.key", Password, "", "The private key itself.")
        .null()
        .high(),
    key(
        "ssl.keystore.certificate.chain",
        Password,
        "",
        "The certificates of the private key.",
    )
    .null()
    .high(),
    key(
        "ssl.truststore.certificates",
        Password,
        "",
        "The certificates to trust.",
    )
    .null()
    .high(),
    key(
        "ssl.truststore.type",
        String,
        "JKS",
        "The format of the trust store.",
    )
    .medium(),
    key(
        "ssl.truststore.location",
        String,
        "",
        "The file of the trust store.",
    )
    .null()
    .high(),
    key(
        "ssl.truststore.password",
        Password,
        "",
        "The password of the trust store.",
    )
    .null()
    .high(),
    key(
        "ssl.keymanager.algorithm",
        String,
        "SunX509",
        "How keys are managed.",
    ),
    key(
        "ssl.trustmanager.algorithm",
        String,
        "PKIX",
        "How trust is managed.",
    ),
    key(
        "ssl.endpoint.identification.algorithm",
        String,
        "https",
        "How the broker's name is checked.",
    ),
    key(
        "ssl.secure.random.implementation",
        String,
        "",
        "Where random numbers come from.",
    )
    .null(),
    key(
        "ssl.engine.factory.class",
        Class,
        "",
        "The class that makes encrypted connections.",
    )
    .null(),
    key(
        "sasl.kerberos.service.name",
        String,
        "",
        "The principal that brokers run as.",
    )
    .null()
    .medium(),
    key(
        "sasl.kerberos.kinit.cmd",
        String,
        "/usr/bin/kinit",
        "The command that fetches tickets.",
    ),
    key(
        "sasl.kerberos.ticket.renew.window.factor",
        Double,
        "0.8",
        "How much of a ticket's life passes before its renewal.",
    ),
    key(
        "sasl.kerberos.ticket.renew.jitter",
        Double,
        "0.05",
        "How much of that time is random.",
    ),
    key(
        "sasl.kerberos.min.time.before.relogin",
        Long,
        "60000",
        "How long at least lies between renewals.",
    ),
    key(
        "sasl.login.refresh.window.factor",
        Double,
        "0.8",
        "How much of a login's life passes before its refresh.",
    ),
    key(
        "sasl.login.refresh.window.jitter",
        Double,
        "0.05",
        "How much of that time is random.",
    ),
    key(
        "sasl.login.refresh.min.period.seconds",
        Short,
        "60",
        "How long at least lies between refreshes.",
    ),
    key(
        "sasl.login.refresh.buffer.seconds",
        Short,
        "300",
        "How long before its end a login is refreshed.",
    ),
    key(
        "sasl.mechanism",
        String,
        "GSSAPI",
        "How the client proves who it is.",
    )
    .medium(),
    key(
        "sasl.jaas.config",
        Password,
        "",
        "The login entry, with its secrets.",
    )
    .null()
    .medium(),
    key(
        "sasl.client.callback.handler.class",
        Class,
        "",
        "The class that answers the mechanism's questions.",
    )
    .null()
    .medium(),
    key(
        "sasl.login.callback.handler.class",
        Class,
        "",
        "The class that answers the login's questions.",
    )
    .null()
    .medium(),
    key("sasl.login.class", Class, "", "The class that logs in.")
        .null()
        .medium(),
    key(
        "sasl.login.connect.timeout.ms",
        Int,
        "",
        "How long connecting for a login may take.",
    )
    .null(),
    key(
        "sasl.login.read.timeout.ms",
        Int,
        "",
        "How long an answer to a login may take.",
    )
    .null(),
    key(
        "sasl.login.retry.backoff.max.ms",
        Long,
        "10000",
        "The longest wait between logins.",
    ),
    key(
        "sasl.login.retry.backoff.ms",
        Long,
        "100",
        "The first wait between logins.",
    ),
    oauth(
        "sasl.oauthbearer.jwt.retriever.class",
        Class,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        "The class that fetches tokens.",
    )
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.jwt.validator.class",
        Class,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        "The class that checks tokens.",
    )
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.scope",
        String,
        "",
        "The scope to ask for.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.client.credentials.client.id",
        String,
        "",
        "The client's name at the issuer.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.client.credentials.client.secret",
        Password,
        "",
        "The client's secret at the issuer.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.algorithm",
        String,
        "RS256",
        "How an assertion is signed.",
    )
    .valid(Valid::OneOfIgnoringCase(&["ES256", "RS256"]))
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.claim.aud",
        String,
        "",
        "Whom an assertion is meant for.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        Int,
        "300",
        "How long an assertion holds.",
    )
    .valid(Valid::Between(0, 86_400))
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.claim.iss",
        String,
        "",
        "Who issues an assertion.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.claim.jti.include",
        Boolean,
        "false",
        "Whether an assertion carries an id of its own.",
    )
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        Int,
        "60",
        "How long before its making an assertion holds already.",
    )
    .valid(Valid::Between(0, 3600))
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.claim.sub",
        String,
        "",
        "Whom an assertion is about.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.file",
        String,
        "",
        "The file of a ready assertion.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.private.key.file",
        String,
        "",
        "The file of the key that signs assertions.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.private.key.passphrase",
        Password,
        "",
        "The passphrase of that key.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.assertion.template.file",
        String,
        "",
        "The file that assertions are made after.",
    )
    .null()
    .medium()
    .since(4, 1),
    oauth(
        "sasl.oauthbearer.scope.claim.name",
        String,
        "scope",
        "The claim that carries the scope.",
    ),
    oauth(
        "sasl.oauthbearer.sub.claim.name",
        String,
        "sub",
        "The claim that carries the subject.",
    ),
    oauth(
        "sasl.oauthbearer.token.endpoint.url",
        String,
        "",
        "Where tokens are issued.",
    )
    .null()
    .medium(),
    oauth(
        "sasl.oauthbearer.jwks.endpoint.url",
        String,
        "",
        "Where keys for tokens are published.",
    )
    .null()
    .medium(),
    oauth(
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        Long,
        "3600000",
        "How old those keys may become.",
    ),
    oauth(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        Long,
        "10000",
        "The longest wait between attempts to fetch them.",
    ),
    oauth(
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        Long,
        "100",
        "The first wait between attempts to fetch them.",
    ),
    oauth(
        "sasl.oauthbearer.clock.skew.seconds",
        Int,
        "30",
        "How far clocks may differ.",
    ),
    oauth(
        "sasl.oauthbearer.expected.audience",
        List,
        "",
        "Whom a token must be meant for.",
    )
    .valid(Valid::DistinctItems)
    .before(4, 2, DefaultValue::Null),
    oauth(
        "sasl.oauthbearer.expected.issuer",
        String,
        "",
        "Who must have issued a token.",
    )
    .null(),
    oauth(
        "sasl.oauthbearer.header.urlencode",
        Boolean,
        "false",
        "Whether the client's name and secret travel URL-encoded.",
    )
    .since(3, 9),
];
