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

void say_name(std::string_view resource, std::string_view name, std::uint64_t id, std::uint64_t context,
              const void* handle) {
  Line line("resource_name");
  line.number("seq", simulated_next_seq()).text("resource", resource).text("name", name).number("id", id);
  say(line.number("context", context).number("handle", reinterpret_cast<std::uintptr_t>(handle)));
}

void name_thread(const char* name) {
  pthread_setname_np(pthread_self(), name);
  say_name("thread", name, static_cast<std::uint64_t>(syscall(SYS_gettid)), 0, nullptr);
  nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), name);
}

}  // namespace sim
