"""Tests of refclust.trace on small made-up trees."""
