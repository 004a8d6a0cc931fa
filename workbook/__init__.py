"""The learner-facing layer of Cedar Workbook."""
