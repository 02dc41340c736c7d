"""The 14 covariance models and their M-steps (chapter 32, GMM-COVM)."""
