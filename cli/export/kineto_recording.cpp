#include "cli/export/kineto_recording.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/model/kinds.h"
#include "cli/read/ring_words.h"

namespace cli {
namespace {

void add_bandwidth(const Event& event, std::string& args) {
  if (event.duration_ns <= 0) return;
  const double gb_per_s = static_cast<double>(event.bytes) / static_cast<double>(event.duration_ns);
  add_member(args, "memory bandwidth (GB/s)", fmt::format("{}", gb_per_s));
}

// As PyTorch's allocator reports what it did, but of the driver's allocations; totals are not known.
void memory_instant(KinetoLine& line, const Event& event, std::string& args) {
  const bool released = line.name.starts_with("Release");
  add_member(args, "operation", json_quoted(line.name));
  add_member(args, "Bytes", fmt::format("{}{}", released ? "-" : "", event.bytes));
  add_member(args, "Device Type", "1");
  line.name = "[memory]";
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

void as_kineto(const Event& event, KinetoLine& line, std::string& args) {
  args.clear();
  line.category = kineto_category(event);
  if (event.phase == 'i') line.scope = 't';
  if (event.correlation != 0) add_member(args, "correlation", fmt::format("{}", event.correlation));
  if (event.kind == Kind::memory) {
    memory_instant(line, event, args);
  } else if (event.has_bytes) {
    add_member(args, "bytes", fmt::format("{}", event.bytes));
    if (event.kind == Kind::memcpy || event.kind == Kind::memset) add_bandwidth(event, args);
  }
  if (event.phase == 'X' && event.duration_ns < 0) add_member(args, "unfinished", "true");
  if (event.open_start) add_member(args, "open_start", "true");
  line.more_args = args;
}

}  // namespace cli
