"""When a label is worth asking for: one file a rule, pure functions of what is known before the label."""
