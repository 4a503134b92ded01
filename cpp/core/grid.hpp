// The one home of coordinates: cells of a rows × cols grid, their names, and the symmetries of the grid.
//
// Cells are numbered by rows from the top left. A cell's name is a column letter and a row number, row 1 at the bottom:
//
//     3 | 0 1 2
//     2 | 3 4 5        cell 0 is a3, cell 5 is c2
//     1 | 6 7 8
//         a b c
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesuji {

/// What carries a game to itself: nothing, left-right, the four of a rectangle, the eight of a square.
enum class Symmetry { none, mirror, rectangle, square };

/// How many symmetries there are, the identity (number 0) among them.
constexpr int count(Symmetry s) {
  switch (s) {
    case Symmetry::none: return 1;
    case Symmetry::mirror: return 2;
    case Symmetry::rectangle: return 4;
    case Symmetry::square: return 8;
  }
  return 1;
}

struct Grid {
  int rows, cols;
  bool skips_i = false;  // column letters leave out the i, as Go players do

  constexpr int cells() const { return rows * cols; }
  constexpr int row(int cell) const { return cell / cols; }
  constexpr int col(int cell) const { return cell % cols; }

  /// Where symmetry number `s` carries a cell. Its bits: 4 transpose, then 2 top-bottom, then 1 left-right.
  constexpr int carry(int s, int cell) const {
    int r = row(cell), c = col(cell);
    if (s & 4) {
      const int swap = r;
      r = c;
      c = swap;
    }
    if (s & 2) r = rows - 1 - r;
    if (s & 1) c = cols - 1 - c;
    return r * cols + c;
  }

  char letter(int col) const { return static_cast<char>('a' + col + (skips_i && col >= 'i' - 'a')); }
  std::string name(int cell) const { return letter(col(cell)) + std::to_string(rows - row(cell)); }

  /// The cell of that name, in small or capital letters; nothing where there is none.
  std::optional<int> find(std::string_view name) const {
    if (name.size() < 2 || name.size() > 3 || name[1] == '0') return std::nullopt;
    int number = 0;
    for (const char digit : name.substr(1)) {
      if (digit < '0' || digit > '9') return std::nullopt;
      number = 10 * number + (digit - '0');
    }
    if (number > rows) return std::nullopt;
    const char small = name[0] >= 'A' && name[0] <= 'Z' ? static_cast<char>(name[0] - 'A' + 'a') : name[0];
    for (int c = 0; c < cols; ++c) {
      if (letter(c) == small) return (rows - number) * cols + c;
    }
    return std::nullopt;
  }
};

}  // namespace tesuji
