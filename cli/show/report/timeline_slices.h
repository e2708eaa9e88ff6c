// Selects the slices that a timeline keeps: all of them, or the longest ones if there are too many.
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

// The time that a timeline shows: one step over all ranks, or else the first part of the analyzed time. The range
// [from_ns, to_ns) is on the common axis.
struct ShownTime {
  std::optional<std::int64_t> step;
  std::int64_t from_ns = 0, to_ns = 0;

  std::int64_t length_ns() const { return to_ns - from_ns; }
};

// Returns the time of each step, by number: from its first start to its last end on any chosen rank, at least 1 ns.
std::map<std::int64_t, ShownTime> times_of_steps(const AnalysisContext& context);

// Returns the time to show. `steps` are from times_of_steps(). `processes` are those whose slices are shown; the first
// of them determines the step. `kinds` are the kinds of their slices. Without a step, the time contains at most about
// `most_slices` of them. Throws Error (usage) if the requested step does not exist.
ShownTime shown_time(const AnalysisContext& context, const std::map<std::int64_t, ShownTime>& steps,
                     std::optional<std::int64_t> step, const std::vector<ProcessId>& processes, KindSet kinds,
                     std::size_t most_slices, std::vector<std::string>& notes);

// Times are on the common axis.
struct TimelineSlice {
  std::int64_t start_ns = 0, end_ns = 0;
  TrackId track = 0;
  StringId name = 0;
  Kind kind = Kind::other;
  WorkClass work_class = WorkClass::compute;  // GPU work only
};

// Keeps at most `most` slices. Beyond that, host slices shorter than a rising limit are dropped, and if few of these
// are left, slices of GPUs likewise. The slices at least as long as the last limit remain. If very many have exactly
// this length, an even sample of them is kept, the same in each run.
class TimelineSlices {
 public:
  explicit TimelineSlices(std::size_t most) : most_(most) {}

  void add(const TimelineSlice& slice);
  std::vector<TimelineSlice> take() { return std::move(slices_); }
  // Returns "1234 slices of the host shorter than 2.000 us", "98 kernels and copies of 10.000 us (about 1 in 2 is
  // kept)", or nothing if all slices are kept.
  std::vector<std::string> left_out() const;

 private:
  struct Floor {
    std::int64_t shortest_ns = 0;  // minimum length of kept slices
    std::uint64_t left_out = 0;    // number of dropped slices
    // Keeps one in this many of the slices with exactly the minimum length; a power of two
    std::uint64_t one_in = 1;
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
  // Random, because a fixed stride could always hit the same rank or the same position in each step
  std::mt19937 draw_;
};

// The content of a timeline, ready to be written: tracks with lanes, names by number, usage of devices.
struct TimelineName {
  std::string text;
  std::string_view kind;  // a word of cli/trace/event.h
  SliceColor color = SliceColor::other;
};

struct TimelineLane {
  struct Slice {
    std::int64_t start_ns = 0, end_ns = 0;  // relative to the start of the shown time
    std::uint32_t name = 0;                 // index in TimelineData::names
  };
  std::vector<Slice> slices;  // by start, the longer first; nested or disjoint
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
  std::int64_t rank = -1;  // -1 if unknown
  std::string name;        // "rank 3 node1:NVIDIA H100"
  bool has_slices = false;
  std::vector<TimelineTrack> tracks;
  std::vector<TimelineDevice> devices;
};

struct TimelineData {
  std::string inputs;  // as words of a shell command
  ShownTime time;
  bool has_all_ranks = true;     // contains all ranks of the trace
  std::vector<ShownTime> steps;  // a limited number of the trace's steps
  std::int64_t origin_ns = 0;    // start of the trace
  std::int64_t part_ns = 1;
  std::vector<TimelineName> names;  // most frequent first
  std::vector<TimelineRank> ranks;  // sorted by rank
  std::vector<std::string> notes;   // a sentence each
  std::size_t slices = 0;
};

// Returns compact JSON that is safe inside <script>, because it contains no '<'. Described in docs/report.md.
std::string timeline_json(const TimelineData& data);
// Returns the whole section.
std::string timeline_html(const TimelineData& data);

}  // namespace cli::report
