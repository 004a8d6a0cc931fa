"""What answers a click: dialogs, panels, hosts at the end of a pipe."""
