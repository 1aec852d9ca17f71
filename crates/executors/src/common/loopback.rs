//! The one place that a test may name in place of a provider: this machine.

/// `http://` and a loopback address with an optional port, then an optional plain path: nothing that could lead elsewhere.
pub fn is_loopback(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return false };
    let (authority, path) = rest.find('/').map_or((rest, ""), |end| rest.split_at(end));
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.');
    matches!(host, "localhost" | "127.0.0.1" | "[::1]") && path.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_can_be_named() {
        for url in ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:1/v1/", "http://[::1]"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in [
            "https://127.0.0.1",
            "http://127.0.0.1@example.org",
            "http://example.org",
            "http://127.0.0.1.example.org",
            "http://127.0.0.1:80@example.org",
            "http://localhost:",
            "http://localhost/?x",
            "http://localhost/#x",
            "http://localhost\\@example.org",
            "http://::1",
            "http:///v1",
            "",
        ] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
