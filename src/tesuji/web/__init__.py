"""The web app: a server, and pages that know no rules. This room alone knows HTTP.

work    searches in slices on a few threads, shared fairly by all tables
tree    one game with its variations, and its form in JSON
levels  named opponents, from beginner to strongest
review  a finished game judged, move by move
table   one person's table: the commands, and what is told
lab     runs of training: listed, watched, started, stopped
server  HTTP, the websocket, limits
"""
