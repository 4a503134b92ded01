#include "forest.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <stdexcept>

namespace tesuji {

Forest::Forest(std::vector<AnyState> roots, const SearchSettings& settings, uint64_t seed, int threads)
    : counts_(roots.size()), first_leaf_(roots.size() + 1, 0), crew_(threads) {
  for (auto& root : roots)
    searches_.push_back(std::make_unique<Search>(std::move(root), settings, mix(seed + searches_.size())));
}

template <class Job>
void Forest::each(Job job) {
  // Chunks small enough that no thread waits long for the last.
  crew_.share(size(), std::clamp(size() / (8 * crew_.threads()), 1, 32), [&](int from, int to, int) {
    for (int i = from; i < to; ++i) job(*searches_[i], i);
  });
}

int Forest::collect() {
  each([&](Search& search, int i) {
    // A round may end at proven nodes alone: go on until there is a leaf, or the search is done.
    do counts_[i] = search.done() ? 0 : search.collect();
    while (counts_[i] == 0 && !search.done());
  });
  for (int i = 0; i < size(); ++i) first_leaf_[i + 1] = first_leaf_[i] + counts_[i];
  return first_leaf_.back();
}

void Forest::encode(const Encoding& encoding, float* out) {
  if (searches_.empty()) return;
  const size_t row = static_cast<size_t>(encoding.channels()) * searches_[0]->root().spec().grid.cells();
  each([&](const Search& search, int i) {
    for (int leaf = first_leaf_[i]; leaf < first_leaf_[i + 1]; ++leaf) {
      search.leaf(leaf - first_leaf_[i]).encode(encoding, out + leaf * row);
    }
  });
}

void Forest::deliver(const float* logits, const Chances* chances) {
  if (searches_.empty()) return;
  const size_t actions = searches_[0]->root().spec().actions;
  each([&](Search& search, int i) {
    for (int leaf = first_leaf_[i]; leaf < first_leaf_[i + 1]; ++leaf) {
      search.deliver(leaf - first_leaf_[i], logits + leaf * actions, chances[leaf].value, chances[leaf].draw);
    }
    search.end_delivery();
  });
  std::fill(first_leaf_.begin(), first_leaf_.end(), 0);
}

bool Forest::simulate(Search::Inner inner, int rollouts, int simulations) {
  each([&](Search& search, int) {
    for (int n = 0; n < simulations && !search.done(); ++n) search.simulate(inner, rollouts);
  });
  return std::any_of(searches_.begin(), searches_.end(), [](const auto& search) { return !search->done(); });
}

namespace {

bool is_finite(float x) {
  constexpr uint32_t kExponent = 0x7f800000;  // all ones: NaN or infinite
  return (std::bit_cast<uint32_t>(x) & kExponent) != kExponent;
}

}  // namespace

bool Forest::step(const CpuNet& net, const Encoding& encoding) {
  const size_t count = collect();
  if (count == 0) return false;
  const size_t words = encoding.packed_words();
  packed_.resize(count * words);
  logits_.resize(count * net.actions());
  chances_.resize(count);
  each([&](const Search& search, int i) {
    for (int leaf = first_leaf_[i]; leaf < first_leaf_[i + 1]; ++leaf)
      search.leaf(leaf - first_leaf_[i]).encode_packed(encoding, packed_.data() + leaf * words);
  });
  net.answer_packed(encoding, packed_.data(), static_cast<int>(count), logits_.data(), chances_.data());
  const bool sane = std::ranges::all_of(chances_, [](Chances c) { return is_finite(c.value) && is_finite(c.draw); });
  if (!sane || !std::ranges::all_of(logits_, is_finite))
    throw std::invalid_argument("the net answers with what is no number (NaN or infinite)");
  deliver(logits_.data(), chances_.data());
  return true;
}

}  // namespace tesuji
