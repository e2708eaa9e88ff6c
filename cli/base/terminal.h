// Terminal output: width and colors of text, tables, and a progress line.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Width and colors of text on a terminal.
enum class ColorChoice : std::uint8_t { automatic, always, never };
enum class Color : std::uint8_t { bold, red, yellow, green };

// Call these before any text is created. They are not thread-safe.
void set_color(ColorChoice choice);
void set_unlimited_width();
void set_plain();  // for text that goes to a file: unlimited width, no colors
void set_quiet();  // print_line() and Progress print nothing

// Returns the width of the terminal in columns; 0 if stdout is not a terminal or the width is unlimited.
std::size_t text_width();
bool is_quiet();

// Returns `text` in a color if stdout is a terminal and NO_COLOR is not set (no-color.org), or if set_color() enabled
// colors. `text` must have passed through visible_text().
std::string colored(std::string_view text, Color color);

// Returns the number of terminal columns of `text`, which is valid UTF-8 without control characters.
std::size_t columns_of(std::string_view text);

// Returns `text` with at most `columns` columns, replacing its middle with "..." if necessary. `columns` is at least 5.
std::string fitted(std::string_view text, std::size_t columns);

// A table with columns as wide as their widest cell. The first row is the head. Numbers are right-aligned. Cells pass
// through visible_text. If the terminal is too narrow, the middle of the longest texts is cut.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// A progress line on stderr. It appears only if stderr is a terminal and the work takes more than a second, and is
// erased at the end.
class Progress {
 public:
  explicit Progress(std::string_view what);  // `what` is, for example, "reading"
  ~Progress() { done(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done();  // erases the line; so does the destructor
  // Cheap enough to call for every event: reads the clock once in kSteps calls. One thread only; other threads use a
  // ProgressPart.
  void step() {
    if (++own_steps_ % kSteps == 0) add(kSteps);
  }
  void add(std::uint64_t steps);  // any thread

  static constexpr std::uint64_t kSteps = 1 << 14;

 private:
  const std::string what_;
  bool terminal_;
  std::uint64_t own_steps_ = 0;
  std::mutex mutex_;  // protects the members below
  bool shown_ = false;
  std::uint64_t steps_ = 0;
  std::chrono::steady_clock::time_point next_;
};

// The progress of one of several parallel threads.
class ProgressPart {
 public:
  explicit ProgressPart(Progress& whole) : whole_(whole) {}
  void step() {
    if (++steps_ % Progress::kSteps == 0) whole_.add(Progress::kSteps);
  }

 private:
  Progress& whole_;
  std::uint64_t steps_ = 0;
};

// Returns the wall clock in ns since 1970.
inline std::int64_t wall_clock_ns() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace cli
