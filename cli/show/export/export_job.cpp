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
std::unique_ptr<Exporter> pftrace(const FormatOptions& options) {
  return chrome::with_async_slices(make_pftrace(options));
}
std::unique_ptr<Exporter> kineto_json(const FormatOptions& options) { return kineto::make_exporter(options); }

}  // namespace

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> formats{
      {"perfetto", "Chrome trace JSON for ui.perfetto.dev", "ui.perfetto.dev", ".json.gz", chrome_json, kMaxJsonBytes},
      {"chrome", "Chrome trace JSON for chrome://tracing", "chrome://tracing or ui.perfetto.dev", ".json.gz",
       chrome_json, kMaxJsonBytes},
      {"pftrace", "Perfetto's native format, for ui.perfetto.dev and trace_processor",
       "ui.perfetto.dev or trace_processor", ".pftrace", pftrace},
      {"kineto", "One Kineto file per rank, for HTA, TensorBoard and TraceLens", "HTA, TensorBoard or TraceLens",
       ".pt.trace.json.gz", kineto_json, 0, true,
       "ProfilerStep#N for the steps found, and Python calls from the operators' stacks", false},
  };
  return formats;
}

const ExportFormat* format_by_name(std::string_view output) {
  if (output.ends_with(".gz")) output.remove_suffix(3);
  const bool native = output.ends_with(".pftrace");
  if (!native && !output.ends_with(".json")) return nullptr;
  const auto& formats = export_formats();
  const auto found = std::find_if(formats.begin(), formats.end(),
                                  [&](const auto& f) { return f.flag == (native ? "pftrace" : "perfetto"); });
  return found == formats.end() ? nullptr : &*found;
}

const ExportFormat& format_for(const ExportFormat& format, std::string_view output) {
  if (format.flag != "perfetto" || !(output.ends_with(".pftrace") || output.ends_with(".pftrace.gz"))) return format;
  const auto& formats = export_formats();
  const auto native = std::find_if(formats.begin(), formats.end(), [](const auto& f) { return f.flag == "pftrace"; });
  return native == formats.end() ? format : *native;
}

PacketCompression compression_for(PacketCompression wanted, std::string_view output) {
  return output.ends_with(".gz") ? PacketCompression::none : wanted;
}

namespace {

void hide(Process& process) {
  process.counts = process.overwritten = process.lost = {};
  process.lost_unknown_kind = 0;
  process.recorder.stacks_left_out = process.recorder.operators_without_stack = process.recorder.module_names_missed =
      0;
  process.first_ns = process.last_ns = 0;
  process.notices.clear();
}

}  // namespace

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
