//! What distinguishes the ids of tasks.

use std::io;

use ring::rand;

/// 128 random bits in hexadecimal: numbers would repeat after a lost state.
///
/// Errors: the system gives no random numbers.
pub fn random_part() -> io::Result<String> {
    let octets = rand::generate::<[u8; 16]>(&rand::SystemRandom::new());
    let octets = octets.map_err(|_| io::Error::other("the system gives no random numbers"))?.expose();
    Ok(octets.iter().map(|octet| format!("{octet:02x}")).collect())
}
