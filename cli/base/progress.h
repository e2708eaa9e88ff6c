// One line on stderr that says how far the work is: only when stderr is a terminal and the work takes over a second;
// wiped when it is done.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace cli {

class Progress {
 public:
  explicit Progress(std::string_view what);  // "reading"
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done();  // wipes the line; the destructor does it too
  // Cheap enough for every event: looks at the clock once in kSteps calls. One thread; others have a ProgressPart.
  void step() {
    if (++own_steps_ % kSteps == 0) add(kSteps);
  }
  void add(std::uint64_t steps);  // any thread

  static constexpr std::uint64_t kSteps = 1 << 14;

 private:
  void show();

  const std::string what_;
  bool terminal_;
  std::uint64_t own_steps_ = 0;
  std::mutex mutex_;  // of the rest
  bool shown_ = false;
  std::uint64_t steps_ = 0;
  std::chrono::steady_clock::time_point next_;
};

// The steps of one thread, of several that work side by side.
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

}  // namespace cli
