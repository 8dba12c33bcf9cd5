//! `--print-config`: the configuration as a file that could be used, with origins as comments.

use super::settings::{Setting, Settings};
use crate::masked;
use mainspring_core::kernel::limit::Bound;
use std::fmt::{Display, Write as _};

pub fn shown(settings: &Settings) -> String {
    let mut text = String::new();
    let s = settings;
    line(&mut text, "listen", &s.listen, |value| strings(value));
    line(&mut text, "data", &s.data, |value| quoted(&value.display()));
    if let Some(url) = &s.database.value {
        line(&mut text, "database", &s.database, |_| quoted(&masked::database_url(url)));
    }
    line(&mut text, "workdir", &s.workdir, |value| quoted(&value.display()));
    line(&mut text, "max_processes", &s.max_processes, ToString::to_string);
    line(&mut text, "pass_env", &s.pass_env, |value| strings(value));
    line(&mut text, "secrets_dir", &s.secrets_dir, |value| quoted(&value.display()));
    line(&mut text, "insecure", &s.insecure, ToString::to_string);
    line(&mut text, "hosts", &s.hosts, |value| strings(value));
    line(&mut text, "retention", &s.retention, quoted);
    line(&mut text, "drain", &s.drain, quoted);
    line(&mut text, "read_timeout", &s.read_timeout, quoted);
    if !s.tiers.is_empty() {
        text.push_str("\n[tiers]\n");
    }
    for (name, tier) in &s.tiers {
        line(&mut text, &quoted(name), tier, tier_shown);
    }
    if let (Some(certificate), Some(key)) = (&s.tls_certificate.value, &s.tls_key.value) {
        text.push_str("\n[tls]\n");
        line(&mut text, "certificate", &s.tls_certificate, |_| quoted(&certificate.display()));
        line(&mut text, "key", &s.tls_key, |_| quoted(&key.display()));
    }
    text
}

fn line<T>(text: &mut String, name: &str, setting: &Setting<T>, show: impl Fn(&T) -> String) {
    let _ = writeln!(text, "{name} = {} # {}", show(&setting.value), setting.origin);
}

fn tier_shown(bound: &Bound) -> String {
    match bound.rate {
        None => bound.limit.to_string(),
        Some(rate) => format!("{{ limit = {}, rate = {} }}", bound.limit, quoted(&rate)),
    }
}

fn quoted(value: &impl Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}

fn strings<T: Display>(values: &[T]) -> String {
    let items: Vec<String> = values.iter().map(quoted).collect();
    format!("[{}]", items.join(", "))
}
