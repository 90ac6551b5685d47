//! Every format, good and bad.
