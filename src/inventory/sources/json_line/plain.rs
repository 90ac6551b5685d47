//! Lines as nearly all are written, read without the library.

use std::borrow::Cow;

use super::{LineFields, LineValue};

/// Reads a line that is one object of texts without escapes, lists of them, whole numbers, truth values and nulls, each known
/// key once; `None` for any other line, which the library reads, and of which it says what is wrong.
pub fn read<'a, F: LineFields<'a>>(line: &'a str) -> Option<F> {
    // Folding instead of `any` lets the compiler look at many octets at once.
    if line.bytes().fold(false, |found, octet| found | (octet < b' ')) {
        return None;
    }
    let mut reader = LineReader { line, at: 0 };
    let mut fields = F::default();
    reader.expect(b'{')?;
    loop {
        reader.expect(b'"')?;
        let key = reader.text()?;
        reader.expect(b':')?;
        let value = reader.scalar()?;
        if let Some((_, field)) = fields.field(key)
            && !matches!(std::mem::replace(field, value), LineValue::Absent)
        {
            return None;
        }
        match reader.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    (reader.at == line.len()).then_some(fields)
}

/// Marks the first of eight octets that is `octet` by its highest bit; none where none is. What is marked behind the
/// first may be another.
fn marks(eight: u64, octet: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let differing = eight ^ (ONES * u64::from(octet));
    differing.wrapping_sub(ONES) & !differing & (ONES << 7)
}

/// A line that is read from left to right.
struct LineReader<'a> {
    /// The line.
    line: &'a str,
    /// How many octets of it were read.
    at: usize,
}

impl<'a> LineReader<'a> {
    /// The next octet that is not a blank.
    fn next(&mut self) -> Option<u8> {
        loop {
            let octet = *self.line.as_bytes().get(self.at)?;
            self.at += 1;
            if octet != b' ' {
                return Some(octet);
            }
        }
    }

    /// Skips one octet, which must be this.
    fn expect(&mut self, octet: u8) -> Option<()> {
        (self.next()? == octet).then_some(())
    }

    /// Reads text from behind its first quote to behind its last.
    fn text(&mut self) -> Option<&'a str> {
        let octets = self.line.as_bytes();
        let mut end = self.at;
        while let Some(eight) = octets.get(end..).and_then(|rest| rest.first_chunk::<8>()) {
            let eight = u64::from_le_bytes(*eight);
            let found = marks(eight, b'"') | marks(eight, b'\\');
            if found != 0 {
                end += found.trailing_zeros() as usize / 8;
                break;
            }
            end += 8;
        }
        while !matches!(octets.get(end)?, b'"' | b'\\') {
            end += 1;
        }
        let text = self.line.get(self.at..end)?;
        self.at = end + 1;
        (octets[end] == b'"').then_some(text)
    }

    /// Reads a value; the caller checks what follows a number or a word.
    fn scalar(&mut self) -> Option<LineValue<'a>> {
        match self.next()? {
            b'"' => self.text().map(|text| LineValue::Text(Cow::Borrowed(text))),
            b't' => self.word("rue").map(|()| LineValue::Bool(true)),
            b'f' => self.word("alse").map(|()| LineValue::Bool(false)),
            b'n' => self.word("ull").map(|()| LineValue::Null),
            first @ b'1'..=b'9' => self.number(first).map(LineValue::Number),
            b'[' => self.texts().map(LineValue::Texts),
            _ => None,
        }
    }

    /// Reads a list of texts from behind its bracket.
    fn texts(&mut self) -> Option<Vec<Cow<'a, str>>> {
        let mut texts = Vec::new();
        let mut next = self.next()?;
        if next == b']' {
            return Some(texts);
        }
        while next == b'"' {
            texts.push(Cow::Borrowed(self.text()?));
            match self.next()? {
                b',' => next = self.next()?,
                b']' => return Some(texts),
                _ => return None,
            }
        }
        None
    }

    /// Skips the rest of a word.
    fn word(&mut self, rest: &str) -> Option<()> {
        let is_there = self.line.as_bytes()[self.at..].starts_with(rest.as_bytes());
        self.at += rest.len();
        is_there.then_some(())
    }

    /// Reads the digits of a number behind its first one.
    fn number(&mut self, first: u8) -> Option<u64> {
        let mut number = u64::from(first - b'0');
        while let Some(digit @ b'0'..=b'9') = self.line.as_bytes().get(self.at) {
            number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::LineRead;
    use super::*;

    /// The known keys of a line.
    const KEYS: [&str; 6] = ["time", "inv", "mac", "switch", "rack", "active"];

    /// Their values.
    #[derive(Debug, PartialEq, Default)]
    struct SampleFields<'a> {
        /// In the order of the keys.
        values: [LineValue<'a>; 6],
    }

    impl<'a> LineFields<'a> for SampleFields<'a> {
        fn field(&mut self, key: &str) -> Option<(&'static str, &mut LineValue<'a>)> {
            let place = KEYS.iter().position(|own| *own == key)?;
            Some((KEYS[place], &mut self.values[place]))
        }
    }

    #[test]
    fn what_is_read_is_what_the_library_reads() {
        let lines = [
            r#"{"time":"2026-11-20T00:54:42Z","inv":100144,"mac":"00:25:ff:34:73:90","switch":"iva1-s1","port":"ge1/0/1"}"#,
            r#"{ "inv": 18446744073709551615 , "active": false, "switch": null,"port":"7","port":true,"mac":"é"}"#,
            r#"{"active":true,"time":""}"#,
            r#"{"mac":[],"switch":["a", "b"],"rack":[ "c" ]}"#,
        ];
        for line in lines {
            let expected: LineRead<SampleFields<'_>> = serde_json::from_str(line).unwrap();
            assert_eq!((read(line), expected.twice), (Some(expected.fields), None), "{line}");
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_library() {
        let lines = [
            "",
            "{",
            "{}",
            "[]",
            r#"{"inv":1"#,
            r#"{"inv":1}x"#,
            r#"{"inv":1,}"#,
            r#"{"inv":01}"#,
            r#"{"inv":1.5}"#,
            r#"{"inv":1e5}"#,
            r#"{"inv":-1}"#,
            r#"{"inv":18446744073709551616}"#,
            r#"{"inv":0}"#,
            r#"{"mac":"\u0041"}"#,
            r#"{"mac\\":1}"#,
            r#"{"inv":1,"inv":1}"#,
            r#"{"inv":null,"inv":1}"#,
            r#"{"rack":{}}"#,
            r#"{"rack":[1]}"#,
            r#"{"rack":["a",]}"#,
            r#"{"rack":["a" "b"]}"#,
            r#"{"rack":["a""#,
            r#"{"rack":["a",1]}"#,
            r#"{"active":tru}"#,
            r#"{"active":trues}"#,
            r#"{"active":nul"#,
            r#"{"inv" 1}"#,
            r#"{"inv":1 "mac":""}"#,
            r#"{inv:1}"#,
            "{\"mac\":\"\t\"}",
            "{\t\"inv\":1}",
            r#"{"mac":"00"#,
            r#" {"inv":1} "#,
            r#"{"inv":}"#,
        ];
        for line in lines {
            assert_eq!(read::<SampleFields<'_>>(line), None, "{line}");
        }
    }
}
