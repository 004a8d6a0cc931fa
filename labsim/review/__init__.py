"""The Review Desk: a release note, a person who reviews it, and an agent that may be granted exactly one change.

The grant lives in the memory of one desk and nowhere else. The note lives in the session's entries and nowhere
else: it is rebuilt from the current branch on every operation, and nothing of it is kept.
"""
