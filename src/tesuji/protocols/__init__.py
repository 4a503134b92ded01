"""Languages in which board-game programs talk to each other."""
