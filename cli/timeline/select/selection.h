// Which events a person wants to see. An event is kept when every choice that was made keeps it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/trace/kinds.h"
#include "cli/timeline/select/ranges.h"

namespace cli {

struct Selection {
  std::optional<NumberRanges> ranks;  // processes of unknown rank are in none
  bool without_beside = false;        // none of what a run has beside its ranks (model/beside_ranks.h)
  // What starts in the range of such a step on the host, on any thread of its process, and the GPU work (and waits) of
  // the calls among that, however much later it ran. GPU work whose call is not in the trace belongs to no step, unless
  // the trace has no calls of the process at all: then it goes by its own start. A range on the GPU (gpu_annotation) is
  // kept when it holds work that is.
  std::optional<NumberRanges> steps;
  std::optional<TimeRange> time;  // what runs in it at some moment, whole
  std::optional<KindSet> kinds;   // nccl holds the kernels of collectives, too; ends of flows are kept whatever is chosen: a flow is written where both ends are
  std::int64_t min_dur_ns = 0;    // slices shorter than this go; those without an end, and points, stay

  bool by_event() const { return steps || time || kinds || min_dur_ns > 0; }
};

// --kinds kernel,memcpy,nccl: the words are the names of cli/trace/kinds.h. Throws Error (usage) that names the unknown
// word and all that there are.
KindSet kinds_option(std::string_view option, std::string_view text);

// Why an event is not kept: the first choice, in this order, that leaves it out.
enum class LeftOut : std::uint8_t { kept, ranks, steps, time, kinds, min_dur, count_ };

inline constexpr std::array<std::string_view, static_cast<std::size_t>(LeftOut::count_)> kLeftOutOptions{
    "", "--ranks", "--steps", "--time", "--kinds", "--min-dur"};

using LeftOutCounts = std::array<std::uint64_t, static_cast<std::size_t>(LeftOut::count_)>;

}  // namespace cli
