"""What model files hold, as plain records (chapter 11)."""
