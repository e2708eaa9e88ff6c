#include "cli/show/export/export_job.h"

#include <algorithm>

#include "cli/formats/chrome/async_spans.h"
#include "cli/formats/chrome/json.h"
#include "cli/formats/kineto/exporter.h"
#include "cli/formats/perfetto/pftrace.h"

namespace cli {

namespace {

std::unique_ptr<Exporter> chrome_json(const FormatOptions&) {
  return chrome::with_async_slices(chrome::make_chrome_json());
}

void hide(Process& process) {
  process.counts = process.overwritten = process.lost = {};
  process.lost_unknown_kind = 0;
  process.recorder.stacks_left_out = process.recorder.operators_without_stack = process.recorder.module_names_missed =
      0;
  process.first_ns = process.last_ns = 0;
  process.notices.clear();
}

}  // namespace

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {.flag = "perfetto",
       .help = "Chrome trace JSON for ui.perfetto.dev",
       .viewers = "ui.perfetto.dev",
       .extension = ".json.gz",
       .make = chrome_json,
       .max_bytes = kMaxJsonBytes,
       .in_manifest = true},
      {.flag = "chrome",
       .help = "Chrome trace JSON for chrome://tracing",
       .viewers = "chrome://tracing or ui.perfetto.dev",
       .extension = ".json.gz",
       .make = chrome_json,
       .max_bytes = kMaxJsonBytes,
       .in_manifest = true},
      {.flag = "pftrace",
       .help = "Perfetto's native format, for ui.perfetto.dev and trace_processor",
       .viewers = "ui.perfetto.dev or trace_processor",
       .extension = ".pftrace",
       .make = [](const FormatOptions& options) { return chrome::with_async_slices(make_pftrace(options)); },
       .in_manifest = true,
       .is_native = true},
      {.flag = "kineto",
       .help = "One Kineto file per rank, for HTA, TensorBoard and TraceLens",
       .viewers = "HTA, TensorBoard or TraceLens",
       .extension = ".pt.trace.json.gz",
       .make = kineto::make_exporter,
       .per_rank = true,
       .computed = "ProfilerStep#N for the steps found, and Python calls from the operators' stacks",
       .joins_ranks = false},
  };
  return formats;
}

std::string_view ending_of(const ExportFormat& format) {
  return format.extension.substr(0, format.extension.size() - (format.extension.ends_with(".gz") ? 3 : 0));
}

const ExportFormat* format_by_name(std::string_view output) {
  if (output.ends_with(".gz")) output.remove_suffix(3);
  const auto& formats = export_formats();
  const auto found = std::ranges::find_if(formats, [&](const auto& f) { return output.ends_with(ending_of(f)); });
  return found == formats.end() ? nullptr : &*found;
}

const ExportFormat& format_for(const ExportFormat& format, std::string_view output) {
  const ExportFormat* named = format_by_name(output);
  return format.flag == "perfetto" && named != nullptr && named->is_native ? *named : format;
}

PacketCompression compression_for(PacketCompression wanted, std::string_view output) {
  return output.ends_with(".gz") ? PacketCompression::none : wanted;
}

// Keeps the ids, because strings get them in order of insertion.
Catalog chosen_catalog(const Catalog& catalog, const std::vector<bool>& shown) {
  Catalog copy;
  for (StringId id = 0; id < catalog.strings.size(); ++id) copy.strings.intern(catalog.strings[id]);
  copy.launches = catalog.launches;
  copy.captures = catalog.captures;
  copy.processes = catalog.processes;
  copy.tracks = catalog.tracks;
  for (std::size_t id = 0; id < shown.size(); ++id) {
    if (!shown[id]) hide(copy.processes[id]);
  }
  return copy;
}

}  // namespace cli
