//! Which rights are needed, and what is said where they are missing.

use super::*;
use crate::provider::each_right::check_each_right;
use crate::provider::examine::try_update;

/// The rights that reading and writing need, as docs/targets.md has them.
const RIGHTS: [&str; 10] = [
    "servicediscovery:ListNamespaces",
    "servicediscovery:ListServices",
    "servicediscovery:ListInstances",
    "servicediscovery:GetService",
    "servicediscovery:CreateService",
    "servicediscovery:UpdateService",
    "servicediscovery:DeleteService",
    "servicediscovery:RegisterInstance",
    "servicediscovery:DeregisterInstance",
    "servicediscovery:GetOperation",
];

#[test]
fn each_right_of_the_least_policy_is_needed_and_no_other() {
    check_each_right(&RIGHTS.map(str::to_owned), |allowed| {
        let account = Account::new();
        account.double.set_rules(|rules| rules.allowed_actions = Some(allowed));
        account.reader().read_zone(&account.zone)?;
        let writer = account.writer();
        let slower = ChangeKind::Modify { before: a(ONE), after: rrset(Rtype::A, 300, TWO) };
        let gone = ChangeKind::Delete { before: rrset(Rtype::A, 300, TWO) };
        for edits in [&create(ONE)[..], &[(Rtype::A, slower)], &[(Rtype::A, gone)]] {
            match account.send(&writer, "a", edits) {
                UpdateReply::Done => {}
                UpdateReply::Refused(problem)
                | UpdateReply::Failed(problem)
                | UpdateReply::Unknown(problem)
                | UpdateReply::RefusedInPart(problem) => return Err(problem),
                other => panic!("{other:?}"),
            }
        }
        writer.finish(&|| false)
    });
}

#[test]
fn writing_is_tried_without_writing() {
    let account = Account::new();
    assert_eq!(try_update(&account.writer(), &account.zone).fault, None, "there is nothing to try it at");
    account.put("a", ONE);
    let before = account.double.operations().len();
    assert_eq!(try_update(&account.writer(), &account.zone).fault, None);
    account.double.set_rules(|rules| rules.deny("DeregisterInstance"));
    let fault = try_update(&account.writer(), &account.zone).fault.unwrap();
    assert_eq!((fault.code.as_str(), account.double.operations().len()), ("api-denied", before));
}

#[test]
fn a_secret_is_in_no_message() {
    let account = Account::new();
    account.double.expire_key(KEYS.0);
    let problem = account.reader().read_zone(&account.zone).unwrap_err();
    assert_eq!(problem.code.as_str(), "api-denied");
    assert!(!format!("{problem}").contains(KEYS.1));
}
