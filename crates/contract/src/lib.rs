//! The executor contract and its inspector.
