#include "selfplay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../search/exact/exact.hpp"

namespace tesuji {

SelfPlayCounters& SelfPlayCounters::operator+=(const SelfPlayCounters& o) {
  games += o.games;
  plies += o.plies;
  positions += o.positions;
  simulations += o.simulations;
  evaluations += o.evaluations;
  first_wins += o.first_wins;
  draws += o.draws;
  resigned += o.resigned;
  solved += o.solved;
  resign_checked += o.resign_checked;
  resign_wrong += o.resign_wrong;
  value_error += o.value_error;
  return *this;
}

/// One place at the table: the game that is played there now.
struct SelfPlay::Seat {
  Seat(AnyState start, const SearchSettings& settings, uint64_t seed, int number)
      : number(number), random(mix(seed)), search(std::move(start), settings, seed) {}

  int number;
  Random random;
  Search search;
  Record record;
  bool full = true;                // the search under way is one to learn from
  uint32_t counted = 0;            // visits of its root that are no news: kept from the last move, or counted already
  int low[2] = {0, 0};             // plies running that each player's hope was low
  bool checked = false;            // nobody may give up
  int would_resign = -1;           // the player who would have
  bool plays_on = false;           // though the rest is known
  Result known = Result::ongoing;  // what a solver says of the position
  double too_hard = 0;             // the effort at which it gave up last
};

SelfPlay::SelfPlay(const AnyGame& game, std::vector<double> numbers, const Encoding& encoding,
                   const SelfPlaySettings& settings, int games, uint64_t seed, std::shared_ptr<Crew> crew)
    : game_(&game),
      encoding_(&encoding),
      numbers_(std::move(numbers)),
      settings_(settings),
      desks_(crew->threads()),
      crew_(std::move(crew)) {
  for (int i = 0; i < games; ++i) {
    seats_.push_back(std::make_unique<Seat>(AnyState(game, numbers_), settings_.search, mix(mix(seed) + i), i));
    new_game(*seats_.back());
  }
}

SelfPlay::~SelfPlay() { end_step(); }

void SelfPlay::begin_step(const float* logits, const float* values, uint64_t* planes) {
  end_step();
  step_ = {this, logits, values, planes};
  growing_ = true;
  const int chunk = std::clamp(games() / (8 * static_cast<int>(desks_.size())), 1, 64);
  task_ = crew_->start(games(), chunk, step_);
}

void SelfPlay::Step::operator()(int from, int to, int thread) const {
  const size_t actions = group->game_->spec.actions, words = group->encoding_->packed_words();
  Desk& desk = group->desks_[thread];
  const auto& seats = group->seats_;
  if (!desk.room) desk.room.emplace(*group->game_, group->numbers_);
  for (int i = from - Search::kStages; i < to; ++i) {
    // There are far more games than caches hold: what the next ones need is under way while this one is at work.
    for (int stage = 0; stage < Search::kStages; ++stage) {
      const int ahead = i + Search::kStages - stage;
      if (from <= ahead && ahead < to) seats[ahead]->search.fetch(stage);
    }
    if (i < from) continue;
    Seat& seat = *seats[i];
    if (group->waiting_) {
      seat.search.deliver(0, logits + i * actions, values[i]);
      seat.search.end_delivery();
      ++desk.counters.evaluations;
    }
    seat.search.lend(std::move(*desk.room));
    group->next_leaf(seat, desk);
    seat.search.leaf(0).encode_packed(*group->encoding_, planes + i * words);
    *desk.room = seat.search.take_back();
  }
}

void SelfPlay::end_step() {
  if (!growing_) return;
  crew_->finish(task_);
  growing_ = false;
  waiting_ = true;
  // In the order of the seats: the same seed gives the same records, however threads shared the work.
  std::vector<Finished> finished;
  for (Desk& desk : desks_) {
    std::move(desk.finished.begin(), desk.finished.end(), std::back_inserter(finished));
    desk.finished.clear();
  }
  std::stable_sort(finished.begin(), finished.end(), [](const auto& a, const auto& b) { return a.seat < b.seat; });
  for (const Finished& f : finished) frames_.insert(frames_.end(), f.frame.begin(), f.frame.end());
}

std::vector<uint8_t> SelfPlay::take() { return std::exchange(frames_, {}); }

SelfPlayCounters SelfPlay::counters() const {
  SelfPlayCounters sum;
  for (const Desk& desk : desks_) sum += desk.counters;
  return sum;
}

// ── One game ────────────────────────────────────────────────────────────────────────────────────────────────────────

void SelfPlay::new_game(Seat& seat) {
  Record& record = seat.record;
  record.plies.clear();
  record.numbers = numbers_;
  record.net = net_;
  for (size_t i = 0; i < settings_.vary.size(); ++i) {
    if (settings_.vary[i] <= 0 || seat.random.real() >= settings_.vary_share) continue;
    const Number& n = game_->spec.numbers[i];
    const double moved = numbers_[i] + settings_.vary[i] * seat.random.normal();
    record.numbers[i] = std::clamp(n.least + n.step * std::round((moved - n.least) / n.step), n.least, n.most);
  }
  AnyState state(*game_, record.numbers);
  if (seat.random.real() < settings_.opening_share) {
    for (int left = 1 + seat.random.below(std::max(1, settings_.opening_plies)); left > 0; --left) {
      const auto legal = state.legal();
      AnyState next = state;
      const int action = legal[seat.random.below(static_cast<int>(legal.size()))];
      game_->play(next.get(), action);
      if (next.result() != Result::ongoing) break;  // an opening leaves something to play
      state = std::move(next);
      Record::Ply ply;
      ply.action = static_cast<uint16_t>(action);
      record.plies.push_back(std::move(ply));
    }
  }
  seat.low[0] = seat.low[1] = 0;
  seat.checked = seat.random.real() < settings_.resign_checked;
  seat.would_resign = -1;
  seat.plays_on = settings_.solve > 0 && seat.random.real() < settings_.play_on;
  seat.known = Result::ongoing;
  seat.too_hard = std::numeric_limits<double>::infinity();
  seat.search.restart(std::move(state), {});
  begin_search(seat);
}

void SelfPlay::begin_search(Seat& seat) {
  seat.full = settings_.full_share >= 1 || seat.random.real() < settings_.full_share;
  seat.counted = seat.search.visits();
  seat.search.begin(seat.full ? settings_.search.visits : settings_.fast_visits, seat.full);
}

void SelfPlay::next_leaf(Seat& seat, Desk& desk) {
  while (seat.search.collect() == 0) {
    count(seat, desk);
    if (seat.search.done()) move(seat, desk);
  }
  count(seat, desk);
}

void SelfPlay::count(Seat& seat, Desk& desk) {
  desk.counters.simulations += seat.search.visits() - seat.counted;
  seat.counted = seat.search.visits();
}

void SelfPlay::move(Seat& seat, Desk& desk) {
  Search& search = seat.search;
  const double fade = std::exp2(-static_cast<double>(seat.record.plies.size()) / settings_.temperature_plies);
  const double temperature = settings_.final_temperature + (settings_.temperature - settings_.final_temperature) * fade;
  const int action = search.played_action(temperature, seat.random);
  write_ply(seat, desk, action);
  if (gives_up(seat)) {
    finish(seat, desk, search.root().to_play() == 0 ? Result::second : Result::first, Ending::resigned);
    return;
  }
  search.play(action, settings_.reuse);
  if (const Result result = search.root().result(); result != Result::ongoing) {
    finish(seat, desk, result, Ending::played);
    return;
  }
  seat.known = ask_solver(seat);
  if (seat.known != Result::ongoing && !seat.plays_on) {
    finish(seat, desk, seat.known, Ending::solved);
    return;
  }
  begin_search(seat);
}

Result SelfPlay::ask_solver(Seat& seat) {
  constexpr double kEasier = 4;  // so much easier a position must be than the one that was too hard
  if (settings_.solve == 0) return Result::ongoing;
  const double effort = exact::effort(seat.search.root());
  if (effort > static_cast<double>(settings_.solve) || effort > seat.too_hard / kEasier) return Result::ongoing;
  if (const auto settled = exact::settle(seat.search.root(), settings_.solve)) return static_cast<Result>(*settled);
  seat.too_hard = effort;
  return Result::ongoing;
}

void SelfPlay::write_ply(Seat& seat, Desk& desk, int action) {
  const Search& search = seat.search;
  Record::Ply ply;
  ply.action = static_cast<uint16_t>(action);
  ply.visits = static_cast<uint16_t>(std::min<uint32_t>(search.visits(), 65535));
  ply.value = static_cast<float>(search.root_value());
  ply.proven = seat.known != Result::ongoing ? seat.known : search.proven();
  if (seat.full) {
    search.target(desk.target);
    for (const auto& [move, weight] : desk.target) {
      const auto share = static_cast<uint16_t>(std::lround(weight * Record::kWhole));
      if (share > 0) ply.policy.emplace_back(move, share);
    }
    ++desk.counters.positions;
  }
  seat.record.plies.push_back(std::move(ply));
  ++desk.counters.plies;
}

bool SelfPlay::gives_up(Seat& seat) {
  if (settings_.resign <= 0) return false;
  const int player = seat.search.root().to_play();
  const double value = (player == 0 ? 1 : -1) * seat.search.root_value();
  seat.low[player] = value < -settings_.resign ? seat.low[player] + 1 : 0;
  if (seat.low[player] < settings_.resign_plies) return false;
  if (!seat.checked) return true;
  if (seat.would_resign < 0) seat.would_resign = player;
  return false;
}

void SelfPlay::finish(Seat& seat, Desk& desk, Result result, Ending ending) {
  Record& record = seat.record;
  record.result = result;
  record.ending = ending;
  auto& c = desk.counters;
  ++c.games;
  c.first_wins += result == Result::first;
  c.draws += result == Result::draw;
  c.resigned += ending == Ending::resigned;
  c.solved += ending == Ending::solved;
  if (seat.would_resign >= 0) {
    ++c.resign_checked;
    c.resign_wrong += result != (seat.would_resign == 0 ? Result::second : Result::first);
  }
  for (const auto& ply : record.plies) {
    if (ply.visits > 0) c.value_error += std::abs(ply.value - static_cast<double>(result));
  }
  Finished finished{seat.number, {}};
  write_frame(record, finished.frame);
  desk.finished.push_back(std::move(finished));
  new_game(seat);
}

}  // namespace tesuji
