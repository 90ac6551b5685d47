//! The serial that a zone file gets when its contents change.
//!
//! Comes in: the serial that it has, and the day. Goes out: one that is later for secondaries (RFC 1982). Pure.

use jiff::civil::Date;

use crate::dns::Serial;

/// The first year that a serial may contain; with an earlier one it is a number that looks like a date by chance.
const FIRST_YEAR: i16 = 1990;

/// The serial after `serial`.
///
/// A serial that reads as a day and a number of two digits (YYYYMMDDnn, as RFC 1912 section 2.2 recommends), with a day
/// not after tomorrow, continues so: the day becomes today, or the number the next one, whichever gives more. Any other
/// serial is a counter. A counter never becomes 0, as in BIND: some software treats 0 as no serial at all.
pub fn next(serial: Serial, today: Date) -> Serial {
    let counted = match serial.into_int().wrapping_add(1) {
        0 => 1,
        counted => counted,
    };
    match date_of(serial) {
        Some(date) if date <= today.tomorrow().unwrap_or(today) => Serial(counted.max(first_of(today))),
        _ => Serial(counted),
    }
}

/// The date in a serial.
fn date_of(serial: Serial) -> Option<Date> {
    let digits = serial.into_int() / 100;
    let (year, month, day) = (digits / 10_000, digits / 100 % 100, digits % 100);
    let date = Date::new(i16::try_from(year).ok()?, month as i8, day as i8).ok()?;
    (date.year() >= FIRST_YEAR).then_some(date)
}

/// The first serial of a day; 0 where the day is long ago.
fn first_of(day: Date) -> u32 {
    let year = u32::try_from(day.year()).unwrap_or(0);
    let digits = year * 10_000 + day.month() as u32 * 100 + day.day() as u32;
    digits.checked_mul(100).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The serial after one on 2026-11-20.
    fn after(serial: u32) -> u32 {
        next(Serial(serial), Date::constant(2026, 11, 20)).into_int()
    }

    #[test]
    fn a_date_goes_on_as_a_date() {
        assert_eq!(after(2026111907), 2026112000);
        assert_eq!(after(1990010100), 2026112000);
        assert_eq!(after(2026112000), 2026112001);
        assert_eq!(after(2026112099), 2026112100);
        assert_eq!(after(2026112199), 2026112200);
    }

    #[test]
    fn what_is_no_date_of_the_past_is_a_counter() {
        assert_eq!(after(1), 2);
        assert_eq!(after(1_700_000_000), 1_700_000_001);
        assert_eq!(after(1989123100), 1989123101);
        assert_eq!(after(2026113100), 2026113101);
        assert_eq!(after(2026022900), 2026022901);
        assert_eq!(after(2026112200), 2026112201);
        assert_eq!(after(u32::MAX - 1), u32::MAX);
        assert_eq!(after(u32::MAX), 1);
    }

    proptest! {
        #[test]
        fn the_next_serial_is_a_later_one(
            serial in prop_oneof![any::<u32>(), 1_980_000_000u32..2_030_000_000],
            days in 0i64..20_000,
        ) {
            let today = Date::constant(1985, 1, 1).saturating_add(jiff::Span::new().days(days));
            let serial = Serial(serial);
            prop_assert!(next(serial, today) > serial);
        }
    }
}
