"""One-step maps (q, p) → (q, p) that keep what the mechanics keeps."""
