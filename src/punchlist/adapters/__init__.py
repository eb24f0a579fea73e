"""Adapters: the plan inside of a framework for agents, one file for each. Nothing else imports them.

safe_desk   what they share: desks that no failing store can stop, one for each session and agent
"""
