"""The desk's words and its release note, made from `fixtures/review-desk` by `pack`: do not edit.

A case can open no file, so what it needs of these is in here; a test holds it
equal to the files.
"""

from __future__ import annotations

from typing import Final

COPY_JSON: Final = (
    "{\n"
    '  "entry": "workbook-review-desk-state",\n'
    '  "note": "release-note.txt",\n'
    '  "tool": {\n'
    '    "name": "review_desk",\n'
    '    "label": "Review Desk",\n'
    '    "description": "Read the release note under review, or make the one change that the human has gr'
    'anted.",\n'
    '    "authorization": "A human grants one change on one exact revision of this session with /review-d'
    'esk delegate; the grant is used up by that change.",\n'
    '    "transport": "local-only"\n'
    "  },\n"
    '  "command": {\n'
    '    "name": "review-desk",\n'
    '    "description": "Review the release note: show, review, delegate, revoke, overlay."\n'
    "  },\n"
    '  "editor": {\n'
    '    "title": "Edit the release note",\n'
    '    "hint": "Enter starts a new line. Ctrl+Q or Ctrl+Enter submits, Escape cancels."\n'
    "  },\n"
    '  "selector": {\n'
    '    "title": "Record the review",\n'
    '    "accept": "Accept locally",\n'
    '    "reject": "Reject",\n'
    '    "cancel": "Cancel"\n'
    "  },\n"
    '  "confirm": {\n'
    '    "title": "Permit one agent change?",\n'
    '    "message": "Revision {revision}, this session, one change."\n'
    "  },\n"
    '  "notices": {\n'
    '    "unknown_command": "Unknown command. Use: show, review, delegate, revoke, overlay.",\n'
    '    "busy": "Review dialog open. Finish it or run /review-desk revoke.",\n'
    '    "no_ui": "Interactive review needs a UI. State is unchanged; use inspect or query.",\n'
    '    "needs_terminal": "The overlay needs the terminal UI. Use /review-desk review.",\n'
    '    "granted": "One change permitted at revision {revision}.",\n'
    '    "declined": "No permission given.",\n'
    '    "revoked": "Permission removed.",\n'
    '    "nothing_to_revoke": "No permission to remove.",\n'
    '    "closed": "Review dialog closed; nothing recorded."\n'
    "  },\n"
    '  "errors": {\n'
    '    "unknown_op": "Unknown op: use discover, inspect, query, or act.",\n'
    '    "missing_action": "Missing action: use revise, accept, reject, or cancel.",\n'
    '    "unknown_action": "Unknown action: {action}.",\n'
    '    "missing_revision": "Missing expectedRevision: pass the inspected revision.",\n'
    '    "missing_text": "Missing text: revise requires text.",\n'
    '    "unexpected_text": "Unexpected text: only revise takes text.",\n'
    '    "invalid_text": "Blank or over-12000-character draft.",\n'
    '    "busy": "Review dialog open: wait for the human to finish.",\n'
    '    "no_grant": "No human grant: ask the human to run /review-desk delegate.",\n'
    '    "mismatch": "Revision mismatch: expected {expected}, current {current}.",\n'
    '    "no_fixture": "Fixture unavailable: {name}",\n'
    '    "not_saved": "Nothing recorded: the session could not be saved ({reason})."\n'
    "  },\n"
    '  "status": {\n'
    '    "key": "review-desk",\n'
    '    "plain": "{status} r{revision}",\n'
    '    "granted": "{status} r{revision} · one change permitted"\n'
    "  },\n"
    '  "widget": {\n'
    '    "key": "review-desk",\n'
    '    "title": "Review desk: {status}, revision {revision}",\n'
    '    "permission": "Permission: {permission}",\n'
    '    "none": "none",\n'
    '    "one_change": "one change at revision {revision}",\n'
    '    "note": "Note: {line}"\n'
    "  },\n"
    '  "message": {\n'
    '    "type": "review-desk",\n'
    '    "summary": "Release note: {status}, revision {revision}. Permission: {permission}.",\n'
    '    "more": "Expand to read the note."\n'
    "  },\n"
    '  "panel": {\n'
    '    "title": "Review desk: {status}, revision {revision}",\n'
    '    "position": "Lines {first}-{last} of {total}",\n'
    '    "hint": "Up/Down scroll  a accept  r reject  Esc cancel"\n'
    "  },\n"
    '  "session": {\n'
    '    "torn": "The last line was cut short after {bytes} bytes and is left out. Everything before it i'
    's kept.",\n'
    '    "skipped": "Line {line} is no entry and is left out."\n'
    "  }\n"
    "}\n"
)

RELEASE_NOTE: Final = (
    "Cedar Seed Library: what is new on the shelves\n"
    "\n"
    "The library now lends seeds in paper sleeves instead of glass jars.\n"
    "A sleeve holds about twenty seeds and carries three dates: picked,\n"
    "packed, and best sown by.\n"
    "\n"
    "Changed\n"
    "- Beans and peas moved from the north wall to the cool cupboard.\n"
    "- Borrowers may keep a sleeve for two seasons before they return seed.\n"
    "- The tomato shelf is sorted by ripening week, no longer by name.\n"
    "\n"
    "Known troubles\n"
    "- Forty sleeves of runner beans carry last year's label. Ask at the desk.\n"
    "- The return box by the gate sticks in wet weather.\n"
    "\n"
    "Coming next: a swap table on the first Saturday of each month.\n"
)
