#include "samples.hpp"

#include <algorithm>
#include <cmath>

namespace tesuji {

Window::Window(const AnyGame& game, const Encoding& encoding, double value_mix, double value_plies)
    : game_(&game),
      encoding_(&encoding),
      value_mix_(value_mix),
      value_plies_(value_plies),
      carried_(count(game.spec.symmetry)) {
  for (int s = 0; s < count(game.spec.symmetry); ++s) {
    for (int action = 0; action < game.spec.actions; ++action) {
      carried_[s].push_back(static_cast<uint16_t>(game.spec.carry(s, action)));
    }
  }
}

void Window::append(std::span<const uint8_t> frames, Crew& crew) {
  FrameReader reader(frames);
  std::vector<Record> records;
  std::vector<uint32_t> checksums;
  for (Record record; reader.next(record); record = {}) {
    records.push_back(std::move(record));
    checksums.push_back(reader.checksum());
  }
  if (reader.read() != frames.size()) throw std::invalid_argument("these records are damaged, or cut off");
  std::vector<Played> fresh(records.size());
  std::vector<std::string> wrong(records.size());
  crew.share(static_cast<int>(records.size()), 8, [&](int from, int to, int) {
    for (int i = from; i < to; ++i) wrong[i] = decode(records[i], fresh[i]);
  });
  for (const std::string& why : wrong) {
    if (!why.empty())
      throw std::invalid_argument("a record does not replay as a game of " + game_->spec.name + ": " + why);
  }
  for (size_t i = 0; i < fresh.size(); ++i) {
    Played& played = fresh[i];
    played.checksum = checksums[i];
    played.first = end_;
    end_ += static_cast<int64_t>(played.positions.size());
    net_sum_ += played.net;
    played_.push_back(std::move(played));
  }
}

std::string Window::decode(const Record& record, Played& p) const {
  const Spec& spec = game_->spec;
  if (record.numbers.size() != spec.numbers.size()) return "its rule numbers are those of another game";
  for (size_t i = 0; i < record.numbers.size(); ++i) {
    const Number& number = spec.numbers[i];
    if (!(record.numbers[i] >= number.least && record.numbers[i] <= number.most)) return "its rules are impossible";
  }
  p.net = record.net;
  p.played_out = record.ending == Ending::played;
  p.numbers = record.numbers;
  AnyState state(*game_, record.numbers);
  std::vector<uint64_t> words(spec.words());
  const auto is_legal = [&](int action) { return action < spec.actions && words[action / 64] >> (action % 64) & 1; };
  for (const auto& ply : record.plies) {
    game_->legal(state.get(), words.data());
    if (!is_legal(ply.action)) return "it holds an illegal move";
    if (!ply.policy.empty()) {
      const auto begin = static_cast<uint32_t>(p.policies.size());
      for (const auto& choice : ply.policy) {
        if (!is_legal(choice.first)) return "a search in it chose an illegal move";
        p.policies.push_back(choice);
      }
      p.positions.push_back({static_cast<uint16_t>(p.actions.size()), 0, ply.proven != Result::ongoing, Result::ongoing,
                             begin, static_cast<uint32_t>(p.policies.size())});
    }
    p.actions.push_back(ply.action);
    game_->play(state.get(), ply.action);
  }
  // A position is worth what was proven first at or after it; else what the game came to. Later searches see what this
  // one could not, each with an error of its own: a mean over them is nearer to the truth than one of them, and far
  // less a matter of chance than the outcome.
  Result outcome = record.result;
  auto value = static_cast<double>(outcome);
  auto position = p.positions.rbegin();
  for (auto ply = record.plies.rbegin(); ply != record.plies.rend(); ++ply) {
    if (ply->proven != Result::ongoing) {
      outcome = ply->proven;
      value = static_cast<double>(outcome);
    } else if (ply->visits > 0) {
      value += (ply->value - value) / value_plies_;
    }
    if (ply->policy.empty()) continue;
    position->outcome = outcome;
    position->value = static_cast<float>(value);
    ++position;
  }
  if (p.played_out) {
    if (state.result() != record.result) return "it ends otherwise than it says";
    if (game_->score) p.score = static_cast<float>(game_->score(state.get()));
    if (game_->ownership) {
      p.ownership.resize(spec.grid.cells());
      game_->ownership(state.get(), p.ownership.data());
    }
  }
  return "";
}

void Window::trim(int64_t positions) {
  while (!played_.empty() && this->positions() > positions) {
    begin_ += static_cast<int64_t>(played_.front().positions.size());
    net_sum_ -= played_.front().net;
    played_.pop_front();
  }
}

double Window::net() const { return played_.empty() ? 0 : net_sum_ / static_cast<double>(played_.size()); }

uint64_t Window::digest() const {
  uint64_t d = 0;
  for (const Played& played : played_) d = mix(d + played.checksum);
  return d;
}

void Window::sample(int n, uint64_t seed, Crew& crew, const BatchArrays& out) const {
  if (positions() == 0) throw std::invalid_argument("there is nothing to learn from: the window is empty");
  crew.share(n, 32, [&](int from, int to, int) {
    for (int row = from; row < to; ++row) {
      // Each row draws for itself: the same seed gives the same batch on any number of threads.
      Random random(mix(seed) + static_cast<uint64_t>(row));
      const auto number = begin_ + static_cast<int64_t>(random.real() * static_cast<double>(positions()));
      const auto after = std::upper_bound(played_.begin(), played_.end(), number,
                                          [](int64_t at, const Played& played) { return at < played.first; });
      const Played& played = *std::prev(after);
      write(played, played.positions[number - played.first], random.below(count(game_->spec.symmetry)), row, out);
    }
  });
}

void Window::write(const Played& played, const Position& position, int symmetry, int row,
                   const BatchArrays& out) const {
  const Spec& spec = game_->spec;
  const auto& carried = carried_[symmetry];
  // No game knows how to turn a state: the moves that led to it are turned instead.
  AnyState state(*game_, played.numbers);
  for (int i = 0; i < position.ply; ++i) game_->play(state.get(), carried[played.actions[i]]);
  state.encode_packed(*encoding_, out.planes + static_cast<size_t>(row) * encoding_->packed_words());

  float* policy = out.policy + static_cast<size_t>(row) * spec.actions;
  std::fill_n(policy, spec.actions, 0.0f);
  float sum = 0;
  for (uint32_t i = position.policy; i < position.policy_end; ++i) sum += played.policies[i].second;
  for (uint32_t i = position.policy; i < position.policy_end; ++i) {
    policy[carried[played.policies[i].first]] = played.policies[i].second / sum;
  }

  const int side = state.to_play() == 0 ? 1 : -1;
  float* wdl = out.wdl + 3 * static_cast<size_t>(row);
  const int result = side * static_cast<int>(position.outcome);
  const auto mix = static_cast<float>(position.proven ? 0 : value_mix_);
  const float value = static_cast<float>(side) * position.value;
  // Searches do not tell a draw from even chances: of what they leave open all is a draw where the game was drawn.
  const float draw = result == 0 ? 1 - std::abs(value) : 0;
  wdl[0] = (1 - mix) * (result > 0) + mix * (1 - draw + value) / 2;
  wdl[1] = (1 - mix) * (result == 0) + mix * draw;
  wdl[2] = (1 - mix) * (result < 0) + mix * (1 - draw - value) / 2;

  out.score[row] = static_cast<float>(side) * played.score;
  out.aux_weight[row] = played.played_out;
  const int cells = spec.grid.cells();
  int8_t* ownership = out.ownership + static_cast<size_t>(row) * cells;
  std::fill_n(ownership, cells, int8_t{0});
  for (size_t cell = 0; cell < played.ownership.size(); ++cell) {
    ownership[spec.grid.carry(symmetry, static_cast<int>(cell))] = static_cast<int8_t>(side * played.ownership[cell]);
  }
}

}  // namespace tesuji
