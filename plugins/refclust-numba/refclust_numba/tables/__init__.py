"""Label pairs, expected information, trees."""
