//! The short names that a template gives at one location, by number.

use crate::inventory::template::{MAX_LABEL, ShortnameTemplate, TemplatePiece};

/// A template at one location: number n gives one label, and no two numbers the same.
///
/// Numbers start at 1. Without a bucket the index is n; with it the index is n mod 10^N and the bucket, one digit, n
/// div 10^N, where N is the index's width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameSeries {
    /// The pieces in order.
    parts: Vec<SeriesPart>,
    /// The octets of all pieces whose length is fixed.
    fixed: usize,
    /// The digits of the index, where they are fixed.
    width: Option<u8>,
    /// How many numbers there are; `None` where the index may have any length.
    capacity: Option<u64>,
}

/// One piece at a given location.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SeriesPart {
    /// Text that is used unchanged.
    Text(Vec<u8>),
    /// The bucket: one digit.
    Bucket,
    /// The index.
    Index,
}

/// Why a template gives no names at a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesError {
    /// The location has a character that is not allowed in a label.
    BadLocation,
    /// Even the shortest name would be longer than a label may be; its octets.
    TooLong(usize),
}

impl NameSeries {
    /// Takes a template at a location, which is written in lower case in names.
    ///
    /// Errors: [`SeriesError`].
    pub fn new(template: &ShortnameTemplate, location: &str) -> Result<NameSeries, SeriesError> {
        let pieces = template.pieces();
        let is_label = |text: &str| text.bytes().all(|octet| octet.is_ascii_alphanumeric() || b"-_".contains(&octet));
        if template.has_location() && !is_label(location) {
            return Err(SeriesError::BadLocation);
        }
        let has_bucket = pieces.contains(&TemplatePiece::Bucket);
        let mut width = None;
        let parts: Vec<SeriesPart> = pieces
            .iter()
            .map(|piece| match piece {
                TemplatePiece::Literal(text) => SeriesPart::Text(text.as_bytes().to_vec()),
                TemplatePiece::Location => SeriesPart::Text(location.to_ascii_lowercase().into_bytes()),
                TemplatePiece::Bucket => SeriesPart::Bucket,
                TemplatePiece::Index { width: digits } => {
                    width = *digits;
                    SeriesPart::Index
                }
            })
            .collect();
        let text_length = |part: &SeriesPart| if let SeriesPart::Text(text) = part { text.len() } else { 0 };
        let fixed = parts.iter().map(text_length).sum::<usize>() + usize::from(has_bucket);
        let shortest = fixed + width.map_or(1, usize::from);
        if shortest > MAX_LABEL {
            return Err(SeriesError::TooLong(shortest));
        }
        let capacity = width.map(|width| 10_u64.pow(u32::from(width) + u32::from(has_bucket)) - 1);
        Ok(NameSeries { parts, fixed, width, capacity })
    }

    /// How many names there are; `None` where only the length of a label bounds them.
    pub fn capacity(&self) -> Option<u64> {
        self.capacity
    }

    /// The label of a number from 1; `None` where the width is used up.
    pub fn label(&self, number: u64) -> Option<Vec<u8>> {
        if number == 0 || self.capacity.is_some_and(|capacity| number > capacity) {
            return None;
        }
        let (bucket, index) = self.split(number);
        let mut digits = [0; DIGITS];
        let index = digits_of(index, &mut digits);
        let zeros = self.width.map_or(0, |width| usize::from(width).saturating_sub(index.len()));
        let mut label = Vec::with_capacity(self.fixed + zeros + index.len());
        for part in &self.parts {
            match part {
                SeriesPart::Text(text) => label.extend_from_slice(text),
                SeriesPart::Bucket => label.push(b'0' + bucket),
                SeriesPart::Index => {
                    label.extend(std::iter::repeat_n(b'0', zeros));
                    label.extend_from_slice(index);
                }
            }
        }
        (label.len() <= MAX_LABEL).then_some(label)
    }

    /// The number whose label this is, in lower case; `None` where no number has it.
    pub fn number_of(&self, label: &[u8]) -> Option<u64> {
        let digits = label.len().checked_sub(self.fixed)?;
        if self.width.is_some_and(|width| usize::from(width) != digits) {
            return None;
        }
        let (mut rest, mut bucket, mut index) = (label, 0, 0);
        for part in &self.parts {
            let length = match part {
                SeriesPart::Text(text) => text.len(),
                SeriesPart::Bucket => 1,
                SeriesPart::Index => digits,
            };
            let (own, behind) = rest.split_at_checked(length)?;
            match part {
                SeriesPart::Text(text) if text == own => {}
                SeriesPart::Text(_) => return None,
                SeriesPart::Bucket => bucket = decimal(own)?,
                SeriesPart::Index => index = decimal(own)?,
            }
            rest = behind;
        }
        let number = self
            .width
            .map_or(Some(index), |width| 10_u64.pow(u32::from(width)).checked_mul(bucket)?.checked_add(index))?;
        // Without a width a leading zero makes another label for the same number.
        (self.label(number)? == label).then_some(number)
    }

    /// The bucket and the index of a number.
    fn split(&self, number: u64) -> (u8, u64) {
        match self.width {
            Some(width) if self.parts.contains(&SeriesPart::Bucket) => {
                let each = 10_u64.pow(u32::from(width));
                ((number / each) as u8, number % each)
            }
            _ => (0, number),
        }
    }
}

/// How many decimal digits a number has at most.
const DIGITS: usize = 20;

/// The decimal digits of a number, written to the end of `digits`: millions of them are looked at.
fn digits_of(mut number: u64, digits: &mut [u8; DIGITS]) -> &[u8] {
    let mut from = DIGITS;
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[from..];
        }
    }
}

/// Reads decimal digits, nothing else.
fn decimal(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(text).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A template at the location `sas`.
    fn series(template: &str) -> NameSeries {
        NameSeries::new(&ShortnameTemplate::parse(template).unwrap(), "sas").unwrap()
    }

    /// The label of a number.
    fn label(series: &NameSeries, number: u64) -> Option<String> {
        series.label(number).map(|label| String::from_utf8(label).unwrap())
    }

    #[test]
    fn a_bucket_counts_the_times_that_the_index_was_used_up() {
        let series = series("{location}{bucket}-{index:04}");
        let shown = |number| label(&series, number);
        assert_eq!(shown(1).as_deref(), Some("sas0-0001"));
        assert_eq!(shown(9_999).as_deref(), Some("sas0-9999"));
        assert_eq!(shown(10_000).as_deref(), Some("sas1-0000"));
        assert_eq!(shown(99_999).as_deref(), Some("sas9-9999"));
        assert_eq!((shown(0), shown(100_000)), (None, None));
        assert_eq!(series.capacity(), Some(99_999));
    }

    #[test]
    fn without_a_width_the_index_grows() {
        let growing = NameSeries::new(&ShortnameTemplate::parse("x{index}y").unwrap(), "no label").unwrap();
        assert_eq!(growing.capacity(), None);
        assert_eq!(label(&growing, 123_456).as_deref(), Some("x123456y"));
        assert_eq!(growing.number_of(b"x12y"), Some(12));
    }

    #[test]
    fn a_label_has_one_number() {
        for template in ["{location}{bucket}-{index:04}", "{index:02}{location}", "x{index}1", "{index}", "a{index:09}"]
        {
            let series = series(template);
            for number in [1, 2, 9, 10, 99, 100, 1_234, 9_999, 10_000, 54_321, 99_999] {
                let label = series.label(number);
                assert_eq!(label.and_then(|label| series.number_of(&label)), series.label(number).map(|_| number));
            }
        }
        let wrong = |template: &str, label: &[u8]| assert_eq!(series(template).number_of(label), None, "{template}");
        wrong("x{index}", b"x07");
        wrong("x{index}", b"x");
        wrong("x{index}", b"x+7");
        wrong("x{index:02}", b"x7");
        wrong("x{index:02}", b"x00");
        wrong("{location}{index:02}", b"man07");
        wrong("{bucket}x{index:01}", b"0x0");
        wrong("x{index}", b"x99999999999999999999");
    }

    #[test]
    fn a_location_must_fit_a_label() {
        let template = ShortnameTemplate::parse("{location}-{index:02}").unwrap();
        assert_eq!(NameSeries::new(&template, "sas 1"), Err(SeriesError::BadLocation));
        assert_eq!(NameSeries::new(&template, &"s".repeat(61)), Err(SeriesError::TooLong(64)));
        assert_eq!(NameSeries::new(&template, "SAS").unwrap().label(7), Some(b"sas-07".to_vec()));
    }
}
