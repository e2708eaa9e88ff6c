// The budgets of the project, measured: one function per subject, one row per figure. Ratios are taken within one run,
// so that they hold on any machine; absolutes are printed beside them.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/output_file.h"

namespace bench {

struct Figure {
  std::string what;
  std::string budget;  // as in the design
  std::string measured;
  bool within;  // budget kept
};

using Figures = std::vector<Figure>;

// One each; `small` is the smoke test: the same code on less work.
Figures append(bool small);
Figures json_read(bool small);
Figures json_write(bool small);
Figures late(bool small);
Figures merge(bool small);
Figures nvtx_cost(bool small);
Figures pftrace_write(bool small);

// Seconds of the fastest of `rounds` runs, by CLOCK_MONOTONIC, or of processor time of this thread.
double fastest_s(int rounds, const std::function<void()>& run);
double fastest_cpu_s(int rounds, const std::function<void()>& run);

// What is measured for its memory runs alone in a process of its own: this program again, as `bench --peak NAME ARG`.
struct Alone {
  const char* name;
  void (*run)(const std::string& argument);
};
extern const Alone kJsonReadAlone, kMergeAlone, kPftraceWriteAlone, kRingAlone;

// Memory that forgets: what it costs to make the bytes, without keeping them.
struct NullSink : cli::ByteSink {
  void write(std::string_view bytes) override { total += bytes.size(); }
  void finish() override {}
  std::uint64_t total = 0;
};

// The most memory that it had at any time, in bytes.
std::uint64_t peak_bytes(const Alone& what, const std::string& argument);

}  // namespace bench
