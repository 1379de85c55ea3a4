"""audit.toml to AuditConfig: sections, cross-checks, JSON Schema, `init`."""
