// What a first pass learns of a trace so that the second can name and order its rows: who is there at all, on which
// streams NCCL runs, when it begins and ends.
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/model/catalog.h"
#include "cli/model/event.h"

namespace cli {

// The end of a slice, cut to the range of int64; an unknown duration ends at `trace_end`, and not before its start.
std::int64_t slice_end(const Event& event, std::int64_t trace_end);

// Slices have a duration; counters, instants and the ends of flows have none.
constexpr bool is_slice(const Event& event) {
  return event.phase == 'X' && event.kind != Kind::instant && event.kind != Kind::counter && event.kind != Kind::flow;
}

// By name: ncclKernel_..., ncclDevKernel_..., ncclSymk...
bool is_nccl_name(std::string_view kernel);

class Census {
 public:
  explicit Census(const Catalog& catalog)
      : processes(catalog.processes.size()), tracks(catalog.tracks.size()), catalog_(&catalog) {}

  // Flow events are passed over: they are drawn on slices, or not at all.
  void count(const Event& event);

  struct OfProcess {
    bool seen = false;
    std::int64_t first_ns = 0;
  };
  struct OfTrack {
    bool seen = false;
    std::uint64_t kernels = 0;
    std::uint64_t nccl_kernels = 0;
  };
  std::vector<OfProcess> processes;  // by ProcessId
  std::vector<OfTrack> tracks;       // by TrackId

  bool empty() const { return first_ns_ > last_ns_; }
  std::int64_t first_ns() const { return empty() ? 0 : first_ns_; }
  std::int64_t last_ns() const { return empty() ? 0 : last_ns_; }

 private:
  enum class Name : std::uint8_t { unknown, nccl, other };
  bool nccl(StringId name);

  const Catalog* catalog_;
  std::vector<Name> names_;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace cli
