"""Families: the compiled loops that move one kind of state each. Nothing here knows of estimators."""
