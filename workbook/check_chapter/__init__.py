"""Whether a chapter keeps its promises."""
