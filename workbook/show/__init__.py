"""What is shown, and how: blocks, tables, plots, and the templates of whole pages."""
