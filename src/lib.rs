//! zonewright keeps the DNS records of a server fleet true.

pub mod dns;

pub mod diag;

pub mod inventory;

pub mod plan;

pub mod report;
