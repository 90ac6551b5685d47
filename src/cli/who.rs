//! Who runs this, for the journal, the lock and events: a name that a person can ask about, also in a container and in
//! CI.

use std::env;

/// The variable that says it in so many words; a CronJob sets it.
pub const WHO: &str = "ZONEWRIGHT_WHO";

/// The variables that name a person, the first of them that is set and not empty. Those of a CI service come first: the
/// account of a runner says nothing about who started it.
pub const PEOPLE: [&str; 5] = ["GITHUB_ACTOR", "GITLAB_USER_LOGIN", "USER", "LOGNAME", "USERNAME"];

/// Who runs this: what [`WHO`] says, else account and host, such as `deploy@ns-runner`. Never empty.
pub fn who() -> String {
    let variable = |name: &str| env::var(name).ok();
    described(variable, &SystemAccount { account: account(), host: host() })
}

/// What the system says.
struct SystemAccount {
    /// The account that the process runs as.
    account: String,
    /// The name of this host, where it has one.
    host: Option<String>,
}

/// Who it is, of variables and of what the system says.
fn described(variable: impl Fn(&str) -> Option<String>, system: &SystemAccount) -> String {
    let filled = |name: &str| variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    if let Some(who) = filled(WHO) {
        return who;
    }
    let account = PEOPLE.into_iter().find_map(filled).unwrap_or_else(|| system.account.clone());
    match &system.host {
        Some(host) => format!("{account}@{host}"),
        None => account,
    }
}

/// The account of the process: its name where /etc/passwd has one, else its number, as in a container of any user.
#[cfg(unix)]
fn account() -> String {
    let user = rustix::process::getuid().as_raw();
    let accounts = std::fs::read("/etc/passwd").unwrap_or_default();
    name_in(&String::from_utf8_lossy(&accounts), user).unwrap_or_else(|| format!("uid {user}"))
}

/// The account of the process, which such a system has in variables only.
#[cfg(not(unix))]
fn account() -> String {
    "an unknown account".to_owned()
}

/// The name of a user in the text of /etc/passwd (passwd(5): name, password, number, and more, with colons between
/// them).
#[cfg(unix)]
fn name_in(accounts: &str, user: u32) -> Option<String> {
    let name = |line: &str| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(user) && !name.is_empty()).then(|| name.to_owned())
    };
    accounts.lines().find_map(name)
}

/// The name of this host.
#[cfg(unix)]
fn host() -> Option<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Some(name).filter(|name| !name.is_empty())
}

/// The name of this host.
#[cfg(not(unix))]
fn host() -> Option<String> {
    env::var("COMPUTERNAME").ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who it is where these variables are set, on a host of this name.
    fn with(variables: &[(&str, &str)], host: Option<&str>) -> String {
        let variable =
            |name: &str| variables.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned());
        described(variable, &SystemAccount { account: "uid 1000".into(), host: host.map(str::to_owned) })
    }

    #[test]
    fn an_empty_variable_hides_no_other() {
        assert_eq!(with(&[("USER", ""), ("LOGNAME", "deploy")], Some("runner")), "deploy@runner");
        assert_eq!(with(&[("USER", " "), ("LOGNAME", "")], Some("runner")), "uid 1000@runner");
    }

    #[test]
    fn a_container_without_variables_has_a_number_and_a_host() {
        assert_eq!(with(&[], Some("zonewright-29210-x7")), "uid 1000@zonewright-29210-x7");
        assert_eq!(with(&[], None), "uid 1000");
        assert!(!who().is_empty());
    }

    #[test]
    fn a_ci_service_names_the_person_who_started_it() {
        let set = [("USER", "runner"), ("GITHUB_ACTOR", "octocat")];
        assert_eq!(with(&set, Some("runner-1")), "octocat@runner-1");
        assert_eq!(with(&[("ZONEWRIGHT_WHO", "timer of dns"), ("USER", "root")], Some("a")), "timer of dns");
    }

    #[cfg(unix)]
    #[test]
    fn accounts_are_found_by_their_number() {
        let accounts = "root:x:0:0::/root:/bin/sh\nbad line\ndeploy:x:990:990::/:/bin/false\n:x:7:7::/:\n";
        let name = |user| name_in(accounts, user);
        assert_eq!((name(990).as_deref(), name(0).as_deref()), (Some("deploy"), Some("root")));
        assert_eq!((name(7), name(99)), (None, None));
    }
}
