// The core without Python, built with sanitizers by `make sanitize`: every game obeys the laws, the laws see every
// fault, and every kind of search runs on every game. That searches are right is tested in Python; here they must not
// stumble.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "../../examples/connect_four.hpp"
#include "../core/laws.hpp"
#include "../games/all.hpp"
#include "../net/mosaic.hpp"
#include "../net/residual.hpp"
#include "../search/alphabeta.hpp"
#include "../search/exact/exact.hpp"
#include "../search/forest.hpp"
#include "../search/table.hpp"
#include "../selfplay/samples.hpp"
#include "../selfplay/selfplay.hpp"
#include "faulty.hpp"

namespace {

using namespace tesuji;

int passed = 0, failed = 0;

void obeys(const AnyGame& game, int games) {
  const auto broken = broken_laws(game, games, 1);
  std::printf("%-15s %s\n", game.spec.name.c_str(), broken.empty() ? "obeys the laws" : "BREAKS A LAW");
  for (const auto& sentence : broken) std::printf("    %s\n", sentence.c_str());
  ++(broken.empty() ? passed : failed);
}

template <Fault kFault>
void is_seen(const std::string& expected) {
  bool seen = false;
  const auto broken = broken_laws(any_game<Faulty<kFault>>("faulty", "A faulty game"), 20, 1);
  for (const auto& sentence : broken) seen |= sentence.find(expected) != std::string::npos;
  ++(seen ? passed : failed);
  if (seen) return;
  std::printf("A FAULT WENT UNSEEN: %s\n", expected.c_str());
  for (const auto& sentence : broken) std::printf("    seen instead: %s\n", sentence.c_str());
}

/// Whether what a search gives to learning is sound: legal moves with weights that add up to 1, and noise that leaves
/// no trace in the next search.
bool learns(Search& search, Random& random) {
  std::vector<std::pair<uint16_t, float>> target;
  search.target(target);
  double sum = 0;
  bool sound = true;
  for (const auto& [action, weight] : target) {
    sum += weight;
    sound = sound && weight > 0 && search.root().is_legal(action);
  }
  sound = sound && std::abs(sum - 1) < 1e-5 && std::abs(search.root_value()) <= 1;
  for (const double temperature : {0.0, 1.0}) {
    sound = sound && search.root().is_legal(search.played_action(temperature, random));
  }
  const auto priors = [&](bool noise) {
    search.begin(static_cast<int>(search.visits()) + 20, noise);
    while (!search.done()) search.simulate(Search::Inner::uniform, 1);
    std::vector<std::pair<int, double>> seen;
    for (const MoveReport& move : search.report()) seen.emplace_back(move.action, move.prior);
    std::sort(seen.begin(), seen.end());
    return seen;
  };
  const auto clean = priors(false);
  priors(true);
  return sound && priors(false) == clean;
}

/// Whether a crew does every number's work once, on threads of its own numbers.
bool crew_works(int threads) {
  Crew crew(threads);
  bool right = crew.threads() == threads;
  std::vector<std::atomic<int>> done(1000);
  for (int round = 1; round <= 300; ++round) {
    crew.share(static_cast<int>(done.size()), 1 + round % 70, [&](int from, int to, int thread) {
      if (thread < 0 || thread >= threads) std::abort();
      for (int i = from; i < to; ++i) ++done[i];
    });
    for (const auto& n : done) right = right && n == round;
  }
  return right;
}

/// Runs every search on a few positions; each must end with a legal move.
void searches(const AnyGame& game) {
  bool legal = true;
  std::vector<AnyState> states;
  Random random(1);
  for (int plies : {0, 3, 9, 20, 44}) {
    AnyState state(game, {});
    for (; plies > 0; --plies) {
      const auto moves = state.legal();
      if (moves.empty()) break;
      state.play(moves[random.below(static_cast<int>(moves.size()))]);
    }
    if (!state.legal().empty()) states.push_back(state);
  }
  for (const Rule rule : {Rule::uct, Rule::puct, Rule::gumbel}) {
    SearchSettings settings{.visits = 60, .noise_weight = 0.25, .leaves = 3, .transpositions = rule == Rule::puct};
    settings.candidates = rule != Rule::uct;
    settings.solve = rule != Rule::uct ? 500 : 0;
    settings.notes = rule == Rule::puct;
    settings.choose.rule = rule;
    Forest inside(states, settings, 1, 2), outside(states, settings, 1, 2);
    while (inside.simulate(Search::Inner::rollout, 2, 16)) {
    }
    while (const int leaves = outside.collect()) {
      const Encoding& encoding = game.spec.encodings[0];
      std::vector<float> planes(static_cast<size_t>(leaves) * encoding.channels() * game.spec.grid.cells());
      outside.encode(encoding, planes.data());
      const std::vector<float> logits(static_cast<size_t>(leaves) * game.spec.actions);
      const std::vector<Chances> chances(leaves);
      outside.deliver(logits.data(), chances.data());
    }
    for (size_t i = 0; i < states.size(); ++i) {
      for (Forest* forest : {&inside, &outside}) {
        Search& search = forest->search(static_cast<int>(i));
        const int action = search.best_action();
        legal = legal && states[i].is_legal(action) && search.report()[0].action == action;
        legal = legal && learns(search, random);
        AnyState next = states[i];
        next.play(action);
        if (forest == &inside) {
          search.restart(next, {action});
        } else {
          search.play(action);
        }
        legal = legal && search.root() == next;
      }
    }
  }
  AlphaBeta engine(game);
  for (const AnyState& state : states) {
    legal = legal && state.is_legal(engine.think(state, {.nodes = 300}, [] { return false; }).action);
    exact::Budget budget(300, 10, [] {});
    const auto solution = exact::solve(state, budget);
    for (const int action : solution.best) legal = legal && state.is_legal(action);
    legal = legal && (solution.result || !solution.unknown.empty());
  }
  if (game.spec.look == Look::edges && game.spec.actions <= 17) {
    DotsTable table(game, TableModel::greedy);
    table.train(200, 0.6, 1, 2);
  }
  ++(legal ? passed : failed);
  if (!legal) std::printf("%-15s A SEARCH STUMBLES\n", game.spec.name.c_str());
}

/// Self-play with a network that knows nothing, two threads at work; its records as samples.
void plays_itself(const AnyGame& game) {
  std::vector<double> numbers;
  for (const Number& number : game.spec.numbers) numbers.push_back(number.initial);
  const Encoding& encoding = game.spec.encodings[0];
  const auto crew = std::make_shared<Crew>(2);
  SelfPlaySettings settings;
  settings.search.visits = 4;
  settings.search.candidates = true;
  settings.search.choose.rule = game.spec.actions % 2 ? Rule::gumbel : Rule::puct;
  settings.full_share = 0.5;
  settings.fast_visits = 2;
  settings.opening_share = settings.vary_share = 0.5;
  settings.opening_plies = 3;
  settings.vary.assign(numbers.size(), 1.0);
  SelfPlay selfplay(game, numbers, encoding, settings, 6, 1, crew);
  const std::vector<float> logits(6 * static_cast<size_t>(game.spec.actions)), values(6);
  std::vector<uint64_t> planes(6 * static_cast<size_t>(encoding.packed_words()));
  while (selfplay.counters().games < 3) {
    selfplay.begin_step(logits.data(), values.data(), planes.data());
    selfplay.end_step();
  }
  Window window(game, encoding, 0.5, 3);
  window.append(selfplay.take(), *crew);
  const size_t n = 40, cells = game.spec.grid.cells();
  std::vector<uint64_t> rows(n * encoding.packed_words());
  std::vector<float> policy(n * game.spec.actions), wdl(3 * n), score(n), weight(n);
  std::vector<int8_t> owners(n * cells);
  window.sample(n, 1, *crew, {rows.data(), policy.data(), wdl.data(), score.data(), owners.data(), weight.data()});
  bool sound = window.games() >= 3;
  for (size_t i = 0; i < n; ++i) {
    float shares = 0;
    for (int action = 0; action < game.spec.actions; ++action) shares += policy[i * game.spec.actions + action];
    sound = sound && std::abs(shares - 1) < 1e-4 && std::abs(wdl[3 * i] + wdl[3 * i + 1] + wdl[3 * i + 2] - 1) < 1e-5;
  }
  ++(sound ? passed : failed);
  if (!sound) std::printf("%-15s SELF-PLAY GIVES NO SOUND SAMPLES\n", game.spec.name.c_str());
}

using Weights = std::vector<std::vector<float>>;

/// Weights of layers, by chance: [outputs, inputs] and [outputs] of each.
Weights weights_of(std::initializer_list<std::pair<int, int>> layers, Random& random) {
  Weights weights;
  for (const auto& [outputs, inputs] : layers) {
    for (const int size : {outputs * inputs, outputs}) {
      auto& list = weights.emplace_back(size);
      for (float& w : list) w = static_cast<float>(random.real() - 0.5) / static_cast<float>(std::sqrt(inputs));
    }
  }
  return weights;
}

/// A net says the same of boards one by one and together.
bool answers_alike(const CpuNet& net, Random& random) {
  const size_t boards = 30, actions = net.actions(), size = net.planes();
  std::vector<float> planes(boards * size), policy(boards * actions), alone(actions);
  std::vector<Chances> chances(boards);
  for (float& plane : planes) plane = static_cast<float>(random.below(2));
  net.answer(planes.data(), static_cast<int>(boards), policy.data(), chances.data());
  bool same = true;
  for (size_t b = 0; b < boards; ++b) {
    Chances own;
    net.answer(planes.data() + b * size, 1, alone.data(), &own);
    same = same && own.value == chances[b].value && own.draw == chances[b].draw &&
           std::equal(alone.begin(), alone.end(), policy.begin() + b * actions);
  }
  const auto unlike = [](const Chances& a, const Chances& b) { return a.value != b.value; };
  return same && std::abs(chances[0].value) < 1 && std::ranges::adjacent_find(chances, unlike) != chances.end();
}

bool residual_answers(int rows, int cols) {
  NetShape shape{rows, cols, 5, 16, 2, 9, 7, 6, 1, {}};
  for (int action = shape.cells(); action >= 0; --action) shape.order.push_back(action);
  Random random(7);
  const std::pair inner{16, 16 * 9};
  const Weights weights =
      weights_of({{16, 5 * 9}, inner, inner, inner, inner, {9, 16}, {1, 9}, {7, 16}, {6, 14}, {3, 6}, {1, 6}}, random);
  return answers_alike(ResidualNet(shape, {weights.begin(), weights.end()}), random);
}

/// Boards by chance have cells that both hold, which no game has: they must do no harm.
bool mosaic_answers(int down, int across) {
  MosaicShape shape{down, across, 32, 16, 64, 32, {}};
  for (int action = shape.cells() - 1; action >= 0; --action) shape.order.push_back(action);
  Random random(7);
  const Weights weights = weights_of(
      {{32, 27}, {16, 32}, {9, 32}, {64, 16 * shape.tiles()}, {shape.cells(), 64}, {32, 64}, {3, 32}}, random);
  return answers_alike(MosaicNet(shape, {weights.begin(), weights.end()}), random);
}

/// Every way to add and multiply whole numbers gives the same; `most`: of a number, where 32767 makes sums stop.
bool whole_products_agree(int size, int rows, int outputs, int most) {
  Random random(static_cast<uint64_t>(size + rows));
  const auto numbers = [&](size_t count, int range) {
    std::vector<int16_t> list(count);
    for (int16_t& number : list) number = static_cast<int16_t>(random.below(2 * range + 1) - range);
    return list;
  };
  const auto first = numbers(size, most / 4), added = numbers(static_cast<size_t>(size) * rows, most);
  std::vector<WholeLine> weights(static_cast<size_t>(size) * outputs / WholeLine::kSize);
  for (WholeLine& line : weights) std::ranges::copy(numbers(WholeLine::kSize, 40), line.numbers.begin());
  std::vector<const int16_t*> starts;
  for (int row = 0; row < rows; ++row) starts.push_back(added.data() + static_cast<size_t>(row) * size);
  std::vector<std::vector<int16_t>> units;
  std::vector<std::vector<uint16_t>> places;
  std::vector<std::vector<int32_t>> sums;
  for (const WholeProducts& way : whole_products()) {
    auto& unit = units.emplace_back(size);
    auto& place = places.emplace_back(size / kTogether + 16);
    place.resize(way.add_rows(first.data(), starts.data(), rows, size, unit.data(), place.data()));
    way.multiply(unit.data(), place.data(), static_cast<int>(place.size()), size, weights[0].numbers.data(), outputs,
                 sums.emplace_back(outputs).data());
  }
  const auto same = [](const auto& all) { return std::ranges::count(all, all[0]) == std::ssize(all); };
  return same(units) && same(places) && same(sums) && !places[0].empty();
}

}  // namespace

int main(int count, char** words) {
  const int games = count > 1 ? std::atoi(words[1]) : 8;
  for (const auto& game : all_games()) {
    obeys(game, games);
    searches(game);
    plays_itself(game);
  }
  for (const int threads : {1, 2, 5}) {
    const bool works = crew_works(threads);
    ++(works ? passed : failed);
    if (!works) std::printf("A CREW OF %d LOSES WORK\n", threads);
  }
  for (const auto& [rows, cols] : {std::pair(3, 3), {4, 9}, {8, 8}, {9, 9}, {15, 15}}) {
    const bool works = residual_answers(rows, cols);
    ++(works ? passed : failed);
    if (!works) std::printf("A NET OF %d × %d CELLS DOES NOT KNOW ITS OWN MIND\n", rows, cols);
  }
  for (const auto& [down, across] : {std::pair(1, 1), {3, 3}, {2, 4}}) {
    const bool works = mosaic_answers(down, across);
    ++(works ? passed : failed);
    if (!works) std::printf("A NET OF %d × %d SMALL BOARDS DOES NOT KNOW ITS OWN MIND\n", down, across);
  }
  for (const int most : {900, 32767}) {
    const bool agree = whole_products_agree(32, 1, 16, most) && whole_products_agree(1024, 9, 48, most);
    ++(agree ? passed : failed);
    if (!agree) std::printf("WHOLE NUMBERS UP TO %d ARE NOT ADDED AND MULTIPLIED THE SAME IN ALL WAYS\n", most);
  }
  obeys(any_game<ConnectFour>("connect-four", "Connect Four"), games);
  obeys(any_game<Faulty<Fault::none>>("faultless", "A game without fault"), games);

  is_seen<Fault::action_off_the_grid>("locate gives a cell of the grid, or −1");
  is_seen<Fault::two_actions_on_a_cell>("no two actions lie on the same cell");
  is_seen<Fault::same_text>("no two actions have the same text");
  is_seen<Fault::unread_text>("read back as that action");
  is_seen<Fault::moves_after_the_end>("legal moves exactly until the end");
  is_seen<Fault::no_move_before_the_end>("legal moves exactly until the end");
  is_seen<Fault::lopsided_moves>("a symmetric game looks symmetric");
  is_seen<Fault::lopsided_planes>("a symmetric game looks symmetric");
  is_seen<Fault::plane_off_the_grid>("cells of the grid only");
  is_seen<Fault::wild_scalar>("scalars are small numbers");
  is_seen<Fault::shared_between_copies>("a copy does not change");
  is_seen<Fault::score_against_result>("the score's sign is the result");
  is_seen<Fault::owner_out_of_place>("only an ownable cell has an owner");
  is_seen<Fault::strange_glyph>("a glyph is a printable character");
  is_seen<Fault::endless>("a game ends by its bound");
  is_seen<Fault::forgetful>("the same moves give the same state");
  is_seen<Fault::biased_playout>("distributed as uniform play");
  is_seen<Fault::biased_random_legal>("the same chance");
  is_seen<Fault::playout_stops_early>("a playout ends the game");
  is_seen<Fault::initial_number_out_of_bounds>("initial value is among its values");
  is_seen<Fault::wild_heuristic>("a heuristic lies between −1 and 1");
  is_seen<Fault::illegal_candidate>("candidates are legal moves");
  is_seen<Fault::no_candidate>("there is a candidate before the end");
  is_seen<Fault::illegal_verdict>("the move of a verdict is legal");

  std::printf("%d passed, %d failed\n", passed, failed);
  return failed ? 1 : 0;
}
