#include "any.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tesuji {

std::string number_text(double number) {
  // No streams in the core: they break where a process holds two C++ libraries.
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

const char* player_name(int player) { return player == 0 ? "First" : "Second"; }

double calibrate(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double spent = 0;
  int64_t turns = 0;
  volatile uint64_t kept = 1;
  while (spent < seconds) {
    uint64_t x = kept;
    for (int i = 0; i < 10'000; ++i) x = mix(x + 1);  // each turn waits for the one before
    kept = x;
    turns += 10'000;
    spent = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return static_cast<double>(turns) / spent;
}

// ── Move texts ──────────────────────────────────────────────────────────────────────────────────────────────────────

std::string cell_text(const Spec& spec, int action) {
  return spec.locate[action] < 0 ? "pass" : spec.grid.name(spec.locate[action]);
}

std::optional<int> parse_cell(const Spec& spec, std::string_view text) {
  if (text == "pass" || text == "PASS" || text == "Pass") {
    for (int action = 0; action < spec.actions; ++action) {
      if (spec.locate[action] < 0) return action;
    }
    return std::nullopt;
  }
  const auto cell = spec.grid.find(text);
  if (!cell || spec.action_at[*cell] < 0) return std::nullopt;
  return spec.action_at[*cell];
}

std::string cell_help(const Spec& spec) {
  std::string out = std::string("a column a–") + spec.grid.letter(spec.grid.cols - 1);
  if (spec.grid.skips_i && spec.grid.cols > 'i' - 'a') out += " (no i)";
  out += " and a row 1–" + std::to_string(spec.grid.rows) + ", such as " + spec.grid.name(spec.grid.cells() / 2);
  for (const int cell : spec.locate) {
    if (cell < 0) return out + ", or pass";
  }
  return out;
}

int AnyGame::action(std::string_view text) const {
  if (const auto action = parse(spec, text)) return *action;
  // What came may be anything: show the start of it, and only what prints.
  std::string shown(text.substr(0, 20));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  refuse_text("'" + shown + "'");
}

void AnyGame::refuse_text(const std::string& shown) const {
  throw std::invalid_argument(shown + " is not a move of " + spec.name + ": write " + text_help(spec));
}

// ── Numbers of the rules ────────────────────────────────────────────────────────────────────────────────────────────

void AnyGame::check_number(int which, double value) const {
  const Number& n = spec.numbers.at(which);
  const double steps = (value - n.least) / n.step;
  if (value >= n.least && value <= n.most && steps == std::floor(steps)) return;
  throw std::invalid_argument(std::string(n.name) + " " + number_text(value) + " is not possible in " + spec.name +
                              ": give a multiple of " + number_text(n.step) + " from " + number_text(n.least) + " to " +
                              number_text(n.most));
}

// ── States ──────────────────────────────────────────────────────────────────────────────────────────────────────────

std::vector<int> AnyState::legal() const {
  std::vector<uint64_t> words(spec().words());
  game_->legal(state_, words.data());
  std::vector<int> actions;
  for (int i = 0; i < spec().words(); ++i) {
    for (uint64_t w = words[i]; w; w &= w - 1) actions.push_back(64 * i + std::countr_zero(w));
  }
  return actions;
}

bool AnyState::is_legal(int action) const {
  if (action < 0 || action >= spec().actions) return false;
  std::vector<uint64_t> words(spec().words());
  game_->legal(state_, words.data());
  return words[action / 64] >> (action % 64) & 1;
}

void AnyState::play(int action) {
  if (is_legal(action)) return game_->play(state_, action);
  const std::string& name = spec().name;
  if (action < 0 || action >= spec().actions) {
    throw IllegalMove("action " + std::to_string(action) + " is out of range: " + name + " has actions 0 to " +
                      std::to_string(spec().actions - 1));
  }
  const std::string text = game_->text(action);
  if (result() != Result::ongoing) throw IllegalMove(text + " cannot be played: this game of " + name + " is over");
  const char* why = game_->objection ? game_->objection(state_, action) : nullptr;
  throw IllegalMove(text + " is not legal for " + player_name(to_play()) + " here" +
                    (why ? std::string(": ") + why : ""));
}

uint64_t AnyState::hash() const {
  if (game_->hash) return game_->hash(state_);
  // Equal states have equal planes.
  const Encoding& encoding = spec().encodings[0];
  const int planes = static_cast<int>(encoding.planes.size()), scalars = static_cast<int>(encoding.scalars.size());
  std::vector<uint64_t> words(planes * spec().cell_words());
  std::vector<float> values(scalars);
  Planes out(words.data(), planes, spec().grid.cells(), values.data(), scalars);
  encoding.write(state_, out);
  uint64_t h = to_play();
  for (const auto word : words) h = mix(h ^ word);
  return h;
}

void AnyState::encode(const Encoding& encoding, float* out) const {
  std::vector<uint64_t> row(encoding.packed_words());
  encode_packed(encoding, row.data());
  encoding.unpack(row.data(), out);
}

void AnyState::encode_packed(const Encoding& encoding, uint64_t* row) const {
  const int planes = static_cast<int>(encoding.planes.size()), scalars = static_cast<int>(encoding.scalars.size());
  std::array<float, Encoding::kMaxScalars> values;
  Planes packed(row, planes, encoding.cells, values.data(), scalars);
  encoding.write(state_, packed);
  if (scalars % 2) values[scalars] = 0;
  std::memcpy(row + planes * encoding.plane_words(), values.data(), (scalars + scalars % 2) * sizeof(float));
}

namespace {

/// The eight floats of each byte: unpacking is one copy a byte.
constexpr auto kFloatsOfByte = [] {
  std::array<std::array<float, 8>, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    for (int bit = 0; bit < 8; ++bit) table[byte][bit] = static_cast<float>(byte >> bit & 1);
  }
  return table;
}();

}  // namespace

void Encoding::unpack(const uint64_t* row, float* out) const {
  const int stride = plane_words(), whole_bytes = cells / 8, rest = cells % 8;
  for (size_t plane = 0; plane < planes.size(); ++plane, row += stride) {
    const auto byte = [&](int i) { return static_cast<uint8_t>(row[i / 8] >> (8 * (i % 8))); };
    for (int i = 0; i < whole_bytes; ++i, out += 8) std::memcpy(out, kFloatsOfByte[byte(i)].data(), 8 * sizeof(float));
    if (rest) out = std::copy_n(kFloatsOfByte[byte(whole_bytes)].data(), rest, out);
  }
  std::array<float, kMaxScalars> values;
  std::memcpy(values.data(), row, scalars.size() * sizeof(float));
  for (size_t i = 0; i < scalars.size(); ++i) out = std::fill_n(out, cells, values[i]);
}

// ── The drawing ─────────────────────────────────────────────────────────────────────────────────────────────────────

namespace {

/// Rows of single characters with the names of rows and columns around them.
std::string draw_board(const AnyState& state) {
  const Spec& spec = state.spec();
  const Grid& grid = spec.grid;
  std::string out;
  const auto gap = [&](int i) { return spec.block && i % spec.block == 0 && i > 0; };
  for (int row = 0; row < grid.rows; ++row) {
    if (gap(row)) {
      out += "   ";
      for (int col = 0; col < grid.cols; ++col) {
        out += gap(col) ? "+-" : "";
        out += col + 1 < grid.cols ? "--" : "-";
      }
      out += '\n';
    }
    const int number = grid.rows - row;
    if (number < 10) out += ' ';
    out += std::to_string(number);
    for (int col = 0; col < grid.cols; ++col) {
      out += gap(col) ? " | " : " ";
      out += state.game().glyph(state.get(), row * grid.cols + col);
    }
    out += '\n';
  }
  out += "  ";
  for (int col = 0; col < grid.cols; ++col) {
    out += gap(col) ? "   " : " ";
    out += grid.letter(col);
  }
  return out + '\n';
}

/// Three characters a cell; an edge not yet drawn shows its move.
std::string draw_edges(const AnyState& state) {
  const Spec& spec = state.spec();
  std::string out;
  for (int cell = 0; cell < spec.grid.cells(); ++cell) {
    const char glyph = state.game().glyph(state.get(), cell);
    if (glyph == '.') {
      const std::string text = state.game().text(spec.action_at[cell]);
      if (text.size() < 2) out += ' ';
      out += text;
      if (text.size() < 3) out += ' ';
    } else {
      const char beside = glyph == '-' ? '-' : ' ';
      out += {beside, glyph, beside};
    }
    if (spec.grid.col(cell) == spec.grid.cols - 1) out += '\n';
  }
  return out;
}

}  // namespace

std::string AnyState::diagram() const {
  const std::string drawn = spec().look == Look::edges ? draw_edges(*this) : draw_board(*this);
  std::string out;
  for (const char c : drawn) {
    if (c == '\n') out.erase(out.find_last_not_of(' ') + 1);  // no blanks at the end of a row
    out += c;
  }
  return out;
}

}  // namespace tesuji
