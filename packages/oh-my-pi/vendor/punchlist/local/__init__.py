"""This machine, beside the store: settings, private files, the event log, off and on, who belongs to which session."""
