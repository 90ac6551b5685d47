//! Times as texts, and back. All are in UTC.

/// The seconds of a day.
const DAY: i64 = 86_400;

/// Writes seconds since the epoch as `2026-11-20T02:00:00Z`.
pub fn shown_time(seconds: i64) -> String {
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let rest = seconds.rem_euclid(DAY);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Writes seconds since the epoch as the header `date` has them: `Fri, 20 Nov 2026 02:00:00 GMT`.
pub fn http_date(seconds: i64) -> String {
    // The epoch was a Thursday.
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, month, day) = civil(seconds.div_euclid(DAY));
    let at = |place: i64| usize::try_from(place).expect("days and months are counted from 0");
    let (name, month) = (DAYS[at(seconds.div_euclid(DAY).rem_euclid(7))], MONTHS[at(month - 1)]);
    let time = &shown_time(seconds)[11..19];
    format!("{name}, {day:02} {month} {year:04} {time} GMT")
}

/// Parses `20261120T020000Z` into seconds since the epoch.
pub fn parse_basic_time(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z')?;
    let (date, time) = text.split_once('T').filter(|(date, time)| date.len() == 8 && time.len() == 6)?;
    let number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<i64>().ok())?;
    let (year, month, day) = (number(date.get(..4)?)?, number(date.get(4..6)?)?, number(date.get(6..)?)?);
    let (hour, minute, second) = (number(time.get(..2)?)?, number(time.get(2..4)?)?, number(time.get(4..)?)?);
    let is_time = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    is_time.then(|| days(year, month, day) * DAY + hour * 3600 + minute * 60 + second)
}

/// Counts the days from the epoch to a date of the Gregorian calendar. The year begins in March here, so that the leap
/// day is its last one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Returns year, month and day of a number of days since the epoch.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}
