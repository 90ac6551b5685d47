//! Carries out the steps of a change at one name, each until the service says that it is done.

use std::time::Duration;

use super::document::{self, CloudMapNamespace, OperationState};
use super::held::HeldService;
use super::steps::{ServiceStep, ServiceWish};
use super::target::CloudMapReader;
use crate::provider::aws::{AwsFault, AwsFaultKind};

/// How long is waited before an operation is asked for the second time; each further time twice as long.
const PAUSE: Duration = Duration::from_millis(100);

/// How long is waited at most.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Carries out steps at one name.
pub struct NameDelivery<'w> {
    /// Reads, and asks.
    pub reader: &'w CloudMapReader,
    /// The namespace.
    pub namespace: &'w CloudMapNamespace,
    /// The name of the service.
    pub name: &'w str,
    /// The identifier of the service, where it is known.
    pub service: Option<String>,
    /// Whether anything was written, or may have been.
    pub may_have_written: bool,
    /// Whether the service took anything that was written.
    pub has_written: bool,
    /// A step whose outcome is not known: what a listing shows of it may not be done yet, and may fail.
    pub unsure: Option<ServiceStep>,
    /// What could not be cleared away.
    pub left: Option<AwsFault>,
    /// The owner that marks of the update name, where they do.
    pub owner: Option<String>,
    /// Whether the apply is to end, so that nothing more is waited for.
    pub is_over: &'w dyn Fn() -> bool,
}

/// An operation that was submitted.
struct SubmittedOperation {
    /// Its identifier.
    id: String,
    /// Whether it is another one than was asked for, which is under way for the same.
    is_other: bool,
}

impl NameDelivery<'_> {
    /// Carries out a step, and keeps it where its outcome is not known; `held` is the service as it was seen before.
    ///
    /// Errors: it was not done, or may not have been.
    pub fn run(&mut self, step: &ServiceStep, held: Option<&HeldService>) -> Result<(), AwsFault> {
        let done = self.carry_out(step, held);
        let is_operation =
            matches!(step, ServiceStep::Register(_) | ServiceStep::Update(_) | ServiceStep::Deregister(_));
        if is_operation && done.as_ref().is_err_and(|fault| fault.kind == AwsFaultKind::Unknown) {
            self.unsure = Some(step.clone());
        }
        done
    }

    /// Carries out once more what may not have been done: an operation that is still under way is waited for.
    ///
    /// Errors: as for [`NameDelivery::run`].
    pub fn make_sure(&mut self) -> Result<(), AwsFault> {
        self.unsure.take().map_or(Ok(()), |step| self.run(&step, None))
    }

    /// Carries out a step.
    ///
    /// Errors: it was not done, or may not have been.
    fn carry_out(&mut self, step: &ServiceStep, held: Option<&HeldService>) -> Result<(), AwsFault> {
        match step {
            ServiceStep::Create(ServiceWish { types, note }) => {
                let key = self.reader.client.new_key();
                let request = document::create_service((&self.namespace.id, self.name), types, note.as_deref(), &key);
                let made = self.write("CreateService", &request);
                if let Err(fault) = &made
                    && fault.name == "ServiceAlreadyExists"
                {
                    self.service = fault.said.first().cloned();
                }
                let made = document::read_service(&made?).map_err(AwsFault::unusable)?;
                self.service = Some(made.id);
                Ok(())
            }
            ServiceStep::Register(instances) => {
                let service = self.known()?;
                let register = |(id, values): &(String, _)| {
                    document::register(&service, id, values, &self.reader.client.new_key())
                };
                let requests: Vec<String> = instances.iter().map(register).collect();
                self.submit_all("RegisterInstance", &requests)
            }
            ServiceStep::Update(ServiceWish { types, note }) => {
                let request = document::update_service(&self.known()?, types, note.as_deref());
                self.submit_all("UpdateService", &[request])
            }
            ServiceStep::Deregister(ids) => {
                let service = self.known()?;
                let requests: Vec<String> = ids.iter().map(|id| document::deregister(&service, id)).collect();
                self.submit_all("DeregisterInstance", &requests)
            }
            ServiceStep::Replace => {
                let service = self.known()?;
                let deleted = self.write("DeleteService", &document::of_service(&service));
                self.service = None;
                deleted.map(drop)
            }
            ServiceStep::Leave => {
                self.leave(held);
                Ok(())
            }
        }
    }

    /// Deletes a service that no longer has an instance, where it is one that goes with the last; a fault is kept for the end.
    pub fn leave(&mut self, held: Option<&HeldService>) {
        let is_own = held.is_some_and(|held| held.is_own(self.owner.as_deref()));
        if let (Some(service), true) = (self.service.clone(), is_own) {
            self.left = self.write("DeleteService", &document::of_service(&service)).err();
            // Another tool may have used it since, or deleted it.
            self.left.take_if(|fault| matches!(fault.name.as_str(), "ResourceInUse" | "ServiceNotFound"));
        }
    }

    /// The identifier of the service.
    fn known(&self) -> Result<String, AwsFault> {
        self.service.clone().ok_or_else(|| AwsFault::unusable("the service has no identifier".to_owned()))
    }

    /// Asks for something that is written.
    fn write(&mut self, operation: &str, request: &str) -> Result<Vec<u8>, AwsFault> {
        let answer = self.reader.client.ask(operation, request);
        self.has_written |= answer.is_ok();
        self.may_have_written |= match &answer {
            Ok(_) => true,
            Err(fault) => fault.kind == AwsFaultKind::Unknown,
        };
        answer
    }

    /// Submits operations, and waits until all are done. What was submitted is waited for even where another one was not taken.
    fn submit_all(&mut self, operation: &str, requests: &[String]) -> Result<(), AwsFault> {
        let mut submitted = Vec::new();
        let mut fault = None;
        for request in requests {
            match self.submit(operation, request) {
                Ok(operation) => submitted.extend(operation),
                Err(own) => {
                    fault = Some(own);
                    break;
                }
            }
        }
        let end = self.reader.client.0.pace.now() + self.reader.settings.publication;
        for operation in submitted {
            if let Err(own) = self.wait_for(&operation, end) {
                fault.get_or_insert(own);
            }
        }
        fault.map_or(Ok(()), Err)
    }

    /// Submits an operation; none where nothing is to be done.
    fn submit(&mut self, operation: &str, request: &str) -> Result<Option<SubmittedOperation>, AwsFault> {
        match self.write(operation, request) {
            Ok(content) => {
                let id = document::read_submitted(&content).map_err(AwsFault::unusable)?;
                Ok(Some(SubmittedOperation { id, is_other: false }))
            }
            Err(fault) if fault.name == "InstanceNotFound" => Ok(None),
            Err(fault) if fault.name == "DuplicateRequest" => {
                self.may_have_written = true;
                Ok(fault.said.first().map(|id| SubmittedOperation { id: id.clone(), is_other: true }))
            }
            Err(fault) => Err(fault),
        }
    }

    /// Waits, but no longer than until the apply is to end.
    pub fn wait(&self, pause: Duration) {
        self.reader.client.0.pace.wait_until(pause, self.is_over);
    }

    /// Waits until an operation is done, until this time, or until the apply is to end.
    fn wait_for(&self, operation: &SubmittedOperation, end: Duration) -> Result<(), AwsFault> {
        let pace = &self.reader.client.0.pace;
        let patience = self.reader.settings.publication;
        let mut pause = PAUSE;
        loop {
            // The operation goes on, whatever the question meets.
            let unknown = |fault: AwsFault| AwsFault { kind: AwsFaultKind::Unknown, ..fault };
            let answer = self.reader.client.ask("GetOperation", &document::get_operation(&operation.id));
            let content = answer.map_err(unknown)?;
            match document::read_operation(&content).map_err(AwsFault::unusable)? {
                // It may have been for something else: the name is looked at again, and what is missing is asked for once more.
                OperationState::Done | OperationState::Undone(..) if operation.is_other => return Err(other_ended()),
                OperationState::Done => return Ok(()),
                OperationState::Undone(code, message) => return Err(undone(&code, &message)),
                OperationState::Running if pace.now() >= end => {
                    let message =
                        format!("the operation `{}` is not done after {} s", operation.id, patience.as_secs());
                    let hint = "look at it again later, or raise `publication_timeout`";
                    return Err(AwsFault::new(AwsFaultKind::Unknown, "api-failed", message, hint));
                }
                OperationState::Running if (self.is_over)() => {
                    let message =
                        format!("the apply was interrupted while the operation `{}` was under way", operation.id);
                    let hint = "`zonewright resume` continues where it ended";
                    return Err(AwsFault::new(AwsFaultKind::Unknown, "api-failed", message, hint));
                }
                OperationState::Running => self.wait(pause),
            }
            pause = (2 * pause).min(MAX_PAUSE);
        }
    }
}

/// That another operation for the same instance, or the same service, has ended.
fn other_ended() -> AwsFault {
    let message = "another operation ran for the same, and has ended".to_owned();
    AwsFault::new(AwsFaultKind::Stale, "api-failed", message, "try again")
}

/// The fault of an operation that was not done.
fn undone(code: &str, message: &str) -> AwsFault {
    let shown: String = format!("{code}: {message}").chars().filter(|c| !c.is_control()).take(300).collect();
    let (kind, own, hint) = match code {
        "THROTTLED_REQUEST" | "INTERNAL_FAILURE" | "EXPIRED_TOKEN" => (AwsFaultKind::Busy, "api-failed", "try again"),
        "ACCESS_DENIED" => {
            let hint = "compare the rights of the credentials with those in docs/targets.md: Cloud Map needs some of Route 53, too";
            (AwsFaultKind::Refused, "api-denied", hint)
        }
        _ => (AwsFaultKind::Refused, "update-rejected", "docs/targets.md says what Cloud Map takes"),
    };
    let message = format!("Cloud Map did not do the operation: {shown}");
    AwsFault { name: code.to_owned(), ..AwsFault::new(kind, own, message, hint) }
}
