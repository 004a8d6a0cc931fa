"""What drives a coroutine until it asks, and the dialogs it can ask with."""
