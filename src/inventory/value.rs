//! The small values of an inventory: types that cannot hold a wrong one.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use ipnet::Ipv6Net;

use crate::dns::Ttl;
use crate::document::text_in_documents;

/// An inventory number: who a host is, for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inv(pub u64);

impl fmt::Display for Inv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Inv {
    type Err = ();

    /// Reads decimal digits, nothing else: no sign, no blanks.
    fn from_str(text: &str) -> Result<Inv, ()> {
        let digits = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
        if digits { text.parse().map(Inv).map_err(|_| ()) } else { Err(()) }
    }
}

/// The MAC address of one interface: neither a group address nor all zeros.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac([u8; 6]);

/// Why a text is not a MAC of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MacError {
    /// Not twelve hexadecimal digits with colons, dashes, dots or nothing between them.
    Malformed,
    /// The group bit is set: no interface has such an address (IEEE 802-2014 section 8.2).
    Multicast,
    /// All zeros.
    Zero,
}

impl fmt::Display for MacError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MacError::Malformed => "is not twelve hexadecimal digits",
            MacError::Multicast => "is a multicast address",
            MacError::Zero => "is all zeros",
        })
    }
}

impl Mac {
    /// The six octets.
    pub fn octets(self) -> [u8; 6] {
        self.0
    }

    /// Checks octets.
    pub fn from_octets(octets: [u8; 6]) -> Result<Mac, MacError> {
        match octets {
            [0, 0, 0, 0, 0, 0] => Err(MacError::Zero),
            [first, ..] if first & 1 == 1 => Err(MacError::Multicast),
            _ => Ok(Mac(octets)),
        }
    }
}

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Mac, MacError> {
        if let Some(octets) = pairs(text.as_bytes()) {
            return Mac::from_octets(octets);
        }
        let mut octets = [0; 6];
        let mut digits = 0;
        for octet in text.bytes() {
            match (octet as char).to_digit(16) {
                Some(_) if digits == 12 => return Err(MacError::Malformed),
                Some(value) => {
                    octets[digits / 2] = octets[digits / 2] << 4 | value as u8;
                    digits += 1;
                }
                // A separator is between digits, and only one at a time.
                None if !matches!(octet, b':' | b'-' | b'.') => return Err(MacError::Malformed),
                None => {}
            }
        }
        let separators = text.len() - digits;
        let doubled = text.as_bytes().windows(2).any(|pair| pair.iter().all(|octet| !octet.is_ascii_hexdigit()));
        let edge = |octet: Option<&u8>| octet.is_some_and(|octet| !octet.is_ascii_hexdigit());
        let bytes = text.as_bytes();
        if digits != 12 || separators > 11 || doubled || edge(bytes.first()) || edge(bytes.last()) {
            return Err(MacError::Malformed);
        }
        Mac::from_octets(octets)
    }
}

/// The octets of a MAC as nearly all are written: pairs of digits with a colon or a dash between them; `None` for
/// another spelling, or none.
fn pairs(text: &[u8]) -> Option<[u8; 6]> {
    let text: &[u8; 17] = text.try_into().ok()?;
    let digit = |at: usize| (text[at] as char).to_digit(16).map(|value| value as u8);
    let mut octets = [0; 6];
    for (place, octet) in octets.iter_mut().enumerate() {
        let at = 3 * place;
        if at > 0 && !matches!(text[at - 1], b':' | b'-') {
            return None;
        }
        *octet = digit(at)? << 4 | digit(at + 1)?;
    }
    Some(octets)
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A VLAN number, 1 to 4094 (IEEE 802.1Q section 9.6: 0 and 4095 are reserved).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vlan(u16);

impl Vlan {
    /// Checks a number.
    pub fn new(number: u64) -> Option<Vlan> {
        u16::try_from(number).ok().filter(|number| (1..=4094).contains(number)).map(Vlan)
    }
}

impl fmt::Display for Vlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A /64: the upper half of its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Net64(u64);

impl Net64 {
    /// Takes a network that is a /64 without host bits.
    pub fn new(network: Ipv6Net) -> Option<Net64> {
        let whole = network.prefix_len() == 64 && network.addr() == network.network();
        whole.then(|| Net64((u128::from(network.network()) >> 64) as u64))
    }

    /// The address with this lower half.
    pub fn address(self, interface_id: u64) -> Ipv6Addr {
        Ipv6Addr::from(u128::from(self.0) << 64 | u128::from(interface_id))
    }
}

impl fmt::Display for Net64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/64", self.address(0))
    }
}

/// A host-based-firewall project id: 32 bits, written as up to 8 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HbfProjectId(pub u32);

impl FromStr for HbfProjectId {
    type Err = ();

    fn from_str(text: &str) -> Result<HbfProjectId, ()> {
        let fits = (1..=8).contains(&text.len()) && text.bytes().all(|octet| octet.is_ascii_hexdigit());
        if fits { u32::from_str_radix(text, 16).map(HbfProjectId).map_err(|_| ()) } else { Err(()) }
    }
}

impl fmt::Display for HbfProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// A point in time, in nanoseconds since 1970-01-01T00:00:00Z; years 1678 to 2262.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    /// Takes a timestamp; `None` where it is outside the years above.
    pub fn from_timestamp(timestamp: jiff::Timestamp) -> Option<Time> {
        i64::try_from(timestamp.as_nanosecond()).ok().map(Time)
    }

    /// Takes nanoseconds since 1970-01-01T00:00:00Z.
    pub const fn from_nanos(nanos: i64) -> Time {
        Time(nanos)
    }

    /// The nanoseconds since 1970-01-01T00:00:00Z.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// The day, in UTC.
    pub fn date(self) -> jiff::civil::Date {
        self.to_timestamp().to_zoned(jiff::tz::TimeZone::UTC).date()
    }

    /// The library's form of it.
    fn to_timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_nanosecond(i128::from(self.0)).expect("years 1678 to 2262 exist")
    }

    /// The whole second that it is in.
    pub fn to_second(self) -> Time {
        const NANOS: i64 = SECOND as i64;
        Time(self.0.saturating_sub(self.0.rem_euclid(NANOS)))
    }

    /// The first whole second from it on.
    pub fn from_second(self) -> Time {
        let second = self.to_second();
        if second == self { self } else { second.plus(Duration::from_secs(1)) }
    }

    /// How much later this is than `earlier`; `None` where it is not later.
    pub fn since(self, earlier: Time) -> Option<Duration> {
        let nanos = i128::from(self.0) - i128::from(earlier.0);
        u128::try_from(nanos).ok().map(Duration)
    }

    /// The time that is `duration` before this one, as far as times reach.
    pub fn minus(self, duration: Duration) -> Time {
        let nanos = i128::from(self.0) - duration.0 as i128;
        Time(nanos.max(i128::from(i64::MIN)) as i64)
    }

    /// The time that is `duration` after this one, as far as times reach.
    pub fn plus(self, duration: Duration) -> Time {
        let nanos = i128::from(self.0) + duration.0 as i128;
        Time(nanos.min(i128::from(i64::MAX)) as i64)
    }
}

impl FromStr for Time {
    type Err = ();

    /// Reads RFC 3339: a date, a time and an offset.
    fn from_str(text: &str) -> Result<Time, ()> {
        if let Some(time) = plain_time(text.as_bytes()) {
            return Ok(time);
        }
        // The library reads more than RFC 3339: week dates, times without seconds, and a zone in brackets.
        let shape = text.as_bytes();
        let digits = |range: std::ops::Range<usize>| shape[range].iter().all(u8::is_ascii_digit);
        let plain = shape.len() >= 20
            && digits(0..4)
            && shape[4] == b'-'
            && digits(5..7)
            && shape[7] == b'-'
            && digits(8..10)
            && matches!(shape[10], b'T' | b't' | b' ')
            && digits(11..13)
            && shape[13] == b':'
            && digits(14..16)
            && shape[16] == b':'
            && digits(17..19)
            && !text.contains(['[', ',']);
        if !plain {
            return Err(());
        }
        Time::from_timestamp(text.parse().map_err(|_| ())?).ok_or(())
    }
}

/// Reads a time as nearly all exports write it, `2026-11-20T01:00:00Z`; `None` for another spelling, or none.
fn plain_time(text: &[u8]) -> Option<Time> {
    let text: &[u8; 20] = text.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'Z')];
    if marks.iter().any(|(at, mark)| text[*at] != *mark) {
        return None;
    }
    let pair = |at: usize| {
        let (tens, ones) = (text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0'));
        (tens < 10 && ones < 10).then(|| i64::from(tens * 10 + ones))
    };
    let (year, month, day) = (pair(0)? * 100 + pair(2)?, pair(5)?, pair(8)?);
    let (hour, minute, second) = (pair(11)?, pair(14)?, pair(17)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => return None,
    };
    let is_time = (1..=days).contains(&day) && hour < 24 && minute < 60 && second < 60;
    // All times of these years fit.
    if !is_time || !(1700..2200).contains(&year) {
        return None;
    }
    // Counted from March on, so that the day of leap years is the last: the n-th month then begins (153 n + 2) / 5 days
    // later.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 1;
    /// The days from 0000-03-01 to 1970-01-01.
    const TO_1970: i64 = 719_468;
    let seconds = (days - TO_1970) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(Time(seconds * SECOND as i64))
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_timestamp().fmt(f)
    }
}

/// A length of time in nanoseconds, at most 1000 years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u128);

/// Nanoseconds in a second.
const SECOND: u128 = 1_000_000_000;

impl From<Ttl> for Duration {
    fn from(ttl: Ttl) -> Duration {
        Duration::from_secs(u64::from(ttl.as_secs()))
    }
}

impl Duration {
    /// Whole seconds.
    pub const fn from_secs(seconds: u64) -> Duration {
        Duration(seconds as u128 * SECOND)
    }

    /// What a clock measured.
    pub const fn measured(took: std::time::Duration) -> Duration {
        Duration(took.as_nanos())
    }

    /// The whole seconds in it.
    pub fn as_secs(self) -> u64 {
        (self.0 / SECOND) as u64
    }

    /// This, and then another.
    pub fn plus(self, other: Duration) -> Duration {
        Duration(self.0 + other.0)
    }

    /// The same as the standard library has it; beyond 584 years it is cut.
    pub fn as_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(u64::try_from(self.0).unwrap_or(u64::MAX))
    }
}

text_in_documents!(Inv, |text| text.parse().map_err(|()| format!("`{text}` is not an inventory number")));
text_in_documents!(Time, |text| text.parse().map_err(|()| format!("`{text}` is not a time of RFC 3339")));
text_in_documents!(Duration, |text| text
    .parse()
    .map_err(|()| format!("`{text}` is not a length of time such as `1h`")));

/// Whether a name that was given up then is not to be given again yet: only longer ago than the cooldown is enough.
pub fn is_cooling(released: Time, now: Time, cooldown: Duration) -> bool {
    // A time to come is not longer ago either.
    now.since(released).is_none_or(|age| age <= cooldown)
}

/// How far after the clock a date may be, for clocks that differ (the documented formats' bound).
pub const CLOCK_SKEW: Duration = Duration::from_secs(300);

/// The units of a duration, largest first, in seconds.
const UNITS: [(&str, u64); 5] = [("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

impl FromStr for Duration {
    type Err = ();

    /// Reads whole numbers with units, largest first: `7d`, `1h30m`, `0s`.
    fn from_str(text: &str) -> Result<Duration, ()> {
        let mut seconds: u64 = 0;
        let mut rest = text;
        let mut units = UNITS.iter();
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: u64 = rest[..digits].parse().map_err(|_| ())?;
            let (unit, factor) = units.find(|(unit, _)| rest[digits..].starts_with(unit)).ok_or(())?;
            seconds = number.checked_mul(*factor).and_then(|more| seconds.checked_add(more)).ok_or(())?;
            rest = &rest[digits + unit.len()..];
        }
        let sensible = !text.is_empty() && seconds <= 1000 * 366 * 86_400;
        if sensible { Ok(Duration::from_secs(seconds)) } else { Err(()) }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.as_secs();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, factor) in UNITS.into_iter().skip(1) {
            if rest >= factor {
                write!(f, "{}{unit}", rest / factor)?;
                rest %= factor;
            }
        }
        Ok(())
    }
}

/// A number of octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

/// The units of a size, largest first, in octets (IEC 80000-13).
const SIZE_UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Size {
    /// So many octets.
    pub const fn of(octets: u64) -> Size {
        Size(octets)
    }

    /// How many octets it is.
    pub const fn octets(self) -> u64 {
        self.0
    }
}

impl FromStr for Size {
    type Err = ();

    /// Reads a whole number with a unit, above zero: `512MiB`.
    fn from_str(text: &str) -> Result<Size, ()> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = text[..digits].parse().map_err(|_| ())?;
        let (_, factor) = SIZE_UNITS.iter().find(|(unit, _)| *unit == &text[digits..]).ok_or(())?;
        number.checked_mul(*factor).filter(|octets| *octets > 0).map(Size).ok_or(())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, factor): &&(&str, u64)| self.0.is_multiple_of(*factor);
        let (unit, factor) = SIZE_UNITS.iter().find(fits).expect("octets fit");
        write!(f, "{}{unit}", self.0 / factor)
    }
}

/// A share, in millionths of the whole, so that `0.5%` and `1%` are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(u32);

impl Percent {
    /// Whole percents, at most 100.
    pub const fn from_whole(percent: u32) -> Percent {
        Percent(percent * 10_000)
    }

    /// The share of `whole`, rounded down.
    pub fn of(self, whole: usize) -> usize {
        (whole as u128 * u128::from(self.0) / 1_000_000) as usize
    }
}

impl FromStr for Percent {
    type Err = ();

    /// Reads `10%` or `0.5%`: 0 to 100, at most four decimals.
    fn from_str(text: &str) -> Result<Percent, ()> {
        let number = text.strip_suffix('%').ok_or(())?;
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
        if whole.is_empty() || whole.len() > 3 || decimals.len() > 4 || !digits(whole) || !digits(decimals) {
            return Err(());
        }
        let millionths: u32 = format!("{whole}{decimals:0<4}").parse().map_err(|_| ())?;
        if millionths <= 1_000_000 { Ok(Percent(millionths)) } else { Err(()) }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.0) / 10_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macs_come_in_four_spellings() {
        for text in ["78:e3:b5:08:93:98", "78-E3-B5-08-93-98", "78e3.b508.9398", "78e3b5089398"] {
            assert_eq!(text.parse::<Mac>().unwrap().to_string(), "78:e3:b5:08:93:98");
        }
        for text in
            ["", "78:e3:b5:08:93", "78:e3:b5:08:93:98:1", "78::e3:b5:08:93:98", ":78e3b5089398", "78 e3b5089398"]
        {
            assert_eq!(text.parse::<Mac>(), Err(MacError::Malformed), "{text}");
        }
        assert_eq!("01:00:5e:00:00:01".parse::<Mac>(), Err(MacError::Multicast));
        assert_eq!("000000000000".parse::<Mac>(), Err(MacError::Zero));
    }

    #[test]
    fn sizes_read_and_print() {
        for (text, octets, shown) in [
            ("512MiB", 512 << 20, "512MiB"),
            ("1024KiB", 1 << 20, "1MiB"),
            ("1000B", 1000, "1000B"),
            ("2GiB", 2 << 30, "2GiB"),
        ] {
            let size = text.parse::<Size>().unwrap();
            assert_eq!((size.octets(), size.to_string().as_str()), (octets, shown));
        }
        for text in ["", "5", "MiB", "0B", "1MB", "1 MiB", "-1B", "1.5GiB", "99999999999GiB", "1MiB1B"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn durations_read_and_print() {
        for (text, shown) in [("7d", "7d"), ("90m", "1h30m"), ("1w", "7d"), ("0s", "0s"), ("1h30m", "1h30m")] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), shown);
        }
        for text in ["", "7", "d", "1h1d", "-1h", "1.5h", "99999999999999999999d", "1h 1m"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }

    #[test]
    fn percents_are_exact() {
        assert_eq!("0.5%".parse::<Percent>().unwrap().of(1000), 5);
        assert_eq!("1%".parse::<Percent>().unwrap().of(199), 1);
        for text in ["", "%", "10", "101%", "-1%", "1e1%", "1.23456%"] {
            assert!(text.parse::<Percent>().is_err(), "{text}");
        }
        assert_eq!("12.5%".parse::<Percent>().unwrap().to_string(), "12.5%");
    }

    #[test]
    fn project_ids_are_hexadecimal_text() {
        assert_eq!("1478".parse(), Ok(HbfProjectId(0x1478)));
        assert_eq!("12e5".parse(), Ok(HbfProjectId(0x12e5)));
        for text in ["", "123456789", "0x12", "+12", "12.5"] {
            assert!(text.parse::<HbfProjectId>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_day_of_a_time_is_that_in_utc() {
        let date = |text: &str| text.parse::<Time>().unwrap().date().to_string();
        assert_eq!(date("2026-11-20T23:59:59Z"), "2026-11-20");
        assert_eq!(date("2026-11-21T01:59:59+02:00"), "2026-11-20");
    }

    #[test]
    fn times_are_rfc_3339() {
        let time: Time = "2026-11-20T01:00:00Z".parse().unwrap();
        assert_eq!(time.to_string(), "2026-11-20T01:00:00Z");
        assert_eq!("2026-11-20T03:00:00+02:00".parse(), Ok(time));
        for text in ["", "2026-11-20", "2026-11-20T01:00:00", "yesterday", "20261120T010000Z", "2026-13-01T00:00:00Z"] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
    }

    #[test]
    fn plain_times_are_those_of_the_library() {
        let by_library = |text: &str| text.parse::<jiff::Timestamp>().ok().and_then(Time::from_timestamp);
        let mut day: jiff::civil::Date = "1700-01-01".parse().unwrap();
        while day.year() < 2200 {
            let text = format!("{day}T23:59:58Z");
            assert!(plain_time(text.as_bytes()).is_some(), "{text}");
            assert_eq!(plain_time(text.as_bytes()), by_library(&text), "{text}");
            day = day.tomorrow().unwrap();
        }
        for text in ["2026-02-29T00:00:00Z", "2026-00-01T00:00:00Z", "2026-11-31T00:00:00Z", "2026-11-00T00:00:00Z"] {
            assert!(plain_time(text.as_bytes()).is_none() && text.parse::<Time>().is_err(), "{text}");
        }
        for text in ["2026-11-20T24:00:00Z", "2026-11-20T00:60:00Z", "2026-11-20T00:00:6:Z", "2026-11-20T00:00:61Z"] {
            assert!(plain_time(text.as_bytes()).is_none() && text.parse::<Time>().is_err(), "{text}");
        }
    }

    #[test]
    fn vlans_and_networks_have_bounds() {
        assert!(Vlan::new(0).is_none() && Vlan::new(4095).is_none() && Vlan::new(4094).is_some());
        assert!(Net64::new("2a02:6b8:0:1600::/63".parse().unwrap()).is_none());
        assert!(Net64::new("2a02:6b8::1/64".parse().unwrap()).is_none());
        assert_eq!(Net64::new("2a02:6b8::/64".parse().unwrap()).unwrap().to_string(), "2a02:6b8::/64");
    }
}
