// Connect Four, as an example of a game: docs/adding-a-game.md walks through this file.
//
// A disc dropped into a column falls to the column's lowest empty cell. Four or more in a line (row, column, diagonal)
// win; a full board is a draw.
//
// To play it, copy this file to cpp/games, let it include "../core/game.hpp" there, and in cpp/games/all.cpp include
// "connect_four.hpp" and add a line to the list: {any_game<ConnectFour>("connect-four", "Connect Four")},
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "../cpp/core/game.hpp"

namespace tesuji {

class ConnectFour {
 public:
  // ── What it is, and how it lies on a grid ──
  static constexpr int kVersion = 1;  // raised when the rules or the planes change
  static constexpr Grid kGrid{.rows = 6, .cols = 7};
  static constexpr Symmetry kSymmetry = Symmetry::mirror;  // left-right only: discs fall, so top and bottom differ
  static constexpr Look kLook = Look::cells;
  static constexpr int kActions = 7;  // an action is a column
  static constexpr int kMaxPlies = 42;
  // An action has one cell, the same in every position: the top of its column, where the disc goes in. Cells are
  // numbered by rows from the top left, so the top of column 3 is cell 3.
  static constexpr int locate(int action) { return action; }

  // ── The rules ──
  int to_play() const { return plies_ % 2; }

  Bits<kActions> legal() const {
    Bits<kActions> columns;
    if (result_ != Result::ongoing) return columns;  // none at the end
    for (int col = 0; col < kGrid.cols; ++col) {
      if (height_[col] < kGrid.rows) columns.set(col);
    }
    return columns;
  }

  void play(int action) {  // only ever given a legal action
    const int player = to_play(), cell = landing(action);
    discs_[player].set(cell);
    ++height_[action];
    ++plies_;
    if (wins(player, cell)) {
      result_ = player == 0 ? Result::first : Result::second;
    } else if (plies_ == kMaxPlies) {
      result_ = Result::draw;
    }
  }

  Result result() const { return result_; }

  // ── What a network sees, from the mover's side. All planes are zero before `encode` writes. ──
  static constexpr std::array kPlanes = {"own discs", "other's discs", "cells where a disc can land"};
  static constexpr std::array<const char*, 0> kScalars{};
  void encode(Planes& out) const {
    out.put(0, discs_[to_play()]);
    out.put(1, discs_[1 - to_play()]);
    legal().each([&](int col) { out.set(2, landing(col)); });
  }

  // ── What a person sees ──
  char glyph(int cell) const { return discs_[0].test(cell) ? 'X' : discs_[1].test(cell) ? 'O' : '.'; }

  // ── Optional: move texts. Without these three the moves would be named by their cells, a6 … g6. ──
  static constexpr auto kTextHelp = "a column a–g";
  static std::string to_text(int action) { return std::string(1, static_cast<char>('a' + action)); }
  static std::optional<int> parse(std::string_view text) {
    if (text.size() != 1) return std::nullopt;
    const char small = static_cast<char>(text[0] | 0x20);  // capitals are read too
    return 'a' <= small && small <= 'g' ? std::optional(small - 'a') : std::nullopt;
  }

  // ── Optional: why a move is illegal, for people ──
  const char* objection(int) const { return "that column is full"; }

  // A game is a regular value: a new one is the start, it copies, and it compares.
  friend bool operator==(const ConnectFour&, const ConnectFour&) = default;

 private:
  std::array<Bits<kGrid.cells()>, 2> discs_;  // of each player, by cell
  std::array<uint8_t, kGrid.cols> height_{};  // discs in each column
  uint8_t plies_ = 0;
  Result result_ = Result::ongoing;

  int landing(int col) const { return (kGrid.rows - 1 - height_[col]) * kGrid.cols + col; }

  /// Whether four or more of the player's discs stand in a line through the cell.
  bool wins(int player, int cell) const {
    const auto beyond = [&](int down, int right) {  // the player's discs from the cell on in one direction
      int row = kGrid.row(cell), col = kGrid.col(cell), count = 0;
      for (;; ++count) {
        row += down, col += right;
        if (row < 0 || row >= kGrid.rows || col < 0 || col >= kGrid.cols) return count;
        if (!discs_[player].test(row * kGrid.cols + col)) return count;
      }
    };
    for (const auto& [down, right] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
      if (beyond(down, right) + 1 + beyond(-down, -right) >= 4) return true;
    }
    return false;
  }
};

static_assert(Game<ConnectFour>);  // says here what is missing or of the wrong type

}  // namespace tesuji
