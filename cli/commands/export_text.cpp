#include "cli/commands/export_text.h"

#include <algorithm>
#include <numeric>

#include "cli/base/json_text.h"
#include "cli/base/text.h"

namespace cli {

namespace {

std::uint64_t left_out(const ExportReport& report) {
  return std::accumulate(report.left_out.events.begin(), report.left_out.events.end(), std::uint64_t{0});
}

std::string size_in_words(std::uint64_t bytes) {
  const double kilobytes = static_cast<double>(bytes) / 1e3;
  return kilobytes < 1e3 ? fmt::format("{:.1f} kB", kilobytes) : fmt::format("{:.1f} MB", kilobytes / 1e3);
}

std::string size_text(std::uint64_t bytes, const ExportSaid& said) {
  return size_in_words(bytes) + (said.is_text ? " before compression" : "");
}

void say(std::uint64_t count, std::string_view what) {
  if (count != 0) print_line("  {} {}", count, what);
}

void say_left_out(const ExportReport& report) {
  if (left_out(report) == 0) return;
  std::string reasons;
  for (std::size_t i = 0; i < kLeftOutOptions.size(); ++i) {
    if (report.left_out.events[i] == 0) continue;
    reasons += fmt::format("{}{} by {}", reasons.empty() ? "" : ", ", report.left_out.events[i], kLeftOutOptions[i]);
  }
  print_line("  {} events are excluded by filters: {}", left_out(report), reasons);
  say(report.left_out.cut_flows, "flows between included and excluded events: not written");
}

void say_files(const ExportReport& report, const ExportSaid& said) {
  if (report.files.size() == 1 && report.files[0].path == said.output) return;
  if (report.whole_bytes > 0)
    print_line("{}: {}, more than --max-size {}: split into {} segments, {} of {} cuts between steps", said.output,
               size_text(report.whole_bytes, said), size_in_words(said.max_bytes), report.files.size(),
               report.cuts_at_steps, report.files.size() - 1);
  constexpr std::size_t kNamed = 16;
  for (std::size_t i = 0; i < std::min(kNamed, report.files.size()); ++i) {
    const WrittenFile& file = report.files[i];
    print_line("  {}: {} events, {}", file.path, file.events, size_text(file.bytes, said));
  }
  if (report.files.size() > kNamed) print_line("  ... and {} more", report.files.size() - kNamed);
}

void write_left_out(const ExportReport& report, JsonWriter& json) {
  json.open('{', "left_out");
  for (std::size_t i = 1; i < kLeftOutOptions.size(); ++i) {
    std::string key(kLeftOutOptions[i].substr(2));
    for (char& c : key) c = c == '-' ? '_' : c;
    json.number(key, report.left_out.events[i]);
  }
  json.close('}');
}

void write_counts(const ExportReport& report, JsonWriter& json) {
  const ExportSummary& summary = report.summary;
  json.members("slices", summary.slices_out, "instants", summary.instants_out, "counter_values", summary.counters_out,
               "flows", summary.flows_out, "cut_flows", report.left_out.cut_flows, "one_ended_flows",
               summary.one_ended_flows - report.split_flow_ends, "unplaced_flows", summary.unplaced_flows,
               "undrawable_flows", summary.undrawable_flows, "backward_flows", summary.backward_flows,
               "works_without_launch", summary.works_without_launch - report.split_works, "split_flows",
               report.split_flows, "unfinished", summary.unfinished, "joined_ends", summary.joined_ends,
               "computed_slices", summary.derived_slices, "computed_values", summary.derived_values, "collective_flows",
               summary.collective_flows, "unjoined_calls", summary.unjoined_calls);
}

}  // namespace

void print_export(const ExportReport& report, const ExportSaid& said) {
  const ExportSummary& summary = report.summary;
  say_files(report, said);
  print_line("{}: {} events: {} slices, {} instants, {} counter values, {} flows", said.output, summary.events_in,
             summary.slices_out, summary.instants_out, summary.counters_out, summary.flows_out);
  if (summary.derived_slices + summary.derived_values > 0) {
    print_line("  derived tracks: {} slices ({}), {} counter values", summary.derived_slices, said.computed,
               summary.derived_values);
    say(summary.collective_flows, "flows between ranks, from the last rank that starts a collective to the others");
    say(summary.unjoined_calls,
        "kernels of collectives without a flow: the last rank's kernel is not written, or began after they had ended");
  }
  say_left_out(report);
  say(report.split_flows, "flows from one segment to another: not written");
  if (report.files.size() > 1 && report.whole_bytes > 0 && said.is_text)
    print_line("  for one smaller file with all flows: export --pftrace");
  const std::string where = left_out(report) > 0 ? "here" : "in the trace";
  say(summary.one_ended_flows - report.split_flow_ends,
      fmt::format("flow endpoints are not written, because their other endpoint is not {}", where));
  say(summary.unplaced_flows, "flow endpoints are not written, because they have no slice");
  say(summary.undrawable_flows,
      "flow endpoints are not written, because their GPU activity already has one or they are in its middle");
  say(summary.backward_flows, "flows to GPU activity that ended before its launch began: viewers may hide them");
  say(summary.works_without_launch - report.split_works,
      fmt::format("kernels and copies whose launch is not {}: written without a flow", where));
  say(summary.joined_ends, "ends of async spans: written as one slice with their beginning");
  say(summary.unfinished, "slices without an end in the trace: written up to the end of the trace");
  for (const std::string& note : report.left_out.tracks) print_line("  {}", note);
  for (const std::string& note : report.notes) print_line("  {}", note);
  if (!summary.balanced()) print_line("  warning: not every event was written or counted; please report this");
  if (said.output == "-" || report.files.empty()) return;
  const std::string& first = report.files.size() > 1 && report.whole_bytes > 0 ? report.files[0].path : said.output;
  print_line("next: open {} in {}", shell_word(first), said.viewers);
}

void write_export_json(const ExportReport& report, const ExportSaid& said, ByteSink& sink) {
  write_json(sink, [&](JsonWriter& json) {
    json.members("output", said.output, "events", report.summary.events_in + left_out(report), "kept",
                 report.summary.events_in);
    write_left_out(report, json);
    write_counts(report, json);
    json.array("files", report.files, [&](const WrittenFile& file) {
      json.open('{');
      json.text("path", file.path);
      if (file.rank >= 0) json.number("rank", file.rank);
      json.members("events", file.events, "uncompressed_bytes", file.bytes);
      json.close('}');
    });
    std::vector<std::string> notes = report.left_out.tracks;
    notes.insert(notes.end(), report.notes.begin(), report.notes.end());
    json.array("notes", notes);
  });
}

}  // namespace cli
