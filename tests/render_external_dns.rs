//! `render external-dns`: the manifests are what Kubernetes and external-dns take, say the same as the inventory, and go in an
//! order in which nothing is deleted by mistake.

#[path = "render_external_dns/command.rs"]
mod command;
#[path = "render_external_dns/manifests.rs"]
mod manifests;
#[path = "render_external_dns/order.rs"]
mod order;
#[path = "render_external_dns/workspace.rs"]
mod workspace;
