// A game of three in a row on one line of five cells, right or with one fault of choice: each fault must be seen by the
// laws.
#pragma once

#include <memory>

#include "../core/game.hpp"

namespace tesuji {

enum class Fault {
  none,
  action_off_the_grid,
  two_actions_on_a_cell,
  same_text,
  unread_text,
  moves_after_the_end,
  no_move_before_the_end,
  lopsided_moves,
  lopsided_planes,
  plane_off_the_grid,
  wild_scalar,
  shared_between_copies,
  score_against_result,
  owner_out_of_place,
  strange_glyph,
  endless,
  forgetful,
  biased_playout,
  biased_random_legal,
  playout_stops_early,
  initial_number_out_of_bounds,
  wild_heuristic,
  illegal_candidate,
  no_candidate,
  illegal_verdict,
};

template <Fault kFault>
class Faulty {
  static constexpr bool is(Fault fault) { return kFault == fault; }

 public:
  static constexpr int kVersion = 1;
  static constexpr Grid kGrid{.rows = 1, .cols = 5};
  static constexpr Symmetry kSymmetry = Symmetry::mirror;
  static constexpr Look kLook = Look::cells;
  static constexpr int kActions = 5;
  static constexpr int kMaxPlies = 5;
  static constexpr int locate(int action) {
    if (action < 4) return action;
    return is(Fault::action_off_the_grid) ? 5 : is(Fault::two_actions_on_a_cell) ? 3 : 4;
  }
  static constexpr std::array kNumbers = {
      Number{"bonus", is(Fault::initial_number_out_of_bounds) ? 9.0 : 0.0, 0, 4, 1, "a number that changes nothing"}};
  double number(int) const { return bonus_; }
  void set_number(int, double value) { bonus_ = value; }

  int to_play() const { return plies_ % 2; }
  Bits<5> legal() const {
    Bits<5> moves = ~(stones_[0] | stones_[1]);
    if (is(Fault::lopsided_moves) && plies_ == 1 && moves.test(0)) moves.reset(0);
    if (is(Fault::no_move_before_the_end) && plies_ == 3) return {};
    if (is(Fault::endless)) return Bits<5>::all();
    if (is(Fault::moves_after_the_end) && result() != Result::ongoing) return Bits<5>::single(0);
    return result() == Result::ongoing ? moves : Bits<5>{};
  }
  void play(int action) {
    stones_[to_play()].set(action);
    ++plies_;
    if (is(Fault::shared_between_copies)) ++*shared_;
    if (is(Fault::forgetful)) luck_ = ++times_played;
  }
  Result result() const {
    if (is(Fault::endless)) return Result::ongoing;
    if (wins(0)) return Result::first;
    if (wins(1)) return Result::second;
    return plies_ == 5 ? Result::draw : Result::ongoing;
  }
  double score() const { return (is(Fault::score_against_result) ? -1 : 1) * (wins(0) - wins(1)); }
  void ownership(int8_t* cells) const {
    for (int cell = 0; cell < 5; ++cell)
      cells[cell] = static_cast<int8_t>(stones_[0].test(cell) - stones_[1].test(cell));
  }
  static bool ownable(int cell) { return !is(Fault::owner_out_of_place) || cell != 2; }

  double heuristic() const { return is(Fault::wild_heuristic) ? 1 + plies_ : 0.1 * plies_; }
  bool candidates(Bits<5>& moves) const {
    moves = is(Fault::illegal_candidate) ? Bits<5>::all() : is(Fault::no_candidate) ? Bits<5>{} : legal();
    return true;
  }
  Verdict verdict() const {
    return is(Fault::illegal_verdict) && plies_ ? Verdict{Bounds::of(1), 1, (stones_[0] | stones_[1]).nth(0)}
                                                : Verdict{};
  }

  static constexpr std::array kPlanes = {"own stones", "other's stones"};
  static constexpr std::array kScalars = {"plies"};
  void encode(Planes& out) const {
    out.put(0, stones_[to_play()]);
    out.put(1, stones_[1 - to_play()]);
    if (is(Fault::lopsided_planes) && stones_[0].test(0)) out.set(1, 0);
    if (is(Fault::plane_off_the_grid)) out.set(0, 5);
    out.scalar(0, is(Fault::wild_scalar) ? 1e9 : is(Fault::shared_between_copies) ? *shared_ % 50 : luck_ % 50);
  }
  char glyph(int cell) const {
    return is(Fault::strange_glyph) ? '\t' : stones_[0].test(cell) ? 'X' : stones_[1].test(cell) ? 'O' : '.';
  }
  static std::string to_text(int action) { return std::to_string(is(Fault::same_text) ? action / 2 : action); }
  static std::optional<int> parse(std::string_view text) {
    if (text.size() != 1 || text[0] < '0' || text[0] > '4') return std::nullopt;
    return is(Fault::unread_text) ? 0 : text[0] - '0';
  }
  static constexpr auto kTextHelp = "a digit 0–4";

  int playout(Random& random) {
    if (is(Fault::playout_stops_early)) return 0;
    int plies = 0;
    for (auto moves = legal(); moves.any() && plies < 5; moves = legal(), ++plies) {
      play(is(Fault::biased_playout) ? moves.nth(0) : moves.nth(random.below(moves.count())));
    }
    return plies;
  }

  int random_legal(Random& random) const {
    const auto moves = legal();
    return is(Fault::biased_random_legal) ? moves.nth(0) : moves.nth(random.below(moves.count()));
  }

  friend bool operator==(const Faulty&, const Faulty&) = default;

 private:
  std::array<Bits<5>, 2> stones_;
  int plies_ = 0;
  int luck_ = 0;
  double bonus_ = kNumbers[0].initial;
  std::shared_ptr<int> shared_ = is(Fault::shared_between_copies) ? std::make_shared<int>(0) : nullptr;
  static inline int times_played = 0;

  bool wins(int player) const {
    const auto s = stones_[player].words[0];
    return (s & s >> 1 & s >> 2) != 0;
  }
};

}  // namespace tesuji
