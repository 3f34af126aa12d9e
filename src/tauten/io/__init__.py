"""Files: what is read and written, without knowing of learners."""
