"""Quotas of callers and routes, which instances with a store keep together."""
