//! Signatures are those of botocore, the library of AWS's own tools, for requests of all shapes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::http::HttpMethod;
use crate::provider::aws::credentials::AwsCredentials;
use crate::provider::aws::sign::{AwsRequest, SigningScope, sign};
use crate::provider::url::{encode_query, encode_segment};

/// How many requests are signed.
const REQUESTS: usize = 400;

/// What they are made from.
const SEED: u64 = 20_261_130;

/// RequestNumbers that look random (SplitMix64).
struct RequestNumbers(u64);

impl RequestNumbers {
    /// A number below another one.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }

    /// One of some.
    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A list of at most so many.
    fn list<T>(&mut self, most: usize, mut make: impl FnMut(&mut RequestNumbers) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| make(self)).collect()
    }
}

/// Parts of texts, many of which are written in another way in URLs.
const PARTS: [&str; 24] = [
    "a",
    "Zone",
    "0",
    "-",
    "_",
    ".",
    "~",
    " ",
    "  ",
    "+",
    "/",
    "%",
    "%2F",
    "=",
    "&",
    "?",
    "#",
    ":",
    "*",
    "'",
    "ü",
    "日本",
    "\u{1f30d}",
    "\\052.example.net.",
];

/// A text, often empty.
fn text(numbers: &mut RequestNumbers) -> String {
    numbers.list(4, |numbers| numbers.one(&PARTS)).concat()
}

/// A path as it is sent: encoded, with what leads back in it now and then.
fn path(numbers: &mut RequestNumbers) -> String {
    let segment = |numbers: &mut RequestNumbers| match numbers.below(8) {
        0 => numbers.one(&[".", "..", "", "%2e", "a%2fb", "hostedzone"]).to_owned(),
        _ => encode_segment(&text(numbers)),
    };
    let segments = numbers.list(5, segment);
    let start = numbers.one(&["/", "/2013-04-01/", ""]);
    // Without a slash a path would belong to the host.
    if start.is_empty() { String::new() } else { format!("{start}{}", segments.join("/")) }
}

/// A query with its mark, where there is one: keys repeat, and values are empty.
fn query(numbers: &mut RequestNumbers) -> String {
    let keys = ["name", "type", "maxitems", "Name", "a b", "ü", ""];
    let pairs = numbers.list(6, |numbers| {
        let key = if numbers.below(3) == 0 { text(numbers) } else { numbers.one(&keys).to_owned() };
        (key, text(numbers))
    });
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    match (pairs.len(), numbers.below(4)) {
        (0, 0) => "?".to_owned(),
        (0, 1) => "?rrset".to_owned(),
        (0, _) => String::new(),
        (_, 0) => format!("?dnssec&{}", encode_query(&pairs)),
        _ => format!("?{}", encode_query(&pairs)),
    }
}

/// A request with who asks, and when.
struct Sample {
    method: HttpMethod,
    url: String,
    headers: Vec<(&'static str, String)>,
    content: String,
    credentials: AwsCredentials,
    service: &'static str,
    region: &'static str,
    time: String,
}

impl Sample {
    /// One that looks random.
    fn new(numbers: &mut RequestNumbers) -> Sample {
        let method =
            numbers.one(&[HttpMethod::Get, HttpMethod::Post, HttpMethod::Put, HttpMethod::Patch, HttpMethod::Delete]);
        let hosts = [
            "https://route53.amazonaws.com",
            "https://servicediscovery.eu-west-1.amazonaws.com:443",
            "http://127.0.0.1:8080",
            "http://localhost:80",
            "https://[::1]:8443",
        ];
        let url = format!("{}{}{}", numbers.one(&hosts), path(numbers), query(numbers));
        let mut headers = Vec::new();
        if numbers.below(2) == 0 {
            let types = [
                "application/xml",
                "application/x-amz-json-1.1",
                " application/x-www-form-urlencoded;  charset=utf-8 ",
            ];
            headers.push(("content-type", numbers.one(&types).to_owned()));
        }
        if numbers.below(3) == 0 {
            headers.push(("X-Amz-Target", "Route53AutoNaming_v20170314.ListServices".to_owned()));
        }
        for _ in 0..numbers.below(3) {
            headers.push(("x-amz-meta-note", numbers.one(&["one", "two  words", ""]).to_owned()));
        }
        let secret = numbers.one(&["wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "s"]);
        let token = numbers.one(&[None, Some("IQoJb3JpZ2luX2VjEH//wEaCXVzLWVhc3QtMSJ="), Some("t")]);
        let (hour, minute, second) = (numbers.below(24), numbers.below(60), numbers.below(60));
        let (year, month, day) = (2000 + numbers.below(150), 1 + numbers.below(12), 1 + numbers.below(28));
        Sample {
            method,
            url,
            headers,
            content: if numbers.below(2) == 0 { String::new() } else { text(numbers) },
            credentials: AwsCredentials::new(("AKIDEXAMPLE", secret), token, None).unwrap(),
            service: numbers.one(&["route53", "servicediscovery", "sts"]),
            region: numbers.one(&["us-east-1", "eu-central-1", "cn-north-1"]),
            time: format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"),
        }
    }

    /// The same for the other signer.
    fn as_json(&self) -> String {
        let Sample { method, url, headers, content, credentials, service, region, time } = self;
        let (method, key_id, secret) = (method.as_str(), &credentials.key_id, credentials.secret());
        let token = credentials.token();
        json!({
            "method": method, "url": url, "headers": headers, "content": content, "key_id": key_id, "secret": secret,
            "token": token, "service": service, "region": region, "time": time,
        })
        .to_string()
    }

    /// The headers that sign it.
    fn signed(&self) -> BTreeMap<String, String> {
        let headers: Vec<(&str, &str)> = self.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let (method, url, content) = (self.method, &self.url, &self.content);
        let request = AwsRequest { method, url, headers: &headers, content };
        let scope = SigningScope { service: self.service, region: self.region, now: self.time.parse().unwrap() };
        let made = sign(&request, &self.credentials, &scope);
        made.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

#[test]
fn signatures_are_those_of_botocore() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("target/cloud-clients/bin/python");
    if !python.exists() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "under CI=true nothing may skip: botocore is not installed"
        );
        writeln!(std::io::stderr(), "skipped: botocore is not installed (ci/test does it)").unwrap();
        return;
    }
    println!("seed {SEED}");
    let mut numbers = RequestNumbers(SEED);
    let samples: Vec<Sample> = (0..REQUESTS).map(|_| Sample::new(&mut numbers)).collect();
    let lines: String = samples.iter().map(|sample| sample.as_json() + "\n").collect();
    let mut signer = Command::new(python);
    signer.arg(root.join("src/provider/aws/tests/botocore_sign.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut signer = signer.spawn().unwrap();
    let mut input = signer.stdin.take().unwrap();
    // The pipes hold less than all lines.
    let feeder = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = signer.wait_with_output().unwrap();
    feeder.join().unwrap().unwrap();
    assert!(output.status.success(), "the other signer fails");
    let theirs = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<BTreeMap<String, String>> =
        theirs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(theirs.len(), REQUESTS);
    for (number, (sample, theirs)) in samples.iter().zip(&theirs).enumerate() {
        assert_eq!(&sample.signed(), theirs, "seed {SEED}, request {number}: {}", sample.as_json());
    }
}

#[test]
fn an_example_of_aws_is_signed_as_documented() {
    // "Signature Version 4 signing process", the request of IAM that AWS's documentation works through.
    let credentials =
        AwsCredentials::new(("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), None, None).unwrap();
    let request = AwsRequest {
        method: HttpMethod::Get,
        url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
        headers: &[("content-type", "application/x-www-form-urlencoded; charset=utf-8")],
        content: "",
    };
    let now = "2015-08-30T12:36:00Z".parse().unwrap();
    let made = sign(&request, &credentials, &SigningScope { service: "iam", region: "us-east-1", now });
    let authorization = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, \
        SignedHeaders=content-type;host;x-amz-date, \
        Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";
    assert_eq!(made, [("authorization", authorization.to_owned()), ("x-amz-date", "20150830T123600Z".to_owned())]);
}
