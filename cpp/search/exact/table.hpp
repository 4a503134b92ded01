// A memory of positions for the solvers: whole keys, so that it never answers for another position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/random.hpp"

namespace tesuji::exact {

/// Grows until `kMost` entries, then forgets: an entry lies in one of four neighbouring places, and a new one takes
/// the place of the one that cost the least work.
template <class Key, class Value, size_t kMost = size_t{1} << 22>
class Table {
 public:
  /// The value of a key, or null.
  const Value* find(const Key& key) const {
    const size_t at = place(key);
    for (size_t i = at; i < at + kNear; ++i) {
      if (slots_[i].age == age_ && slots_[i].key == key) return &slots_[i].value;
    }
    return nullptr;
  }

  /// Remembers a value; `work` (any growing measure of what it cost) says which entries are worth keeping.
  void put(const Key& key, const Value& value, uint8_t work) {
    if (2 * count_ > slots_.size() && slots_.size() < kMost) grow();
    const size_t at = place(key);
    size_t least = at;
    for (size_t i = at; i < at + kNear; ++i) {
      const bool used = slots_[i].age == age_;
      if (!used || slots_[i].key == key) {
        count_ += !used;
        slots_[i] = {key, value, work, age_};
        return;
      }
      if (slots_[i].work < slots_[least].work) least = i;
    }
    slots_[least] = {key, value, work, age_};
  }

  /// Begins anew, as small as at first: what it is asked then has the same answers, whatever it was asked before.
  void forget() {
    if (count_ == 0) return;
    count_ = 0;
    slots_.resize(kFirst);
    if (++age_ == 0) {  // as old as the oldest, after so many times
      slots_.assign(slots_.size(), {});
      age_ = 1;
    }
  }

 private:
  static constexpr size_t kFirst = size_t{1} << 10, kNear = 4;
  struct Slot {
    Key key{};
    Value value{};
    uint8_t work = 0;
    uint8_t age = 0;  // of what was put there; 0: nothing was
  };
  std::vector<Slot> slots_ = std::vector<Slot>(kFirst);
  size_t count_ = 0;
  uint8_t age_ = 1;

  size_t place(const Key& key) const { return key.hash() & (slots_.size() - 1) & ~(kNear - 1); }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    count_ = 0;
    for (const Slot& slot : old) {
      if (slot.age == age_) put(slot.key, slot.value, slot.work);
    }
  }
};

}  // namespace tesuji::exact
