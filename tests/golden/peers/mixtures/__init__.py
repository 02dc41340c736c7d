"""What peers compute for mixtures and discriminants: scripts and the JSON files they wrote."""
