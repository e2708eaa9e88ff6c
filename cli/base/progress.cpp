#include "cli/base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/base/terminal.h"
#include "cli/base/visible_text.h"

namespace cli {
namespace {

constexpr std::chrono::milliseconds kQuiet(1000), kPeriod(200);
constexpr const char* kWipeLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string_view what)
    : what_(visible_text(what)),
      terminal_(::isatty(STDERR_FILENO) != 0 && !is_quiet()),
      next_(std::chrono::steady_clock::now() + kQuiet) {}

Progress::~Progress() { done(); }

void Progress::done() {
  if (shown_) fmt::print(stderr, "{}", kWipeLine);
  shown_ = false;
}

void Progress::add(std::uint64_t steps) {
  if (!terminal_) return;
  const std::lock_guard lock(mutex_);
  steps_ += steps;
  show();
}

void Progress::show() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kPeriod;
  shown_ = true;
  fmt::print(stderr, "{}{}: {:.1f} million events", kWipeLine, what_, static_cast<double>(steps_) / 1e6);
  std::fflush(stderr);
}

}  // namespace cli
