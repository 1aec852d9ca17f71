//! The example of the documentation runs as it stands there.
