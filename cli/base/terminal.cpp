#include "cli/base/terminal.h"

#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "cli/base/text.h"

namespace cli {

namespace {

ColorChoice s_color = ColorChoice::automatic;
bool s_unlimited_width = false, s_quiet = false;

bool shows_colors() {
  if (s_color != ColorChoice::automatic) return s_color == ColorChoice::always;
  static const bool shows = [] {
    const char *no = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) != 0 && (no == nullptr || *no == '\0') && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
  }();
  return shows;
}

struct Character {
  std::size_t bytes, columns;
};

// Uses wcwidth() in a UTF-8 locale.
std::vector<Character> characters_of(std::string_view text) {
  static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = utf8 == nullptr ? nullptr : ::uselocale(utf8);
  std::vector<Character> characters;
  mbstate_t state{};
  while (!text.empty()) {
    wchar_t wide = 0;
    std::size_t bytes = ::mbrtowc(&wide, text.data(), text.size(), &state);
    if (bytes == 0 || bytes > text.size()) {
      bytes = 1;
      state = {};
      wide = L'?';
    }
    characters.push_back({bytes, static_cast<std::size_t>(std::max(::wcwidth(wide), 0))});
    text.remove_prefix(bytes);
  }
  if (before != nullptr) ::uselocale(before);
  return characters;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

constexpr std::string_view kBetween = "  ";
constexpr std::size_t kLeastText = 20;

// Cells of a numeric column are numbers, unknown or empty.
bool is_number(const std::string& cell) {
  const std::size_t first = cell.find_first_not_of("-<");  // as in -1.5 and <0.01
  return cell == "?" || cell == "-" ||
         (first != cell.npos && std::isdigit(static_cast<unsigned char>(cell[first])) != 0);
}

// Narrows the widest text columns until a line has at most `most` columns or each text column has kLeastText. 0 means
// no limit.
void fit(std::vector<std::size_t>& width, const std::vector<bool>& is_number, std::size_t most) {
  std::size_t whole = kBetween.size() * (width.size() - 1);
  for (const std::size_t each : width) whole += each;
  while (most != 0 && whole > most) {
    std::size_t widest = width.size();
    for (std::size_t i = 0; i < width.size(); ++i) {
      if (!is_number[i] && width[i] > kLeastText && (widest == width.size() || width[i] > width[widest])) widest = i;
    }
    if (widest == width.size()) return;
    --width[widest];
    --whole;
  }
}

constexpr std::chrono::milliseconds kQuiet(1000), kPeriod(200);
constexpr const char* kWipeLine = "\r\x1b[K";

}  // namespace

void set_color(ColorChoice choice) { s_color = choice; }
void set_unlimited_width() { s_unlimited_width = true; }
void set_plain() {
  set_unlimited_width();
  set_color(ColorChoice::never);
}
void set_quiet() { s_quiet = true; }
bool is_quiet() { return s_quiet; }

std::size_t text_width() {
  if (s_unlimited_width) return 0;
  static const std::size_t width = [] {
    winsize size{};
    return ::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? std::size_t{size.ws_col}
                                                                                          : 0;
  }();
  return width;
}

std::string colored(std::string_view text, Color color) {
  if (!shows_colors()) return std::string(text);
  constexpr int kCodes[] = {1, 31, 33, 32};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(color)], text);
}

std::size_t columns_of(std::string_view text) {
  if (is_ascii(text)) return text.size();
  std::size_t columns = 0;
  for (const Character& character : characters_of(text)) columns += character.columns;
  return columns;
}

std::string fitted(std::string_view text, std::size_t columns) {
  constexpr std::string_view kGap = "...";
  if (columns_of(text) <= columns) return std::string(text);
  const std::vector<Character> characters = characters_of(text);
  std::size_t before = (columns - kGap.size() + 1) / 2, after = columns - kGap.size() - before;
  std::size_t head = 0, tail = text.size();
  for (std::size_t i = 0; i < characters.size() && characters[i].columns <= before; ++i) {
    head += characters[i].bytes;
    before -= characters[i].columns;
  }
  for (std::size_t i = characters.size(); i > 0 && characters[i - 1].columns <= after; --i) {
    tail -= characters[i - 1].bytes;
    after -= characters[i - 1].columns;
  }
  return fmt::format("{}{}{}", text.substr(0, head), kGap, text.substr(tail));
}

void Table::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = visible_text(cell);
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::size_t> width(rows_[0].size());
  std::vector<bool> right(rows_[0].size(), true);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], columns_of(row[i]));
    for (std::size_t i = 0; i < row.size() && &row != &rows_[0]; ++i) right[i] = right[i] && is_number(row[i]);
  }
  fit(width, right, text_width());
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = fitted(row[i], width[i]);
      const std::string padding(width[i] - columns_of(cell), ' ');
      line += (right[i] ? padding + cell : cell + padding) + std::string(kBetween);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

Progress::Progress(std::string_view what)
    : what_(visible_text(what)),
      terminal_(::isatty(STDERR_FILENO) != 0 && !is_quiet()),
      next_(std::chrono::steady_clock::now() + kQuiet) {}

void Progress::done() {
  if (shown_) fmt::print(stderr, "{}", kWipeLine);
  shown_ = false;
}

void Progress::add(std::uint64_t steps) {
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  steps_ += steps;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kPeriod;
  shown_ = true;
  fmt::print(stderr, "{}{}: {:.1f} million events", kWipeLine, what_, static_cast<double>(steps_) / 1e6);
  std::fflush(stderr);
}

}  // namespace cli
