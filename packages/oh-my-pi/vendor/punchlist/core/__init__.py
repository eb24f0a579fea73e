"""The plan and everything that can be said of it without a clock, a file or a network."""
