// What a timeline shows, ready to be written: tracks with lanes, names by number, how busy devices are.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/show/report/device_usage.h"
#include "cli/show/report/timeline_colors.h"
#include "cli/show/report/timeline_slices.h"
#include "cli/show/report/timeline_time.h"

namespace cli {

struct TimelineName {
  std::string text;
  std::string_view kind;   // a word of model/kinds.h
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

}  // namespace cli
