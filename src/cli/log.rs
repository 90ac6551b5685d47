//! Messages on standard error.

use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::progress::BesideLine;
use super::shared_args::SharedArgs;
use super::values::LogFormat;

/// Sends messages to standard error, from the level and in the format that the command line asks for.
///
/// Only the first call in a process counts.
pub fn start(shared: &SharedArgs) {
    let level = match (shared.quiet, shared.verbose) {
        (true, _) => Level::ERROR,
        (false, 0) => Level::WARN,
        (false, 1) => Level::INFO,
        (false, _) => Level::DEBUG,
    };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(|| BesideLine).with_target(false);
    // A line that cannot be written would be reported on standard error, which panics where that is the cause.
    let builder = builder.log_internal_errors(false);
    // A second start in one process, as tests make, keeps the first subscriber.
    let _ = match shared.log_format {
        LogFormat::Text => builder.without_time().with_ansi(false).try_init(),
        LogFormat::Json => builder.event_format(JsonLine { run: shared.process.run }).try_init(),
    };
}

/// The time of a line: now, in UTC.
pub fn timestamp() -> String {
    jiff::Timestamp::now().to_string()
}

/// Writes a message as one JSON object on one line, with the number of the run.
struct JsonLine {
    /// The number of the run.
    run: u64,
}

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = LogFields(Map::new());
        fields.0.insert("timestamp".to_owned(), timestamp().into());
        fields.0.insert("level".to_owned(), event.metadata().level().as_str().into());
        fields.0.insert("run".to_owned(), self.run.into());
        event.record(&mut fields);
        writeln!(writer, "{}", Value::Object(fields.0))
    }
}

/// The fields of a message.
struct LogFields(Map<String, Value>);

impl LogFields {
    /// Adds a field.
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for LogFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }
}
