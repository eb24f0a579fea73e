"""What to say to an agent, and when: pure functions of the plan, of how its reader's work goes, and of the limits.

`listen` reads a conversation, `asking` its last words; `remind` and `resume` decide; `brief` puts a plan into words.
No clock, no file.
"""
