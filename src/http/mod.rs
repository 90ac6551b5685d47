//! HTTP requests: blocking, with a deadline, and without a URL in any message.
//!
//! Comes in: where to send what. Goes out: success, or why it failed. This room alone knows the client library.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read as _};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::http::{HeaderMap, HeaderName, Request, Uri};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, AsSendBody, Error};

use crate::diag::AttemptError;

/// Posts JSON. The request, answer included, takes at most `timeout`; the client follows no redirect.
///
/// A proxy is that of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`). The certificates that are trusted are the
/// system's, or those of `SSL_CERT_FILE`.
///
/// Errors: no connection, no answer in time, or an answer other than 2xx (RFC 9110 section 15.3).
pub fn post_json(url: &str, body: &str, timeout: Duration) -> Result<(), AttemptError> {
    let HttpSite { agent, uri, host } = HttpSite::of(url, timeout)?;
    let says = |why: &str| format!("`{host}` {why}");
    let status = match agent.post(uri).content_type("application/json").send(body) {
        Ok(answer) => answer.status().as_u16(),
        Err(error) => return Err(AttemptError { message: says(&in_words(&error, timeout)), may_pass: true }),
    };
    match status {
        200..=299 => Ok(()),
        300..=399 => Err(permanent(says(&format!("answers with a redirect ({status}), which is not followed")))),
        // 408 and 429 ask for patience; any other 4xx says that the request is wrong (RFC 9110 section 15.5, RFC 6585).
        400..=499 if !matches!(status, 408 | 429) => Err(permanent(says(&format!("answers with status {status}")))),
        _ => Err(AttemptError { message: says(&format!("answers with status {status}")), may_pass: true }),
    }
}

/// What a GET was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The host that was asked.
    pub host: String,
    /// The status (RFC 9110 section 15).
    pub status: u16,
    /// The beginning of the content, at most so many octets as were asked for.
    pub content: Vec<u8>,
    /// The headers that are text, by their names in small letters; the first of each.
    pub headers: BTreeMap<String, String>,
}

/// Gets a URL, and at most `max` octets of the content, as far as it came; any status is an answer. Otherwise as [`post_json`].
///
/// Errors: no connection, or no answer in time.
pub fn get(url: &str, max: u64, timeout: Duration) -> Result<HttpAnswer, AttemptError> {
    let HttpSite { agent, uri, host } = HttpSite::of(url, timeout)?;
    let failed = |why: String| AttemptError { message: format!("`{host}` {why}"), may_pass: true };
    let mut answer = agent.get(uri).call().map_err(|error| failed(in_words(&error, timeout)))?;
    let mut content = Vec::new();
    // The status is the answer: content that is cut is as good as it came.
    let _ = answer.body_mut().as_reader().take(max).read_to_end(&mut content);
    Ok(HttpAnswer { host, status: answer.status().as_u16(), content, headers: texts(answer.headers()) })
}

/// How a request asks (RFC 9110 section 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpMethod {
    /// What there is.
    Get,
    /// To make something.
    Post,
    /// To write something as a whole.
    Put,
    /// To change a part of something.
    Patch,
    /// To remove something.
    Delete,
}

impl HttpMethod {
    /// Its word in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            HttpMethod::Get => "GET",
            HttpMethod::Post => "POST",
            HttpMethod::Put => "PUT",
            HttpMethod::Patch => "PATCH",
            HttpMethod::Delete => "DELETE",
        }
    }
}

/// What is asked of a server that is asked often.
#[derive(Debug, Clone, Copy)]
pub struct HttpQuestion<'q> {
    /// How.
    pub method: HttpMethod,
    /// Where.
    pub url: &'q str,
    /// The headers that are not the client's own, with their values: who asks, and on what terms.
    pub headers: &'q [(&'q str, &'q str)],
    /// The content.
    pub content: Option<HttpContent<'q>>,
    /// How many octets an answer may have.
    pub max: u64,
    /// Whether it is asked again where the server says after which time (`Retry-After`): it must change nothing.
    pub repeats: bool,
}

/// The content of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpContent<'q> {
    /// Its media type (RFC 9110 section 8.3).
    pub media_type: &'static str,
    /// The text.
    pub text: &'q str,
}

impl HttpContent<'_> {
    /// A text of JSON (RFC 8259 section 11).
    pub fn json(text: &str) -> HttpContent<'_> {
        HttpContent { media_type: "application/json", text }
    }
}

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpFailureKind {
    /// There is no connection, or it broke.
    Unreachable,
    /// The whole answer did not come in time.
    Late,
    /// The answer is longer than it may be.
    TooLong,
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpFailure {
    /// What kind of failure it is.
    pub kind: HttpFailureKind,
    /// In words, without secrets.
    pub message: String,
}

/// Whom a client trusts, and how it proves who it is, as PEM (RFC 7468); the default is what [`post_json`] has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpTrust {
    /// The certificates that are trusted in place of the system's.
    pub authorities: Option<Vec<u8>>,
    /// The certificates of this client, its own first, and its private key.
    pub client: Option<(Vec<u8>, Vec<u8>)>,
}

/// Asks one server often: its connections are kept, and used again.
pub struct HttpClient {
    /// The client.
    agent: Agent,
    /// How long a request may take, with its answer.
    timeout: Duration,
    /// The host, as answers name it.
    host: String,
    /// The host with its port, as messages name it.
    place: String,
}

/// What answers questions: a client, or something in its place where there is no network.
pub trait HttpAsker: Send + Sync {
    /// Asks, as [`HttpClient::ask`] does.
    ///
    /// Errors: as for [`HttpClient::ask`].
    fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure>;
}

impl HttpAsker for HttpClient {
    fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        HttpClient::ask(self, question)
    }
}

/// How many connections are kept that nothing is asked on.
const IDLE_CONNECTIONS: usize = 64;

impl HttpClient {
    /// A client for URLs that begin with this one; as [`post_json`].
    ///
    /// Errors: the URL cannot be read, or this system trusts no certificate.
    pub fn new(url: &str, timeout: Duration) -> Result<HttpClient, AttemptError> {
        HttpClient::trusting(url, timeout, &HttpTrust::default())
    }

    /// A client with its own certificates.
    ///
    /// Errors: as for [`HttpClient::new`]; what is given is not of this form.
    pub fn trusting(url: &str, timeout: Duration, trust: &HttpTrust) -> Result<HttpClient, AttemptError> {
        HttpSite::open(url, timeout, trust, HttpRoute::OfEnvironment).map(|site| site.client(timeout))
    }

    /// A client that goes straight to its server, whatever proxy the environment names: for servers of this machine or of its own
    /// link, which a proxy would look for on its side.
    ///
    /// Errors: as for [`HttpClient::new`].
    pub fn direct(url: &str, timeout: Duration) -> Result<HttpClient, AttemptError> {
        HttpSite::open(url, timeout, &HttpTrust::default(), HttpRoute::Direct).map(|site| site.client(timeout))
    }

    /// Asks, and reads the whole answer; any status is one. A server that is busy is asked again where the question repeats, and as
    /// long as one request may take.
    ///
    /// Errors: no connection, no whole answer in time, or a longer one.
    pub fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        let begun = Instant::now();
        let left = || self.timeout.checked_sub(begun.elapsed()).unwrap_or_default();
        loop {
            let answer = self.ask_once(question, left())?;
            let pause = busy_for(&answer).filter(|pause| question.repeats && *pause < left());
            match pause {
                Some(pause) => thread::sleep(pause),
                None => return Ok(answer),
            }
        }
    }

    /// Asks once, for so long at most.
    fn ask_once(&self, question: &HttpQuestion<'_>, most: Duration) -> Result<HttpAnswer, HttpFailure> {
        let HttpQuestion { method, url, headers, content, max, .. } = *question;
        let failed = |kind, why: String| HttpFailure { kind, message: format!("`{}` {why}", self.place) };
        let unanswered = |error: Error| {
            let is_late = matches!(error, Error::Timeout(_));
            let kind = if is_late { HttpFailureKind::Late } else { HttpFailureKind::Unreachable };
            failed(kind, in_words(&error, self.timeout))
        };
        let mut request = Request::builder().method(method.as_str()).uri(url);
        for (header, value) in headers {
            request = request.header(*header, *value);
        }
        let answer = match content {
            Some(HttpContent { media_type, text }) => {
                let request = request.header("content-type", media_type).body(text);
                request.map_err(Error::from).and_then(|request| self.agent.run(self.limited(request, most)))
            }
            None => {
                let request = request.body(()).map_err(Error::from);
                request.and_then(|request| self.agent.run(self.limited(request, most)))
            }
        };
        let mut answer = answer.map_err(unanswered)?;
        let mut content = Vec::new();
        let read = answer.body_mut().as_reader().take(max + 1).read_to_end(&mut content);
        read.map_err(|error| unanswered(Error::from(error)))?;
        if content.len() as u64 > max {
            return Err(failed(HttpFailureKind::TooLong, format!("answers with more than {max} bytes")));
        }
        let (host, headers) = (self.host.clone(), texts(answer.headers()));
        Ok(HttpAnswer { host, status: answer.status().as_u16(), content, headers })
    }
}

impl HttpClient {
    /// A request that may take so long at most.
    fn limited<B: AsSendBody>(&self, request: Request<B>, most: Duration) -> Request<B> {
        self.agent.configure_request(request).timeout_global(Some(most)).build()
    }
}

/// How long a server asks to be left alone: its answer is that it is busy, and says so in seconds (RFC 9110 section 10.2.3, RFC
/// 6585 section 4). At least one second, so that a server that says 0 is not asked without a pause.
fn busy_for(answer: &HttpAnswer) -> Option<Duration> {
    let seconds: u64 = answer.headers.get("retry-after")?.trim().parse().ok()?;
    matches!(answer.status, 429 | 503).then_some(Duration::from_secs(seconds.max(1)))
}

/// The headers that are text.
fn texts(headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |name: &HeaderName| Some((name.as_str().to_owned(), headers.get(name)?.to_str().ok()?.to_owned()));
    headers.keys().filter_map(text).collect()
}

/// Where a request goes, and with what.
struct HttpSite {
    /// The client.
    agent: Agent,
    /// The URL.
    uri: Uri,
    /// Its host, as messages call it.
    host: String,
}

/// Which way requests go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HttpRoute {
    /// By the proxy of the environment, where it names one.
    OfEnvironment,
    /// Straight to the server.
    Direct,
}

impl HttpSite {
    /// That of a URL.
    fn of(url: &str, timeout: Duration) -> Result<HttpSite, AttemptError> {
        HttpSite::open(url, timeout, &HttpTrust::default(), HttpRoute::OfEnvironment)
    }

    /// That of a URL, with these certificates and by this way.
    fn open(url: &str, timeout: Duration, trust: &HttpTrust, route: HttpRoute) -> Result<HttpSite, AttemptError> {
        let uri: Uri = url.parse().map_err(|_| permanent("the URL cannot be read".to_owned()))?;
        let host = uri.authority().map_or("", |authority| authority.host()).to_owned();
        let mut config =
            Agent::config_builder().timeout_global(Some(timeout)).max_redirects(0).http_status_as_error(false);
        config = config.max_idle_connections(IDLE_CONNECTIONS).max_idle_connections_per_host(IDLE_CONNECTIONS);
        if route == HttpRoute::Direct {
            config = config.proxy(None);
        }
        if uri.scheme_str() == Some("https") {
            config = config.tls_config(tls(trust).map_err(|why| permanent(format!("`{host}` {why}")))?);
        }
        let agent = config.user_agent(concat!("zonewright/", env!("CARGO_PKG_VERSION"))).build().into();
        Ok(HttpSite { agent, uri, host })
    }

    /// Its client.
    fn client(self, timeout: Duration) -> HttpClient {
        // Several members may be on one host.
        let port = self.uri.authority().and_then(|authority| authority.port_u16());
        let place = port.map_or_else(|| self.host.clone(), |port| format!("{}:{port}", self.host));
        HttpClient { agent: self.agent, timeout, host: self.host, place }
    }
}

/// An error that another attempt does not change.
fn permanent(message: String) -> AttemptError {
    AttemptError { message, may_pass: false }
}

/// TLS with the certificates that are trusted, and those of the client.
fn tls(trust: &HttpTrust) -> Result<TlsConfig, String> {
    let authorities = trust.authorities.as_deref().map_or_else(of_system, certificates)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(authorities)));
    let tls = tls.client_cert(trust.client.as_ref().map(own_certificate).transpose()?);
    Ok(tls.unversioned_rustls_crypto_provider(provider).build())
}

/// The certificates that this system trusts.
fn of_system() -> Result<Vec<Certificate<'static>>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map_or("none is installed".to_owned(), ToString::to_string);
        return Err(format!("cannot be verified: this system has no trusted certificates ({why})"));
    }
    Ok(found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect())
}

/// The certificates in a text.
fn certificates(pem: &[u8]) -> Result<Vec<Certificate<'static>>, String> {
    let items = parse_pem(pem).map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Ok(Some(certificate)),
        Ok(_) => Ok(None),
        Err(error) => Err(format!("cannot be verified: the file of certificates cannot be read: {error}")),
    });
    let found: Vec<Certificate<'static>> = items.filter_map(Result::transpose).collect::<Result<_, String>>()?;
    if found.is_empty() {
        return Err("cannot be verified: the file of certificates has none".to_owned());
    }
    Ok(found)
}

/// The certificates of the client, with its key.
fn own_certificate((chain, key): &(Vec<u8>, Vec<u8>)) -> Result<ClientCert, String> {
    let is_encrypted = String::from_utf8_lossy(key).contains("ENCRYPTED");
    let missing = if is_encrypted {
        "gets no certificate: the private key is encrypted; give the key without a password, readable by its user alone"
    } else {
        "gets no certificate: the file of the key has no private key"
    };
    let own = PrivateKey::from_pem(key).map_err(|_| missing)?;
    let chain = certificates(chain)?;
    // The client library takes them for granted, and panics where they are not one pair.
    let der = PrivateKeyDer::from_pem_slice(key).map_err(|_| missing)?;
    let first = chain.iter().map(|own| CertificateDer::from(own.der().to_vec())).collect();
    CertifiedKey::from_der(first, der, &rustls::crypto::ring::default_provider())
        .map_err(|error| format!("gets no certificate: the key is not that of the certificate ({error})"))?;
    Ok(ClientCert::new_with_certs(&chain, own))
}

/// Why there was no answer.
fn in_words(error: &Error, timeout: Duration) -> String {
    match error {
        Error::Timeout(_) => format!("did not answer within {} s", timeout.as_secs()),
        Error::HostNotFound => "has no address in DNS".to_owned(),
        Error::Io(error) if error.kind() == ErrorKind::InvalidData => format!("failed the TLS handshake: {error}"),
        Error::Io(error) => format!("cannot be reached: {}", error.to_string().to_lowercase()),
        Error::Rustls(error) => format!("failed the TLS handshake: {error}"),
        Error::Protocol(error) => format!("answers with something other than HTTP: {error}"),
        Error::InvalidProxyUrl => "cannot be reached: the proxy's URL in the environment is wrong".to_owned(),
        // The texts of other errors may quote the URL.
        _ => "cannot be reached".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A server that gives these answers, one after another, and then the last one again; with how many were asked for.
    fn serve(answers: &'static [&'static str]) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let number = counted.fetch_add(1, Ordering::SeqCst);
                let answer = answers[number.min(answers.len() - 1)];
                let _ = write!(stream, "HTTP/1.1 {answer}\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            }
        });
        (url, asked)
    }

    /// What a client gets that waits for ten seconds.
    fn ask(url: &str, repeats: bool) -> HttpAnswer {
        let client = HttpClient::new(url, Duration::from_secs(10)).unwrap();
        let question = HttpQuestion { method: HttpMethod::Get, url, headers: &[], content: None, max: 10, repeats };
        client.ask(&question).unwrap()
    }

    #[test]
    fn a_busy_server_is_asked_again_when_it_says_so() {
        let answers = &["503 Busy\r\nRetry-After: 1", "429 Later\r\nRetry-After: 0", "200 OK\r\nX-Serial: 7"];
        let (url, asked) = serve(answers);
        let answer = ask(&url, true);
        assert_eq!((answer.status, asked.load(Ordering::SeqCst)), (200, 3));
        assert_eq!(answer.headers.get("x-serial").map(String::as_str), Some("7"));
        let (url, asked) = serve(answers);
        assert_eq!((ask(&url, false).status, asked.load(Ordering::SeqCst)), (503, 1), "it might change something");
    }

    #[test]
    fn a_server_that_is_busy_for_longer_than_a_request_may_take_is_not_waited_for() {
        let (url, asked) = serve(&["503 Busy\r\nRetry-After: 3600"]);
        assert_eq!((ask(&url, true).status, asked.load(Ordering::SeqCst)), (503, 1));
        let (url, asked) = serve(&["503 Busy\r\nRetry-After: 18446744073709551615"]);
        assert_eq!((ask(&url, true).status, asked.load(Ordering::SeqCst)), (503, 1));
        let (url, asked) = serve(&["503 Busy"]);
        assert_eq!((ask(&url, true).status, asked.load(Ordering::SeqCst)), (503, 1));
    }

    /// The name of the variable and the place of a proxy that is not there, for a run of the next test by itself.
    const PROXY: (&str, &str) = ("HTTP_PROXY", "http://127.0.0.1:1");

    #[test]
    fn a_direct_client_passes_by_the_proxy_of_the_environment() {
        let name = "http::tests::a_direct_client_passes_by_the_proxy_of_the_environment";
        if std::env::var(PROXY.0).as_deref() != Ok(PROXY.1) {
            let mut again = std::process::Command::new(std::env::current_exe().unwrap());
            again.args(["--exact", name]).env(PROXY.0, PROXY.1);
            for other in ["http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"] {
                again.env_remove(other);
            }
            let output = again.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let (url, _) = serve(&["200 OK"]);
        let question =
            HttpQuestion { method: HttpMethod::Get, url: &url, headers: &[], content: None, max: 10, repeats: false };
        let timeout = Duration::from_secs(10);
        assert_eq!(HttpClient::direct(&url, timeout).unwrap().ask(&question).unwrap().status, 200);
        let failure = HttpClient::new(&url, timeout).unwrap().ask(&question).unwrap_err();
        assert_eq!(failure.kind, HttpFailureKind::Unreachable);
    }
}
