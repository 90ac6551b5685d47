"""What `ci/bench` measures: a module for each subcommand, and beside them what they share."""
