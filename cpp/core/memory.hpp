// What the processor's caches are told.
#pragma once

#include <cstddef>

namespace tesuji {

/// Asks the memory for bytes that are needed soon: they travel while other work goes on. Any address may be asked for.
inline void prefetch(const void* from, size_t bytes) {
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(static_cast<const char*>(from) + at);
}

}  // namespace tesuji
