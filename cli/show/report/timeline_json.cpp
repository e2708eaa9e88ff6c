#include <charconv>
#include <string>

#include "cli/base/json_text.h"
#include "cli/base/text.h"
#include "cli/show/report/html.h"
#include "cli/show/report/timeline_slices.h"

namespace cli {
namespace {

// Numbers and texts, one after the other; commas are the caller's.
class CompactJson {
 public:
  void raw(std::string_view text) { text_ += text; }
  void number(std::int64_t value) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  // "</script" and "<!--" would end the element or begin a comment of it.
  void text(std::string_view text) {
    for (const char c : json_quoted(visible_text(text))) {
      if (c == '<') {
        text_ += "\\u003c";
      } else {
        text_ += c;
      }
    }
  }
  template <typename Items, typename Write>
  void list(const Items& items, Write&& write) {
    text_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!first) text_ += ',';
      first = false;
      write(item);
    }
    text_ += ']';
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// One flat list: of each slice the distance to the start before it, the length and the name.
void write_lane(CompactJson& out, const TimelineLane& lane) {
  std::int64_t before_ns = 0;
  out.list(lane.slices, [&](const TimelineLane::Slice& slice) {
    out.number(slice.start_ns - before_ns);
    out.raw(",");
    out.number(slice.end_ns - slice.start_ns);
    out.raw(",");
    out.number(slice.name);
    before_ns = slice.start_ns;
  });
}

void write_track(CompactJson& out, const TimelineTrack& track) {
  out.raw("{\"name\":");
  out.text(track.name);
  out.raw(track.is_gpu ? ",\"gpu\":1" : ",\"gpu\":0");
  out.raw(",\"lanes\":");
  out.list(track.lanes, [&](const TimelineLane& lane) { write_lane(out, lane); });
  out.raw("}");
}

void write_device(CompactJson& out, const TimelineDevice& device) {
  out.raw("{\"device\":");
  out.number(device.device);
  const auto sums = [&](std::string_view key, std::int64_t Usage::* sum) {
    out.raw(key);
    out.list(device.parts, [&](const Usage& part) { out.number(part.*sum); });
  };
  sums(",\"busy\":", &Usage::busy_ns);
  sums(",\"compute\":", &Usage::compute_ns);
  sums(",\"comm\":", &Usage::comm_ns);
  sums(",\"exposed\":", &Usage::exposed_comm_ns);
  sums(",\"memory\":", &Usage::memory_ns);
  out.raw("}");
}

void write_rank(CompactJson& out, const TimelineRank& rank) {
  out.raw("{\"rank\":");
  if (rank.rank >= 0) {
    out.number(rank.rank);
  } else {
    out.raw("null");
  }
  out.raw(",\"name\":");
  out.text(rank.name);
  if (rank.has_slices) {
    out.raw(",\"tracks\":");
    out.list(rank.tracks, [&](const TimelineTrack& track) { write_track(out, track); });
  } else {
    out.raw(",\"devices\":");
    out.list(rank.devices, [&](const TimelineDevice& device) { write_device(out, device); });
  }
  out.raw("}\n");
}

}  // namespace

std::string timeline_json(const TimelineData& data) {
  CompactJson out;
  out.raw("{\"inputs\":");
  out.text(data.inputs);
  out.raw(",\"step\":");
  if (data.time.step) {
    out.number(*data.time.step);
  } else {
    out.raw("null");
  }
  out.raw(",\"start\":");
  out.number(data.time.from_ns - data.origin_ns);
  out.raw(",\"length\":");
  out.number(data.time.length_ns());
  out.raw(",\"part\":");
  out.number(data.part_ns);
  out.raw(",\"steps\":");
  out.list(data.steps, [&](const ShownTime& step) {
    out.raw("[");
    out.number(*step.step);
    out.raw(",");
    out.number(step.from_ns - data.origin_ns);
    out.raw(",");
    out.number(step.to_ns - data.origin_ns);
    out.raw("]");
  });
  out.raw(",\"colors\":");
  out.list(kTimelineColors, [&](const TimelineColor& color) {
    out.raw("[");
    out.text(color.word);
    out.raw(",");
    out.text(palette_name(color));
    out.raw("]");
  });
  out.raw(",\n\"names\":");
  out.list(data.names, [&](const TimelineName& name) {
    out.raw("[");
    out.text(name.text);
    out.raw(",");
    out.text(name.kind);
    out.raw(",");
    out.text(timeline_color(name.color).word);
    out.raw("]\n");
  });
  out.raw(",\"ranks\":");
  out.list(data.ranks, [&](const TimelineRank& rank) { write_rank(out, rank); });
  out.raw("}");
  return out.take();
}

}  // namespace cli
