"""The course of a fit: how far it has come, as checkpoints keep it (KM-CKPT of chapter 10)."""
