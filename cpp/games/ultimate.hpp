// Ultimate Tic-Tac-Toe: nine small boards of nine cells; the cell played names the small board to answer in.
#pragma once

#include <array>
#include <cmath>

#include "../core/game.hpp"

namespace tesuji {

/// What decides when all small boards are decided and nobody has three in a line.
enum class UltimateTie { draw, count };

template <UltimateTie kTie>
class Ultimate {
 public:
  static constexpr int kVersion = 2;
  static constexpr Grid kGrid{.rows = 9, .cols = 9};
  static constexpr Symmetry kSymmetry = Symmetry::square;
  static constexpr Look kLook = Look::cells;
  static constexpr int kBlock = 3;
  static constexpr int kActions = 81;
  static constexpr int kMaxPlies = 81;
  static constexpr int locate(int action) { return action; }

  int to_play() const { return mover_; }

  Bits<81> legal() const {
    Bits<81> moves;
    if (result() != Result::ongoing) return moves;
    for_open_boards([&](int board) { add(moves, board, free(board)); });
    return moves;
  }

  void play(int action) { mark(kBoardOf[action], kInnerOf[action]); }

  Result result() const {
    if (kLine[won_[0]]) return Result::first;
    if (kLine[won_[1]]) return Result::second;
    if (decided() != kFull) return Result::ongoing;
    if constexpr (kTie == UltimateTie::count) return result_of(std::popcount(won_[0]) - std::popcount(won_[1]));
    return Result::draw;
  }

  /// Who can win no more: he has no line of small boards that are his, or in which he has an open line.
  Verdict verdict() const {
    if constexpr (kTie == UltimateTie::count) return {};
    std::array<unsigned, 2> reach{won_[0], won_[1]};
    for (unsigned open = kFull & ~decided(); open; open &= open - 1) {
      const int board = std::countr_zero(open);
      for (const int player : {0, 1}) reach[player] |= unsigned{kLine[kFull & ~marks_[1 - player][board]]} << board;
    }
    return {{static_cast<int8_t>(kLine[reach[1]] ? -1 : 0), static_cast<int8_t>(kLine[reach[0]] ? 1 : 0)}};
  }

  void ownership(int8_t* cells) const {
    for (int cell = 0; cell < 81; ++cell) {
      const int board = kBoardOf[cell];
      cells[cell] = static_cast<int8_t>((won_[0] >> board & 1) - (won_[1] >> board & 1));
    }
  }

  /// The small boards of the line that won.
  Bits<81> line() const {
    unsigned boards = 0;
    for (const auto& [a, b, c] : kLines) {
      const unsigned three = 1u << a | 1u << b | 1u << c;
      for (const unsigned won : won_) boards |= (won & three) == three ? three : 0;
    }
    return whole_boards(boards);
  }

  /// For each player the chance of each small board, and from these the chance of each line of the large one.
  double heuristic() const {
    std::array<std::array<float, 9>, 2> chance;
    float sum = 0;
    for (int board = 0; board < 9; ++board) {
      const int first = kTernary[marks_[0][board]], second = kTernary[marks_[1][board]];
      chance[0][board] = kChance[first + 2 * second];
      chance[1][board] = kChance[second + 2 * first];
      constexpr std::array kWeight{0.15f, 0.1f, 0.15f, 0.1f, 0.2f, 0.1f, 0.15f, 0.1f, 0.15f};
      sum += kWeight[board] * (chance[0][board] - chance[1][board]);
    }
    for (const auto& [a, b, c] : kLines) {
      sum += 1.5f * (chance[0][a] * chance[0][b] * chance[0][c] - chance[1][a] * chance[1][b] * chance[1][c]);
    }
    // To move is worth something, to move anywhere more.
    sum += (mover_ == 0 ? 1.0f : -1.0f) * (target_ == kAnywhere ? 0.12f : 0.04f);
    return sum / (1 + std::abs(sum));
  }

  static constexpr std::array kPlanes = {
      "own marks",
      "other's marks",
      "small boards that the mover won",
      "small boards that the other won",
      "small boards drawn",
      "legal moves",
      "last move",
      "cells that win a small board for the mover",
      "cells that win a small board for the other",
      "small boards that would win the game for the mover",
      "small boards that would win the game for the other",
      "cells that send the other anywhere",
      "cells that send the other where he wins a small board",
      "cells that send the other where he wins the game",
  };
  static constexpr std::array<const char*, 0> kScalars{};
  void encode(Planes& out) const {
    put_marks(out, 0);
    out.put(2, whole_boards(won_[mover_]));
    out.put(3, whole_boards(won_[1 - mover_]));
    out.put(4, whole_boards(drawn_));
    out.put(5, legal());
    out.set_if(6, last_);
    // What a cell leads to lies far away on the board: where the other is sent, and what he finds there.
    const int other = 1 - mover_;
    const unsigned open = kFull & ~decided();
    const unsigned crown[2] = {kWins[won_[mover_]] & open, kWins[won_[other]] & open};
    Bits<81> wins[2];
    unsigned can_win = 0;  // small boards where the other can complete a line
    for (unsigned left = open; left; left &= left - 1) {
      const int board = std::countr_zero(left);
      const unsigned mine = kWins[marks_[mover_][board]] & free(board), his = kWins[marks_[other][board]] & free(board);
      add(wins[0], board, mine);
      add(wins[1], board, his);
      can_win |= unsigned{his != 0} << board;
    }
    // Who is sent to a decided board may play anywhere.
    const unsigned anywhere = kFull & ~open;
    const unsigned prize = can_win | (can_win ? anywhere : 0);
    const unsigned end = (can_win & crown[1]) | (can_win & crown[1] ? anywhere : 0);
    Bits<81> sends, gives, loses;
    for (unsigned left = open; left; left &= left - 1) {
      const int board = std::countr_zero(left);
      add(sends, board, free(board) & anywhere);
      add(gives, board, free(board) & prize);
      add(loses, board, free(board) & end);
    }
    out.put(7, wins[0]);
    out.put(8, wins[1]);
    out.put(9, whole_boards(crown[0]));
    out.put(10, whole_boards(crown[1]));
    out.put(11, sends);
    out.put(12, gives);
    out.put(13, loses);
  }

  // Study U: the two planes of stones alone.
  static constexpr std::array kPaperPlanes = {"own marks", "other's marks"};
  void encode_paper(Planes& out) const { put_marks(out, 0); }

  // A board that is won is all his who won it: how he did is of no account.
  void encode_boards(Planes& out) const {
    for (int side = 0; side < 2; ++side) {
      const int player = side ? 1 - mover_ : mover_;
      Bits<81> cells = whole_boards(won_[player]);
      for (unsigned left = kFull & ~(won_[0] | won_[1]); left; left &= left - 1)
        add(cells, std::countr_zero(left), marks_[player][std::countr_zero(left)]);
      out.put(side, cells);
    }
    unsigned boards = 0;
    if (result() == Result::ongoing) for_open_boards([&](int board) { boards |= 1u << board; });
    out.put(2, whole_boards(boards));
  }

  char glyph(int cell) const {
    const int board = kBoardOf[cell], inner = kInnerOf[cell];
    return marks_[0][board] >> inner & 1   ? 'X'
           : marks_[1][board] >> inner & 1 ? 'O'
           : decided() >> board & 1        ? ' '
                                           : '.';
  }

  const char* objection(int action) const {
    const int board = kBoardOf[action], inner = kInnerOf[action];
    if ((marks_[0][board] | marks_[1][board]) >> inner & 1) return "that cell is taken";
    if (decided() >> board & 1) return "that small board is decided";
    return "the last move sends you to another small board";
  }

  uint64_t hash() const {
    uint64_t h = mover_ + 2 * static_cast<uint64_t>(target_);
    for (int board = 0; board < 9; ++board)
      h = mix(h ^ (uint64_t{marks_[0][board]} << 32 | uint64_t{marks_[1][board]} << 8));
    return h;
  }

  int playout(Random& random) {
    int plies = 0;
    for (; result() == Result::ongoing; ++plies) {
      int board = target_;
      unsigned cells;
      if (board != kAnywhere) {
        cells = free(board);
      } else {
        // Every free cell of every open board is as likely as any other.
        int sum = 0;
        for_open_boards([&](int b) { sum += std::popcount(free(b)); });
        int k = random.below(sum);
        unsigned open = kFull & ~decided();
        for (;; open &= open - 1) {
          board = std::countr_zero(open);
          cells = free(board);
          if (k < std::popcount(cells)) break;
          k -= std::popcount(cells);
        }
      }
      mark(board, kNth[cells][random.below(std::popcount(cells))]);
    }
    return plies;
  }

  friend bool operator==(const Ultimate&, const Ultimate&) = default;

 private:
  static constexpr int kAnywhere = 9;
  static constexpr unsigned kFull = 0x1ff;

  // marks_[player][board]: the cells of a small board that a player holds, a bit each, by rows. The large board is one
  // more such board.
  std::array<std::array<uint16_t, 9>, 2> marks_{};
  std::array<uint16_t, 2> won_{};  // small boards won
  uint16_t drawn_ = 0;             // small boards full, and won by nobody
  int8_t target_ = kAnywhere;      // the small board to play in
  uint8_t mover_ = 0;
  int8_t last_ = -1;

  unsigned decided() const { return won_[0] | won_[1] | drawn_; }
  unsigned free(int board) const { return kFull & ~(marks_[0][board] | marks_[1][board]); }

  template <class Visit>
  void for_open_boards(Visit visit) const {
    if (target_ != kAnywhere) {
      visit(target_);
    } else {
      for (unsigned open = kFull & ~decided(); open; open &= open - 1) visit(std::countr_zero(open));
    }
  }

  void mark(int board, int inner) {
    const auto mine = marks_[mover_][board] |= static_cast<uint16_t>(1u << inner);
    if (kLine[mine]) {
      won_[mover_] |= static_cast<uint16_t>(1u << board);
    } else if ((mine | marks_[1 - mover_][board]) == kFull) {
      drawn_ |= static_cast<uint16_t>(1u << board);
    }
    target_ = static_cast<int8_t>(decided() >> inner & 1 ? kAnywhere : inner);
    mover_ = 1 - mover_;
    last_ = static_cast<int8_t>(kCellOf[board][inner]);
  }

  void put_marks(Planes& out, int plane) const {
    for (int side = 0; side < 2; ++side) {
      Bits<81> cells;
      for (int board = 0; board < 9; ++board) add(cells, board, marks_[side ? 1 - mover_ : mover_][board]);
      out.put(plane + side, cells);
    }
  }
  static Bits<81> whole_boards(unsigned boards) {
    Bits<81> cells;
    for (; boards; boards &= boards - 1) add(cells, std::countr_zero(boards), kFull);
    return cells;
  }
  /// Adds the inner cells of a small board to a set of cells of the grid.
  static void add(Bits<81>& cells, int board, unsigned inner) {
    // Three rows of three cells, which lie nine cells apart.
    const uint64_t rows = (inner & 0007) | (inner & 0070) << 6 | (inner & 0700) << 12;
    const int first = kCellOf[board][0];
    cells.words[0] |= rows << first;
    if (first > 43) cells.words[1] |= rows >> (64 - first);
  }

  static constexpr std::array<std::array<uint8_t, 3>, 8> kLines{
      {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}}};
  static constexpr auto kLine = [] {
    std::array<bool, 512> line{};
    for (unsigned s = 0; s < 512; ++s) {
      for (const unsigned three : {0007u, 0070u, 0700u, 0111u, 0222u, 0444u, 0421u, 0124u})
        line[s] |= (s & three) == three;
    }
    return line;
  }();
  /// The cells that complete a line of a set.
  static constexpr auto kWins = [] {
    std::array<uint16_t, 512> wins{};
    for (unsigned s = 0; s < 512; ++s) {
      for (unsigned i = 0; i < 9; ++i) {
        if (!(s >> i & 1) && kLine[s | 1u << i]) wins[s] = static_cast<uint16_t>(wins[s] | 1u << i);
      }
    }
    return wins;
  }();
  /// The chance that a player whose marks count once wins a small board from one whose marks count twice: his share of
  /// what the lines that are still open are worth. (A compiler that works it out beforehand takes half a minute.)
  static std::array<float, 19683> chances() {
    std::array<float, 19683> chance{};
    for (unsigned mine = 0; mine < 512; ++mine) {
      for (unsigned rest = 0x1ff & ~mine, others = rest;; others = (others - 1) & rest) {
        constexpr std::array kWorth{1.0f, 3.0f, 10.0f};
        float share[2] = {0, 0};
        for (const auto& [a, b, c] : kLines) {
          const unsigned line = 1u << a | 1u << b | 1u << c;
          if (!(line & others) && !kLine[mine]) share[0] += kWorth[std::popcount(line & mine)];
          if (!(line & mine) && !kLine[others]) share[1] += kWorth[std::popcount(line & others)];
        }
        const float sum = share[0] + share[1];
        chance[kTernary[mine] + 2 * kTernary[others]] = kLine[mine]             ? 1
                                                        : kLine[others] || !sum ? 0
                                                                                : share[0] / (sum + 2);
        if (!others) break;
      }
    }
    return chance;
  }
  static inline const auto kChance = chances();
  /// kNth[set][k]: member number k of a set of inner cells.
  static constexpr auto kNth = [] {
    std::array<std::array<uint8_t, 9>, 512> nth{};
    for (unsigned s = 0; s < 512; ++s) {
      int k = 0;
      for (int i = 0; i < 9; ++i) {
        if (s >> i & 1) nth[s][k++] = static_cast<uint8_t>(i);
      }
    }
    return nth;
  }();
  static constexpr auto kBoardOf = [] {
    std::array<uint8_t, 81> board{};
    for (int cell = 0; cell < 81; ++cell) board[cell] = static_cast<uint8_t>(cell / 27 * 3 + cell % 9 / 3);
    return board;
  }();
  static constexpr auto kInnerOf = [] {
    std::array<uint8_t, 81> inner{};
    for (int cell = 0; cell < 81; ++cell) inner[cell] = static_cast<uint8_t>(cell / 9 % 3 * 3 + cell % 3);
    return inner;
  }();
  static constexpr auto kCellOf = [] {
    std::array<std::array<uint8_t, 9>, 9> cells{};
    for (int cell = 0; cell < 81; ++cell) cells[kBoardOf[cell]][kInnerOf[cell]] = static_cast<uint8_t>(cell);
    return cells;
  }();
};

}  // namespace tesuji
