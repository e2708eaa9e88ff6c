#include "truth.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "line.h"

namespace sim {
namespace {

constexpr std::size_t kBuffer = 256 << 10;

struct Truth {
  std::mutex mutex;
  int file = -1;
  std::size_t used = 0;
  char buffer[kBuffer];
};

std::atomic<std::uint64_t> s_seq{0};

[[noreturn]] void give_up(const char* path) {
  std::fprintf(stderr, "simulated libcuda: cannot write the truth to %s: %s\n", path, std::strerror(errno));
  std::abort();
}

// Never deleted: threads of the simulation outlive main.
Truth* open_truth() {
  const char* path = std::getenv("SIM_TRUTH");
  if (path == nullptr || path[0] == '\0') return nullptr;
  auto* truth = new Truth;
  truth->file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (truth->file < 0) give_up(path);
  std::atexit(flush_truth);
  return truth;
}

Truth* truth() {
  static Truth* const opened = open_truth();
  return opened;
}

void flush_locked(Truth& to) {
  for (std::size_t done = 0; done < to.used;) {
    const ssize_t wrote = write(to.file, to.buffer + done, to.used - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) give_up(std::getenv("SIM_TRUTH"));
    done += static_cast<std::size_t>(wrote);
  }
  to.used = 0;
}

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kernel:
      return "kernel";
    case DeviceKind::memcpy:
      return "memcpy";
    case DeviceKind::memcpy_peer:
      return "memcpy_peer";
    case DeviceKind::memset:
      return "memset";
    case DeviceKind::graph:
      return "graph_launch";
  }
  return "";
}

std::string_view name_of(Fate fate) {
  return fate == Fate::off ? "off" : fate == Fate::emitted ? "emitted" : "dropped";
}

template <typename Event>
void add_times(Line& line, const Event& event) {
  line.number("start", event.start_ns).number("end", event.end_ns);
  line.number("cupti_start", event.cupti_start_ns).number("cupti_end", event.cupti_end_ns);
}

void add_kernel(Line& line, const DeviceEvent& event) {
  line.text("name", event.name).triple("grid", event.grid).triple("block", event.block);
  line.number("registers", event.registers).number("static_shared", event.static_shared_bytes);
  line.number("dynamic_shared", event.dynamic_shared_bytes).number("local", event.local_bytes);
  line.number("launch_type", event.launch_type).triple("cluster", event.cluster);
}

void add_copy(Line& line, const DeviceEvent& event) {
  line.number("bytes", event.bytes).number("copy_kind", event.copy_kind).number("flags", event.flags);
  line.number("src_memory", event.src_memory).number("dst_memory", event.dst_memory);
  if (event.kind != DeviceKind::memcpy_peer) return;
  line.number("src_device", event.src_device).number("src_context", event.src_context);
  line.number("dst_device", event.dst_device).number("dst_context", event.dst_context);
}

void add_memset(Line& line, const DeviceEvent& event) {
  line.number("bytes", event.bytes).number("flags", event.flags);
  line.number("value", event.value).number("memory", event.dst_memory);
}

}  // namespace

bool truth_wanted() { return truth() != nullptr; }

void write_truth(std::string_view line) {
  Truth* to = truth();
  if (to == nullptr) return;
  const std::lock_guard lock(to->mutex);
  if (to->used + line.size() + 1 > kBuffer) flush_locked(*to);
  line.copy(to->buffer + to->used, line.size());
  to->buffer[to->used + line.size()] = '\n';
  to->used += line.size() + 1;
}

void flush_truth() {
  Truth* to = truth();
  if (to == nullptr) return;
  const std::lock_guard lock(to->mutex);
  flush_locked(*to);
}

void write_truth_of(const DeviceEvent& event) {
  if (!truth_wanted()) return;
  Line line(name_of(event.kind));
  line.number("seq", event.seq).text("fate", name_of(event.fate)).number("correlation", event.correlation);
  line.number("device", event.device).number("context", event.context).number("stream", event.stream);
  if (event.kind == DeviceKind::kernel) {
    add_kernel(line, event);
  } else if (event.kind == DeviceKind::memset) {
    add_memset(line, event);
  } else if (event.kind != DeviceKind::graph) {
    add_copy(line, event);
  }
  if (event.communicates) line.number("communicates", 1);
  if (event.meets) line.number("late", event.late_ns);
  if (event.graph != 0) line.number("graph", event.graph);
  if (event.graph_node != 0) line.number("graph_node", event.graph_node);
  add_times(line, event);
  write_truth(line.close());
}

void write_truth_of(const CallEvent& event) {
  if (!truth_wanted()) return;
  Line line(event.domain == 1 ? "driver" : "runtime");
  line.number("seq", event.seq).text("fate", name_of(event.fate)).number("correlation", event.correlation);
  line.number("cbid", event.cbid).text("name", event.name).number("tid", event.tid).number("result", event.result);
  add_times(line, event);
  write_truth(line.close());
}

std::uint64_t next_seq() { return s_seq.fetch_add(1, std::memory_order_relaxed) + 1; }

}  // namespace sim
