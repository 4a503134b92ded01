// The door to Python.
#include "door.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The C++ core of Tesuji: games, searches, self-play.";
  tesuji::bind_games(m);
  tesuji::bind_search(m);
  tesuji::bind_table(m);
  tesuji::bind_exact(m);
  tesuji::bind_alphabeta(m);
  tesuji::bind_selfplay(m);
  tesuji::bind_net(m);
}
