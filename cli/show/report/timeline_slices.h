// The slices that a timeline keeps: all of them, as long as there are not too many; then the longer ones.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/show/report/device_usage.h"
#include "cli/show/report/fills.h"
#include "cli/timeline/gpu/work_classes.h"
#include "cli/trace/event.h"

namespace cli::report {

// Which time of a trace a timeline shows: one step, over all ranks, else the first part of what is analyzed.

// On the axis; `to_ns` does not belong to it.
struct ShownTime {
  std::optional<std::int64_t> step;
  std::int64_t from_ns = 0, to_ns = 0;

  std::int64_t length_ns() const { return to_ns - from_ns; }
};

// Of each step the time from its first start to its last end on any chosen rank, 1 ns at least; by number.
std::map<std::int64_t, ShownTime> times_of_steps(const AnalysisContext& context);

// `steps`: of times_of_steps(); `processes`: whose slices are shown, the first of which decides the step; `kinds`: of their slices, of which there should be at most about
// `most_slices` where there is no step. Throws Error (usage) where the step that was asked for is not there.
ShownTime shown_time(const AnalysisContext& context, const std::map<std::int64_t, ShownTime>& steps, std::optional<std::int64_t> step, const std::vector<ProcessId>& processes, KindSet kinds,
                     std::size_t most_slices, std::vector<std::string>& notes);

// On the axis.
struct TimelineSlice {
  std::int64_t start_ns = 0, end_ns = 0;
  TrackId track = 0;
  StringId name = 0;
  Kind kind = Kind::other;
  WorkClass work_class = WorkClass::compute;  // of GPU work
};

// Where there are more than `most`, those of the host go below a length that rises as they come, and where these are few, those of GPUs likewise. What is
// kept is what is as long as the last of these lengths; where very many are exactly as long, an even part of those, the same in each run.
class TimelineSlices {
 public:
  explicit TimelineSlices(std::size_t most) : most_(most) {}

  void add(const TimelineSlice& slice);
  std::vector<TimelineSlice> take() { return std::move(slices_); }
  // "1234 slices of the host shorter than 2.000 us", "98 kernels and copies of 10.000 us (about 1 in 2 is kept)"; none: all are kept.
  std::vector<std::string> left_out() const;

 private:
  struct Floor {
    std::int64_t shortest_ns = 0;       // that is kept
    std::uint64_t left_out = 0;         // that are shorter
    std::uint64_t one_in = 1;           // of those that are exactly as long is kept; a power of two
    std::uint64_t as_long_left_out = 0;
  };

  Floor& floor_of(const TimelineSlice& slice) { return is_gpu_work(slice.kind) ? gpu_ : host_; }
  bool keeps(Floor& floor, std::int64_t length_ns);
  void thin();
  void raise(Floor& floor, bool of_gpu, std::int64_t shortest_ns);
  void halve(Floor& floor, bool of_gpu);

  std::size_t most_;
  std::vector<TimelineSlice> slices_;
  Floor host_, gpu_;
  std::mt19937 draw_;  // a fixed stride would meet the same rank, or the same place of each step, again and again
};

// What a timeline shows, ready to be written: tracks with lanes, names by number, how busy devices are.
struct TimelineName {
  std::string text;
  std::string_view kind;   // a word of cli/trace/event.h
  SliceColor color = SliceColor::other;
};

struct TimelineLane {
  struct Slice {
    std::int64_t start_ns = 0, end_ns = 0;  // from the start of what is shown
    std::uint32_t name = 0;                 // in TimelineData::names
  };
  std::vector<Slice> slices;  // by start, the longer first; they nest, or are apart
};

struct TimelineTrack {
  std::string name;
  bool is_gpu = false;
  std::vector<TimelineLane> lanes;
};

// A device of a rank.
struct TimelineDevice {
  std::int64_t device = -1;
  Usage whole;
  std::vector<Usage> parts;
};

struct TimelineRank {
  std::int64_t rank = -1;  // -1: unknown
  std::string name;        // "rank 3 node1:NVIDIA H100"
  bool has_slices = false;
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineDevice> devices;
};

struct TimelineData {
  std::string inputs;  // as words of a command
  ShownTime time;
  bool has_all_ranks = true;  // of the trace
  std::vector<ShownTime> steps;  // of the trace, not too many
  std::int64_t origin_ns = 0;  // the start of the trace
  std::int64_t part_ns = 1;
  std::vector<TimelineName> names;  // what comes most often first
  std::vector<TimelineRank> ranks;  // in the order of ranks
  std::vector<std::string> notes;   // a sentence each
  std::size_t slices = 0;
};

// Compact, and safe within <script>: no '<' occurs in it. docs/report.md describes it.
std::string timeline_json(const TimelineData& data);
// The whole section.
std::string timeline_html(const TimelineData& data);

}  // namespace cli::report
