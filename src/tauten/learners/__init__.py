"""One file a learner, named as its paper names it: the problem, its closed form, the class."""
