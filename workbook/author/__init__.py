"""What an author of chapters is given: a scaffold, a guide, a pytest plug-in, evidence."""
