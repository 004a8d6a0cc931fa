"""The Review Desk: a release note, a person who reviews it, and an agent that may be granted exactly one change.

From the bottom up, each module importing only from those before it (spec/review.md):

- `states`        the one table: phases, actions, and what becomes of note and grant
- `packed`        the words and the release note, as the packaged data has them
- `words`         the words, typed
- `entries`       the entries of a session, and the lines they are saved as
- `tree`          one session as a tree of entries, and the branch that counts
- `note`          the note as a branch has it: text, status, revision
- `events`        what happened, for the ledger
- `display`       untrusted text for a terminal: sanitised, measured, wrapped
- `panel`         the overlay panel as pure state: rows and keys
- `surface`       what a host shows without asking: notices, status, widget, messages
- `overlay`       who shows the panel: opened, closed once, hidden on abort
- `sessions`      a host's sessions, and the moves between and inside them
- `machine`       what the desk keeps in memory: phase, grant, epoch; every step of the table
- `desk`          the commands, the dialogs they open, and what is said
- `tool`          `review_desk`: discover, inspect, query, act, and the ten checks
- `store`         a session's lines in memory, where no file may be opened
- `host`          a small host with the desk loaded, for cases, tests and notebooks
- `matrix`        every command in every mode, played
- `session_file`  entries on disk; its caller says where
- `script`        the steps of a `review` case

The grant lives in the memory of one desk and nowhere else. The note lives in the session's entries and nowhere
else: it is rebuilt from the current branch on every operation, and nothing of it is kept.
"""
