//! The files of `ci/github` and `ci/gitlab`, run step by step as the services would, against imitations of the services and a
//! name server on loopback.

#[path = "../folder/edit.rs"]
mod edit;
mod expression;
mod files;
#[path = "../folder/copy.rs"]
mod folder;
mod github;
mod github_api;
mod github_runner;
mod gitlab;
mod gitlab_api;
mod gitlab_runner;
mod http;
mod repository;
#[path = "../support/schemas.rs"]
mod schemas;
#[expect(dead_code, reason = "these tests need no Python, and run the binary through a shell")]
#[path = "../support/mod.rs"]
mod support;
mod yaml;
