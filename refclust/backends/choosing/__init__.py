"""Which backend runs a kernel, and what it must have shown before (BK-SELECT, BK-EARN)."""
