"""What happened, in order: kinds of event, and the ledger that keeps them."""
