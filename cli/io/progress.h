// One line on stderr that says how far the work is: only when stderr is a terminal and the work takes over a second;
// wiped when it is done.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace cli {

class Progress {
 public:
  explicit Progress(std::string what);  // "reading 8 files"
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void done();  // wipes the line; the destructor does it too
  void say(std::string what) { what_ = std::move(what); }
  // Cheap enough for every event: looks at the clock once in 16,384 calls.
  void step() {
    if ((++steps_ & 0x3fff) == 0 && terminal_) show();
  }

 private:
  void show();

  std::string what_;
  bool terminal_;
  bool shown_ = false;
  std::uint64_t steps_ = 0;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace cli
