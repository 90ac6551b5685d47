//! What `run` shows of itself over HTTP: its page, the last plan, metrics, and whether it is well.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::output;
use crate::parallel::HELD;
use crate::plan::SealedPlan;
use crate::report::metrics::Metrics;
use crate::report::running::{RunningNews, RunningRole};
use crate::report::{self, PlanOutlook};
use crate::web::{WebDesk, WebReply, WebRequest};

/// The media type of pages.
const HTML: &str = "text/html; charset=utf-8";

/// The media type of words.
const TEXT: &str = "text/plain; charset=utf-8";

/// The media type of metrics (Prometheus, "Text-based format").
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is shown.
pub struct RunDesk {
    /// What is known now.
    now: Mutex<DeskNow>,
}

/// What is known now.
struct DeskNow {
    /// What the page says; its time is set when it is asked for.
    news: RunningNews,
    /// The metrics of the last pass.
    metrics: Metrics,
    /// The last plan.
    plan: Option<Arc<SealedPlan>>,
    /// When a pass ended last, or another process was seen to make them; else when it began.
    ended: Instant,
    /// How long it is well without that.
    well_for: Duration,
}

impl RunDesk {
    /// What is shown before the first pass.
    pub fn new(news: RunningNews, well_for: Duration) -> RunDesk {
        let (metrics, ended) = (Metrics::new("run"), Instant::now());
        RunDesk { now: Mutex::new(DeskNow { news, metrics, plan: None, ended, well_for }) }
    }

    /// Changes what the page says.
    pub fn note(&self, change: impl FnOnce(&mut RunningNews)) {
        change(&mut self.now.lock().expect(HELD).news);
    }

    /// Takes that a pass ended, or that another process makes them: it is well for so long.
    pub fn well(&self, well_for: Duration) {
        let mut now = self.now.lock().expect(HELD);
        (now.ended, now.well_for) = (Instant::now(), well_for);
    }

    /// Takes what a pass found: its metrics, and its plan, where there is one.
    pub fn passed(&self, metrics: Metrics, plan: Option<SealedPlan>) {
        let mut now = self.now.lock().expect(HELD);
        now.metrics = metrics;
        now.plan = plan.map(Arc::new).or_else(|| now.plan.take());
    }

    /// The last plan in one sentence; empty before the first.
    pub fn headline(&self) -> String {
        self.now.lock().expect(HELD).news.plan.headline.clone()
    }

    /// What is known, at this moment.
    fn news(&self) -> RunningNews {
        let mut news = self.now.lock().expect(HELD).news.clone();
        news.now = output::clock().unwrap_or(news.now);
        news
    }

    /// The last plan, as a page.
    fn plan(&self) -> WebReply {
        // It is made outside of the lock: a large plan takes a while.
        let plan = self.now.lock().expect(HELD).plan.clone();
        let Some(plan) = plan else { return WebReply::new(404, TEXT, "there is no plan yet\n") };
        WebReply::new(200, HTML, report::plan_page(&plan, &PlanOutlook::default()))
    }

    /// The metrics of the last pass, and of the process.
    fn metrics(&self) -> WebReply {
        let news = self.news();
        let mut metrics = self.now.lock().expect(HELD).metrics.clone();
        metrics.running(&news);
        WebReply::new(200, METRICS, metrics.render())
    }

    /// Whether passes end.
    fn health(&self) -> WebReply {
        let now = self.now.lock().expect(HELD);
        let silent = now.ended.elapsed();
        if silent <= now.well_for {
            return WebReply::new(200, TEXT, "ok\n");
        }
        WebReply::new(503, TEXT, format!("no pass ended for {} seconds\n", silent.as_secs()))
    }

    /// Whether there is anything to show.
    fn readiness(&self) -> WebReply {
        let now = self.now.lock().expect(HELD);
        match (&now.news.role, &now.news.last) {
            (RunningRole::Follows(_), _) => WebReply::new(200, TEXT, "ready to take over\n"),
            (_, Some(_)) => WebReply::new(200, TEXT, "ok\n"),
            (_, None) => WebReply::new(503, TEXT, "no pass has ended yet\n"),
        }
    }
}

impl WebDesk for RunDesk {
    fn reply(&self, request: &WebRequest<'_>) -> WebReply {
        if !matches!(request.method, "GET" | "HEAD") {
            return WebReply::new(405, TEXT, "only GET and HEAD are answered\n");
        }
        let path = request.target.split_once('?').map_or(request.target, |(path, _)| path);
        match path {
            "/" => WebReply::new(200, HTML, report::running_page(&self.news())),
            "/plan" => self.plan(),
            "/metrics" => self.metrics(),
            "/healthz" => self.health(),
            "/readyz" => self.readiness(),
            _ => WebReply::new(404, TEXT, "there are /, /plan, /metrics, /healthz and /readyz\n"),
        }
    }
}
