#include "record.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tesuji {
namespace {

constexpr uint8_t kFormat = 1;
constexpr size_t kFrameHead = 8;
constexpr size_t kLargestRecord = size_t{1} << 26;

/// Writes numbers, lowest byte first.
class Writer {
 public:
  explicit Writer(std::vector<uint8_t>& out) : out_(out) {}
  template <class T>
  void put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) out_.push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  void put_double(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    put(bits);
  }

 private:
  std::vector<uint8_t>& out_;
};

/// Reads them back; past the end it reads zeros and says so.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i, ++at_) {
      if (at_ < bytes_.size()) value |= static_cast<uint64_t>(bytes_[at_]) << 8 * i;
    }
    return static_cast<T>(value);
  }
  double get_double() {
    const auto bits = get<uint64_t>();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  size_t left() const { return at_ <= bytes_.size() ? bytes_.size() - at_ : 0; }
  bool whole() const { return at_ == bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

void write_record(const Record& record, std::vector<uint8_t>& out) {
  Writer w(out);
  w.put(kFormat);
  w.put(static_cast<uint8_t>(record.result));
  w.put(static_cast<uint8_t>(record.ending));
  w.put(static_cast<uint8_t>(record.numbers.size()));
  for (const double number : record.numbers) w.put_double(number);
  w.put(record.net);
  w.put(static_cast<uint16_t>(record.plies.size()));
  for (const auto& ply : record.plies) {
    w.put(ply.action);
    w.put(ply.visits);
    w.put(static_cast<uint16_t>(static_cast<int16_t>(std::lround(std::clamp(ply.value, -1.0f, 1.0f) * 32767))));
    w.put(static_cast<uint8_t>(ply.proven));
    w.put(static_cast<uint16_t>(ply.policy.size()));
    for (const auto& [action, share] : ply.policy) {
      w.put(action);
      w.put(share);
    }
  }
}

bool read_record(std::span<const uint8_t> bytes, Record& record) {
  Reader r(bytes);
  if (r.get<uint8_t>() != kFormat) return false;
  const int result = static_cast<int8_t>(r.get<uint8_t>());
  const int ending = r.get<uint8_t>();
  if (result < -1 || result > 1 || ending > static_cast<int>(Ending::solved)) return false;
  record.result = static_cast<Result>(result);
  record.ending = static_cast<Ending>(ending);
  record.numbers.resize(r.get<uint8_t>());
  for (double& number : record.numbers) number = r.get_double();
  record.net = r.get<uint32_t>();
  const size_t plies = r.get<uint16_t>();
  if (plies * 9 > r.left()) return false;
  record.plies.resize(plies);
  for (auto& ply : record.plies) {
    ply.action = r.get<uint16_t>();
    ply.visits = r.get<uint16_t>();
    ply.value = static_cast<float>(static_cast<int16_t>(r.get<uint16_t>())) / 32767;
    const int proven = static_cast<int8_t>(r.get<uint8_t>());
    if (proven < -1 || proven > 2) return false;
    ply.proven = static_cast<Result>(proven);
    const size_t count = r.get<uint16_t>();
    if (count * 4 > r.left()) return false;
    ply.policy.resize(count);
    for (auto& [action, share] : ply.policy) {
      action = r.get<uint16_t>();
      share = r.get<uint16_t>();
    }
  }
  return r.whole();
}

}  // namespace

const char* ending_name(Ending ending) {
  switch (ending) {
    case Ending::played: return "played out";
    case Ending::resigned: return "resigned";
    case Ending::solved: return "solved";
  }
  return "";
}

int Record::positions() const {
  return static_cast<int>(std::count_if(plies.begin(), plies.end(), [](const Ply& p) { return !p.policy.empty(); }));
}

uint32_t crc32(std::span<const uint8_t> bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  uint32_t c = ~0u;
  for (const uint8_t byte : bytes) c = table[(c ^ byte) & 255] ^ c >> 8;
  return ~c;
}

void write_frame(const Record& record, std::vector<uint8_t>& out) {
  const size_t head = out.size();
  out.resize(head + kFrameHead);
  write_record(record, out);
  const auto payload = std::span(out).subspan(head + kFrameHead);
  const uint32_t parts[2] = {static_cast<uint32_t>(payload.size()), crc32(payload)};
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < 4; ++i) out[head + 4 * part + i] = static_cast<uint8_t>(parts[part] >> 8 * i);
  }
}

bool FrameReader::next(Record& record) {
  Reader head(bytes_.subspan(at_));
  if (head.left() < kFrameHead) return false;
  const size_t length = head.get<uint32_t>();
  const auto checksum = head.get<uint32_t>();
  if (length > kLargestRecord || length > head.left()) return false;
  const auto payload = bytes_.subspan(at_ + kFrameHead, length);
  if (crc32(payload) != checksum || !read_record(payload, record)) return false;
  at_ += kFrameHead + length;
  checksum_ = checksum;
  return true;
}

}  // namespace tesuji
