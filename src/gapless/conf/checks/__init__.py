"""What can be said about settings, one file for each family. A family has RULES and `look(subject)`."""
