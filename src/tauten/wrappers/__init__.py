"""What wraps a learner and is one."""
