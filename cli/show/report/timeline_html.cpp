// The timeline section: its data as JSON, and the markup around it.

#include <algorithm>

#include "cli/base/json_text.h"
#include "cli/base/text.h"
#include "cli/show/report/chart.h"
#include "cli/show/report/fills.h"
#include "cli/show/report/html.h"
#include "cli/show/report/timeline_slices.h"
#include "cli/trace/ranks.h"

namespace cli::report {

namespace {

// A row of the static chart.
struct StaticRow {
  std::string name;
  const TimelineDevice* device = nullptr;
};

constexpr std::size_t kMostStaticRows = 64, kMostStaticParts = 200;
constexpr double kLabelWidth = 110, kPlotWidth = 680, kRowHeight = 20, kRowGap = 4, kAxisHeight = 34;

constexpr std::size_t kLongestLabel = 16;

std::string short_rank_name(const TimelineRank& rank) {
  if (rank.rank >= 0) return fmt::format("rank {}", rank.rank);
  return rank.name.size() <= kLongestLabel ? rank.name : rank.name.substr(0, kLongestLabel - 3) + "...";
}

std::vector<StaticRow> static_rows(const TimelineData& data) {
  std::vector<StaticRow> rows;
  for (const TimelineRank& rank : data.ranks) {
    for (const TimelineDevice& device : rank.devices) {
      const std::string name = short_rank_name(rank);
      rows.push_back({rank.devices.size() > 1 ? fmt::format("{} GPU {}", name, device.device) : name, &device});
    }
  }
  return rows;
}

// Returns the outline of adjacent columns with these heights (0 to 1) on the row's lower edge. Equal neighbours are
// joined.
std::string columns_path(const std::vector<double>& heights, double x, double bottom, double width) {
  std::string path = fmt::format("M{} {}", coordinate(x), coordinate(bottom));
  const double step = width / static_cast<double>(std::max<std::size_t>(1, heights.size()));
  for (std::size_t i = 0; i < heights.size();) {
    std::size_t end = i + 1;
    while (end < heights.size() && heights[end] == heights[i]) ++end;
    path += fmt::format("V{}H{}", coordinate(bottom - heights[i] * kRowHeight),
                        coordinate(x + step * static_cast<double>(end)));
    i = end;
  }
  return path + fmt::format("V{}z", coordinate(bottom));
}

// Joins adjacent parts until there are at most kMostStaticParts.
std::vector<Usage> joined_parts(const std::vector<Usage>& parts) {
  const std::size_t joined = (parts.size() + kMostStaticParts - 1) / kMostStaticParts;
  std::vector<Usage> sums;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i % joined == 0) sums.emplace_back();
    Usage& sum = sums.back();
    sum.busy_ns += parts[i].busy_ns;
    sum.compute_ns += parts[i].compute_ns;
    sum.exposed_comm_ns += parts[i].exposed_comm_ns;
  }
  return sums;
}

void draw_row(Html& html, const StaticRow& row, const TimelineData& data, double bottom) {
  const std::vector<Usage> parts = joined_parts(row.device->parts);
  const double part_ns =
      static_cast<double>(data.time.length_ns()) / static_cast<double>(std::max<std::size_t>(1, parts.size()));
  std::vector<double> busy, running, compute;
  const auto share = [&](std::int64_t ns) { return std::min(1.0, static_cast<double>(ns) / part_ns); };
  for (const Usage& part : parts) {
    busy.push_back(share(part.busy_ns));
    running.push_back(share(part.compute_ns + part.exposed_comm_ns));
    compute.push_back(share(part.compute_ns));
  }
  html.element("text", {{"x", kLabelWidth - 8}, {"y", bottom - 5}, {"text-anchor", "end"}}, row.name);
  html.empty("rect", {{"x", kLabelWidth},
                      {"y", bottom - kRowHeight},
                      {"width", kPlotWidth},
                      {"height", kRowHeight},
                      {"class", "tl-idle"}});
  // Drawn from back to front. The visible remainders are memory alone, exposed communication, and compute.
  html.empty("path", {{"d", columns_path(busy, kLabelWidth, bottom, kPlotWidth)}, {"fill", paint(Fill::memory)}});
  html.empty("path", {{"d", columns_path(running, kLabelWidth, bottom, kPlotWidth)}, {"fill", paint(Fill::exposed)}});
  html.empty("path", {{"d", columns_path(compute, kLabelWidth, bottom, kPlotWidth)}, {"fill", paint(Fill::compute)}});
}

void draw_axis(Html& html, const TimelineData& data, double top) {
  const auto length_ns = static_cast<double>(data.time.length_ns());
  const Axis axis = axis_for(length_ns, Unit::ns);
  for (const double at : axis.ticks) {
    if (at > length_ns) break;
    const double x = kLabelWidth + kPlotWidth * at / length_ns;
    html.empty("line", {{"x1", x}, {"x2", x}, {"y1", 0}, {"y2", top + 5}, {"class", "grid"}});
    html.element("text", {{"x", x}, {"y", top + 18}, {"text-anchor", "middle"}, {"class", "tick"}},
                 axis.tick_text(at) + ' ' + axis.unit);
  }
}

void write_static_picture(Html& html, const TimelineData& data, const std::vector<StaticRow>& rows) {
  const std::size_t shown = std::min(rows.size(), kMostStaticRows);
  const double height = static_cast<double>(shown) * (kRowHeight + kRowGap);
  html.open("svg", {{"viewBox", fmt::format("0 0 {} {}", coordinate(kLabelWidth + kPlotWidth + 30),
                                            coordinate(height + kAxisHeight))},
                    {"class", "chart"},
                    {"role", "img"},
                    {"aria-labelledby", "tl-title tl-desc"}});
  html.element("title", {{"id", "tl-title"}}, "Utilization of each GPU over the time shown");
  html.element(
      "desc", {{"id", "tl-desc"}},
      fmt::format(
          "One row per GPU, {} over {}. Bottom to top: share of time in compute, in exposed communication, and in copies and memsets alone. Empty space is idle time.",
          count_text(rows.size(), "GPU"), duration_text(data.time.length_ns())));
  draw_axis(html, data, height);
  for (std::size_t i = 0; i < shown; ++i)
    draw_row(html, rows[i], data, static_cast<double>(i + 1) * (kRowHeight + kRowGap) - kRowGap);
  html.close("svg");
  if (shown < rows.size())
    html.element("p", fmt::format("The first {} of {} GPUs; the table lists all.", shown, rows.size()));
}

void write_table(Html& html, const TimelineData& data, const std::vector<StaticRow>& rows) {
  const Element in_details(html, "details", {{"class", "tl-table"}});
  html.element("summary", fmt::format("Table: {} over the time shown", count_text(rows.size(), "GPU")));
  const Element in_div(html, "div", {{"class", "scroll"}});
  const Element in_table(
      html, "table",
      {{"data-from-ns", data.time.from_ns - data.origin_ns}, {"data-to-ns", data.time.to_ns - data.origin_ns}});
  html.open("thead");
  html.open("tr");
  for (const char* heading :
       {"rank", "device", "busy", "compute", "communication", "exposed communication", "copies and memsets", "idle"})
    html.element("th", {{"scope", "col"}}, heading);
  html.close("tr");
  html.close("thead");
  const Element in_tbody(html, "tbody");
  for (const StaticRow& row : rows) {
    const Element in_tr(html, "tr");
    html.element("th", {{"scope", "row"}}, row.name);
    html.element("td", std::to_string(row.device->device));
    const Usage& usage = row.device->whole;
    for (const std::int64_t ns : {usage.busy_ns, usage.compute_ns, usage.comm_ns, usage.exposed_comm_ns,
                                  usage.memory_ns, data.time.length_ns() - usage.busy_ns}) {
      html.element("td", {{"data-v", ns}}, duration_text(ns));
    }
  }
}

void write_button(Html& html, std::string_view id, std::string_view label, std::string_view text) {
  html.element("button", {{"type", "button"}, {"id", id}, {"aria-label", label}, {"title", label}}, text);
}

// The interactive part, which page/timeline.js fills. Hidden without scripts.
void write_live_part(Html& html) {
  const Element in_div(html, "div", {{"id", "tl-live"}, {"hidden", ""}});
  html.open("div", {{"class", "tl-controls"}});
  html.open("label");
  html.text("Find ");
  html.empty("input", {{"id", "tl-search"},
                       {"type", "search"},
                       {"placeholder", "name of a kernel"},
                       {"autocomplete", "off"},
                       {"spellcheck", "false"}});
  html.close("label");
  write_button(html, "tl-previous", "previous slice of this name", "\u2190");
  write_button(html, "tl-next", "next slice of this name", "\u2192");
  html.element("output", {{"id", "tl-found"}, {"for", "tl-search"}}, "");
  write_button(html, "tl-out", "zoom out", "\u2212");
  write_button(html, "tl-in", "zoom in", "+");
  write_button(html, "tl-fit", "show all of the time", "Fit");
  write_button(html, "tl-open", "open or close all ranks", "Open all");
  html.close("div");
  html.open("div", {{"id", "tl-scroll"}});
  html.element(
      "canvas",
      {{"id", "tl-canvas"},
       {"tabindex", "0"},
       {"role", "application"},
       {"aria-label", "Timeline. W and S or plus and minus zoom, A and D or the cursor keys move, Home shows all."},
       {"aria-describedby", "tl-said"}},
      "");
  html.open("div", {{"id", "tl-height"}});
  html.close("div");
  html.close("div");
  html.element("p", {{"id", "tl-said"}, {"role", "status"}, {"aria-live", "polite"}}, "");
  html.element(
      "p", {{"class", "tl-help"}},
      "Drag to move, Ctrl and the wheel or two fingers to zoom, click a slice to select it, click a rank to open or close it. Keys: W S zoom, A D move.");
  html.open("div", {{"id", "tl-tip"}, {"hidden", ""}});
  html.close("div");
}

void write_legend(Html& html) {
  const Element in_p(html, "p", {{"class", "legend"}});
  for (const TimelineColor& color : timeline_colors()) {
    const Element in_span(html, "span");
    html.open("svg",
              {{"viewBox", "0 0 14 14"}, {"width", 14}, {"height", 14}, {"class", "swatch"}, {"aria-hidden", "true"}});
    html.empty("rect",
               {{"width", 14},
                {"height", 14},
                {color.fill ? "fill" : "class", color.fill ? paint(*color.fill) : std::string(color.palette())}});
    html.close("svg");
    html.text(fmt::format(" {}", color.meaning));
  }
}

std::string what_is_shown(const TimelineData& data) {
  std::vector<std::int64_t> all, whole, other;
  for (const TimelineRank& rank : data.ranks) (rank.has_slices ? whole : other).push_back(rank.rank);
  for (const TimelineRank& rank : data.ranks) all.push_back(rank.rank);
  const std::int64_t since_ns = data.time.from_ns - data.origin_ns;
  const std::string since = since_ns == 0 ? std::string("the start of the trace")
                                          : fmt::format("{} after the start of the trace", duration_text(since_ns));
  const std::string time = fmt::format("{} from {}", duration_text(data.time.length_ns()), since);
  std::string text = !data.time.step ? fmt::format("{}.", time)
                     : data.ranks.size() == 1
                         ? fmt::format("Step {}: {}.", *data.time.step, time)
                         : fmt::format("Step {} on {}, from the first start to the last end on the GPUs: {}.",
                                       *data.time.step, data.has_all_ranks ? "all ranks" : rank_list(all), time);
  text += fmt::format(" {}{}: GPU work, and calls, operators and ranges of the host.", count_text(data.slices, "slice"),
                      all == std::vector<std::int64_t>{-1} ? "" : " of " + rank_list(whole));
  if (!other.empty())
    text += fmt::format(" GPU utilization of {} in intervals of {}.", rank_list(other), duration_text(data.part_ns));
  return text;
}

// "</script" and "<!--" would end the script element or begin a comment in it.
std::string script_text(std::string_view text) {
  std::string quoted;
  for (const char c : json_quoted(visible_text(text))) quoted += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return quoted;
}

std::string number_or_null(std::optional<std::int64_t> number) { return number ? std::to_string(*number) : "null"; }

template <typename Items, typename Format>
std::string json_list(const Items& items, Format&& format) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += format(item);
  }
  return text + "]";
}

// Returns a flat list with three numbers per slice: the distance from the previous start, the length and the name.
std::string lane_json(const TimelineLane& lane) {
  std::int64_t before_ns = 0;
  return json_list(lane.slices, [&](const TimelineLane::Slice& slice) {
    const std::int64_t since_ns = slice.start_ns - std::exchange(before_ns, slice.start_ns);
    return fmt::format("{},{},{}", since_ns, slice.end_ns - slice.start_ns, slice.name);
  });
}

std::string track_json(const TimelineTrack& track) {
  return fmt::format("{{\"name\":{},\"gpu\":{:d},\"lanes\":{}}}", script_text(track.name), track.is_gpu,
                     json_list(track.lanes, lane_json));
}

std::string device_json(const TimelineDevice& device) {
  const auto sums = [&](std::int64_t Usage::*sum) {
    return json_list(device.parts, [&](const Usage& part) { return std::to_string(part.*sum); });
  };
  return fmt::format("{{\"device\":{},\"busy\":{},\"compute\":{},\"comm\":{},\"exposed\":{},\"memory\":{}}}",
                     device.device, sums(&Usage::busy_ns), sums(&Usage::compute_ns), sums(&Usage::comm_ns),
                     sums(&Usage::exposed_comm_ns), sums(&Usage::memory_ns));
}

std::string rank_json(const TimelineRank& rank) {
  return fmt::format("{{\"rank\":{},\"name\":{},\"{}\":{}}}\n", number_or_null(known_number(rank.rank)),
                     script_text(rank.name), rank.has_slices ? "tracks" : "devices",
                     rank.has_slices ? json_list(rank.tracks, track_json) : json_list(rank.devices, device_json));
}

}  // namespace

std::string timeline_html(const TimelineData& data) {
  Html html;
  const std::vector<StaticRow> rows = static_rows(data);
  html.open("section", {{"id", "timeline"}, {"aria-labelledby", "tl-heading"}});
  html.element("h2", {{"id", "tl-heading"}},
               data.time.step ? fmt::format("Timeline of step {}", *data.time.step) : std::string("Timeline"));
  html.element("p", what_is_shown(data));
  html.markup(
      "<noscript><p>JavaScript is off. The chart and the table show the utilization of each GPU; tracetool export writes the single slices.</p></noscript>");
  write_live_part(html);
  html.open("div", {{"id", "tl-static"}, {"class", "wide"}});
  if (rows.empty()) {
    html.element("p", "No GPU work in this time.");
  } else {
    write_static_picture(html, data, rows);
  }
  html.close("div");
  write_legend(html);
  if (!rows.empty()) write_table(html, data, rows);
  for (const std::string& note : data.notes) html.element("p", {{"class", "note"}}, note);
  html.markup("<script type=\"application/json\" id=\"timeline-data\">");
  html.markup(timeline_json(data));
  html.markup("</script>");
  html.close("section");
  return html.all();
}

std::string timeline_json(const TimelineData& data) {
  const auto step = [&](const ShownTime& time) {
    return fmt::format("[{},{},{}]", *time.step, time.from_ns - data.origin_ns, time.to_ns - data.origin_ns);
  };
  const auto color = [](const TimelineColor& each) {
    return fmt::format("[{},{}]", script_text(each.word), script_text(each.palette()));
  };
  const auto name = [](const TimelineName& each) {
    return fmt::format("[{},{},{}]\n", script_text(each.text), script_text(each.kind),
                       script_text(timeline_colors()[static_cast<std::size_t>(each.color)].word));
  };
  return fmt::format("{{\"inputs\":{},\"step\":{},\"start\":{},\"length\":{},\"part\":{},\"steps\":{},\"colors\":{},",
                     script_text(data.inputs), number_or_null(data.time.step), data.time.from_ns - data.origin_ns,
                     data.time.length_ns(), data.part_ns, json_list(data.steps, step),
                     json_list(timeline_colors(), color)) +
         fmt::format("\n\"names\":{},\"ranks\":{}}}", json_list(data.names, name), json_list(data.ranks, rank_json));
}

}  // namespace cli::report
