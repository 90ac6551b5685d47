"""What `ci/bench` measures: a module for each subcommand, and the modules that they share."""
