//! Asks the double of a service in process: for tests of providers and for the simulation.

use std::sync::Arc;

use crate::doubles::{CloudDouble, DoubleAnswer, DoubleRequest};
use crate::http::{HttpAnswer, HttpAsker, HttpFailure, HttpFailureKind, HttpQuestion};

/// Asks a double.
pub struct DoubleAsker<D>(pub Arc<D>);

impl<D: CloudDouble> HttpAsker for DoubleAsker<D> {
    fn ask(&self, question: &HttpQuestion<'_>) -> Result<HttpAnswer, HttpFailure> {
        let answer = self.0.answer(&request(question)).filter(|answer| !answer.is_cut());
        answer.map(heard).ok_or_else(broken)
    }
}

/// A question as a double gets it.
pub fn request(question: &HttpQuestion<'_>) -> DoubleRequest {
    let (_, rest) = question.url.split_once("://").expect("a URL");
    let (host, target) = rest.split_at(rest.find('/').expect("a path"));
    let own = question.headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let of_content = question.content.map(|content| ("content-type".to_owned(), content.media_type.to_owned()));
    DoubleRequest {
        method: question.method.as_str().to_owned(),
        target: target.to_owned(),
        headers: [("host".to_owned(), host.to_owned())].into_iter().chain(own).chain(of_content).collect(),
        body: question.content.map(|content| content.text.as_bytes().to_vec()).unwrap_or_default(),
    }
}

/// An answer of a double as the client gets it.
pub fn heard(answer: DoubleAnswer) -> HttpAnswer {
    let headers = answer.headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
    HttpAnswer { host: "double".to_owned(), status: answer.status, content: answer.body, headers }
}

/// That there is no answer.
pub fn broken() -> HttpFailure {
    HttpFailure { kind: HttpFailureKind::Unreachable, message: "the connection broke".to_owned() }
}
