#include "cli/export/kineto_recording.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/export/kineto_args.h"
#include "cli/model/kinds.h"
#include "cli/read/ring_words.h"

namespace cli {
namespace {

void add_bandwidth(const Event& event, std::string& args) {
  if (event.duration_ns <= 0) return;
  const double gb_per_s = static_cast<double>(event.bytes) / static_cast<double>(event.duration_ns);
  add_member(args, "memory bandwidth (GB/s)", fmt::format("{}", gb_per_s));
}

// What the driver allocated, by the names that PyTorch's allocator has for what it did. Its totals are not known.
void memory_instant(KinetoLine& line, const Event& event, std::string& args) {
  const bool released = line.name.starts_with("Release");
  const bool host = line.name.ends_with("(Pageable)") || line.name.ends_with("(Pinned)");
  const std::string_view device = argument(line.args, "device");
  add_member(args, "operation", json_quoted(line.name));
  add_member(args, "Bytes", fmt::format("{}{}", released ? "-" : "", event.bytes));
  if (const auto address = hex_number(argument(line.args, "address"))) {
    add_member(args, "Addr", fmt::format("{}", *address));
  }
  add_member(args, "Device Type", host ? "0" : "1");
  add_member(args, "Device Id", host || device.empty() ? "-1" : device);
  line.name = "[memory]";
}

// Pools are something else.
bool is_allocation(const KinetoLine& line) {
  return line.name.starts_with("Allocate") || line.name.starts_with("Release");
}

}  // namespace

std::string_view kineto_category(const Event& event) {
  if (event.phase == 'i') return row(Kind::instant).category;
  switch (event.kind) {
    case Kind::nvtx:
    case Kind::nccl:
      return row(Kind::user_annotation).category;
    case Kind::graph:
      return row(Kind::kernel).category;
    default:
      return row(event.kind).category;
  }
}

void KinetoRecording::complete(const Event& event, KinetoLine& line) {
  args_.clear();
  line.category = kineto_category(event);
  if (event.phase == 'i') line.scope = 't';
  add_correlation(event);
  if (event.kind == Kind::memory && is_allocation(line)) {
    memory_instant(line, event, args_);
  } else if (event.has_bytes) {
    add_member(args_, "bytes", fmt::format("{}", event.bytes));
    if (event.kind == Kind::memcpy || event.kind == Kind::memset) add_bandwidth(event, args_);
  }
  if (event.phase == 'X' && event.duration_ns < 0) add_member(args_, "unfinished", "true");
  if (event.open_start) add_member(args_, "open_start", "true");
  if (const std::string call = collectives_.event(event, line.args); !call.empty()) {
    args_ += (args_.empty() ? "" : ", ") + call;
  }
  line.more_args = args_;
}

void KinetoRecording::note(const Event& event, std::string_view args) {
  if (event.kind == Kind::runtime) is_inner_call(event);
  collectives_.event(event, args);
}

// Kineto has one call for each correlation. HTA joins every event with every other of the same one, so that its tables
// would hold work twice that has two calls; so what only belongs to a call names it by another key.
void KinetoRecording::add_correlation(const Event& event) {
  if (event.correlation == 0) return;
  const bool joins = is_gpu_work(event.kind) || event.kind == Kind::sync || event.kind == Kind::cuda_event ||
                     (is_api_call(event.kind) && !is_inner_call(event));
  add_member(args_, joins ? "correlation" : "call correlation", fmt::format("{}", event.correlation));
}

// The driver's call in the runtime's has its correlation; the outer one comes first.
bool KinetoRecording::is_inner_call(const Event& event) {
  if (event.kind == Kind::runtime) return calls_[event.track] = event.correlation, false;
  const auto outer = calls_.find(event.track);
  return outer != calls_.end() && outer->second == event.correlation;
}

}  // namespace cli
