"""Whether a command line that was run is a run of a check, and whether it passed. Words are read, nothing is run."""
