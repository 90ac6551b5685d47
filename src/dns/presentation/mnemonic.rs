//! Words for numbers in RDATA, as registries of IANA and BIND 9.18 spell them. Case does not matter.

use crate::dns::Rtype;

/// A word and its number.
type MnemonicNumber = (&'static str, u16);

/// Algorithms of DNSSEC (RFC 8624 section 3.1), with BIND's other spellings.
const ALGORITHMS: &[MnemonicNumber] = &[
    ("DELETE", 0),
    ("RSAMD5", 1),
    ("DH", 2),
    ("DSA", 3),
    ("ECC", 4),
    ("RSASHA1", 5),
    ("DSA-NSEC3-SHA1", 6),
    ("NSEC3DSA", 6),
    ("RSASHA1-NSEC3-SHA1", 7),
    ("NSEC3RSASHA1", 7),
    ("RSASHA256", 8),
    ("RSASHA512", 10),
    ("ECC-GOST", 12),
    ("ECCGOST", 12),
    ("ECDSAP256SHA256", 13),
    ("ECDSA256", 13),
    ("ECDSAP384SHA384", 14),
    ("ECDSA384", 14),
    ("ED25519", 15),
    ("ED448", 16),
    ("SM2SM3", 17),
    ("MLDSA44", 18),
    ("ECC-GOST12", 23),
    ("INDIRECT", 252),
    ("PRIVATEDNS", 253),
    ("PRIVATEOID", 254),
];

/// Digests of DS.
const DIGESTS: &[MnemonicNumber] =
    &[("SHA-1", 1), ("SHA1", 1), ("SHA-256", 2), ("SHA256", 2), ("GOST", 3), ("SHA-384", 4), ("SHA384", 4)];

/// Certificates (RFC 4398 section 2.1).
const CERTIFICATES: &[MnemonicNumber] = &[
    ("PKIX", 1),
    ("SPKI", 2),
    ("PGP", 3),
    ("IPKIX", 4),
    ("ISPKI", 5),
    ("IPGP", 6),
    ("ACPKIX", 7),
    ("IACPKIX", 8),
    ("URI", 253),
    ("OID", 254),
];

/// Protocols of keys (RFC 2535 section 3.1.3).
const KEY_PROTOCOLS: &[MnemonicNumber] =
    &[("NONE", 0), ("TLS", 1), ("EMAIL", 2), ("DNSSEC", 3), ("IPSEC", 4), ("ALL", 255)];

/// Flags of keys (RFC 2535 section 3.1.2, RFC 3757 section 2, RFC 5011 section 3).
const KEY_FLAGS: &[MnemonicNumber] = &[
    ("NOCONF", 0x4000),
    ("NOAUTH", 0x8000),
    ("NOKEY", 0xc000),
    ("USER", 0),
    ("ZONE", 0x0100),
    ("HOST", 0x0200),
    ("REVOKE", 0x0080),
    ("KSK", 0x0001),
];

/// Schemes of DSYNC (RFC 9859 section 2).
const SCHEMES: &[MnemonicNumber] = &[("NOTIFY", 1)];

/// Protocols of WKS.
const PROTOCOLS: &[MnemonicNumber] = &[("ICMP", 1), ("TCP", 6), ("UDP", 17)];

/// Services of WKS: those of RFC 1010 that are still in use, and a few newer ones. Others are written as their ports.
const SERVICES: &[MnemonicNumber] = &[
    ("ECHO", 7),
    ("DISCARD", 9),
    ("DAYTIME", 13),
    ("FTP-DATA", 20),
    ("FTP", 21),
    ("SSH", 22),
    ("TELNET", 23),
    ("SMTP", 25),
    ("TIME", 37),
    ("DOMAIN", 53),
    ("TFTP", 69),
    ("GOPHER", 70),
    ("FINGER", 79),
    ("HTTP", 80),
    ("WWW", 80),
    ("KERBEROS", 88),
    ("POP3", 110),
    ("SUNRPC", 111),
    ("NNTP", 119),
    ("NTP", 123),
    ("IMAP", 143),
    ("IMAP2", 143),
    ("SNMP", 161),
    ("LDAP", 389),
    ("HTTPS", 443),
];

/// The number that a word means, or that it says in decimal digits.
fn number(word: &[u8], mnemonics: &[MnemonicNumber]) -> Option<u16> {
    let known = mnemonics.iter().find(|(mnemonic, _)| word.eq_ignore_ascii_case(mnemonic.as_bytes()));
    known.map(|(_, number)| *number).or_else(|| super::digits(word)?.try_into().ok())
}

/// As [`number`], of at most 255.
fn octet(word: &[u8], mnemonics: &[MnemonicNumber]) -> Option<u8> {
    number(word, mnemonics)?.try_into().ok()
}

/// An algorithm of DNSSEC.
pub fn algorithm(word: &[u8]) -> Option<u8> {
    octet(word, ALGORITHMS)
}

/// A digest of DS.
pub fn digest(word: &[u8]) -> Option<u8> {
    octet(word, DIGESTS)
}

/// A kind of certificate.
pub fn certificate(word: &[u8]) -> Option<u16> {
    number(word, CERTIFICATES)
}

/// The protocol of a key.
pub fn key_protocol(word: &[u8]) -> Option<u8> {
    octet(word, KEY_PROTOCOLS)
}

/// The flags of a key: a number, or words with `|` between them.
pub fn key_flags(word: &[u8]) -> Option<u16> {
    let flags = word.split(|octet| *octet == b'|').map(|flag| number(flag, KEY_FLAGS));
    flags.reduce(|one, other| Some(one? | other?))?
}

/// A scheme of DSYNC.
pub fn scheme(word: &[u8]) -> Option<u8> {
    octet(word, SCHEMES)
}

/// A protocol of WKS.
pub fn protocol(word: &[u8]) -> Option<u8> {
    octet(word, PROTOCOLS)
}

/// A service of WKS.
pub fn service(word: &[u8]) -> Option<u16> {
    number(word, SERVICES)
}

/// A type: its mnemonic, or `TYPE` and its number. The library lacks the hyphen of NSAP-PTR.
pub fn rtype(word: &[u8]) -> Option<Rtype> {
    let upper = str::from_utf8(word).ok()?.to_ascii_uppercase();
    if upper == "NSAP-PTR" { Some(Rtype::NSAPPTR) } else { upper.parse().ok() }
}
