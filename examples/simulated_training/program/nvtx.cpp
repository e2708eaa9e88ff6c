#include "nvtx.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "../standin/true_clock.h"
#include "../standin/work.h"
#include "host_shift.h"

namespace sim {

Line host_line(std::string_view kind) {
  Line line(kind);
  const auto mono = static_cast<std::int64_t>(true_clock_ns(CLOCK_MONOTONIC));
  line.number("seq", simulated_next_seq()).number("tid", syscall(SYS_gettid)).number("time", true_ns());
  line.number("mono", shifted_ns(CLOCK_MONOTONIC, mono));
  return line;
}

void say(Line& line) {
  const std::string_view text = line.close();
  simulated_truth(text.data(), text.size(), 1);
}

Range::Range(std::string_view name) {
  Line line = host_line("nvtx_push");
  say(line.text("domain", "").text("name", name));
  nvtxRangePushA(std::string(name).c_str());
}

Range::~Range() {
  Line line = host_line("nvtx_pop");
  say(line.text("domain", ""));
  nvtxRangePop();
}

void mark(std::string_view name) {
  Line line = host_line("nvtx_mark");
  say(line.text("domain", "").text("name", name));
  nvtxMarkA(std::string(name).c_str());
}

OpenRange start_range(std::string_view name) {
  static std::atomic<std::uint64_t> s_number{0};
  OpenRange range{0, ++s_number};
  Line line = host_line("nvtx_start");
  say(line.text("domain", "").text("name", name).number("range", range.number));
  range.id = nvtxRangeStartA(std::string(name).c_str());
  return range;
}

void end_range(const OpenRange& range) {
  Line line = host_line("nvtx_end");
  say(line.number("range", range.number));
  nvtxRangeEnd(range.id);
}

void name_thread(const char* name) {
  pthread_setname_np(pthread_self(), name);
  nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), name);
}

}  // namespace sim
