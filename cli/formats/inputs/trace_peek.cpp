#include "cli/formats/inputs/trace_peek.h"

#include <algorithm>

#include "cli/trace/error.h"
#include "cli/formats/json/byte_source.h"
#include "cli/formats/json/foreign_file.h"
#include "cli/formats/inputs/input_formats.h"
#include "cli/formats/kineto/kineto_peek.h"
#include "cli/formats/ttrace/merged_reader.h"
#include "cli/formats/json/plain_file.h"
#include "cli/formats/ring/ring_description.h"

namespace cli {

using Form = TracePeek::Form;

TracePeek peek_recording(const std::string& path) {
  TracePeek peek;
  peek.form = Form::recording;
  peek.processes.push_back(survey_recording(path));
  const Process& process = peek.processes[0];
  peek.run_id = process.run_id;
  peek.start_ns = process.recorder.created_ns;
  return peek;
}

TracePeek peek_merged(const std::string& path) {
  TracePeek peek;
  peek.form = Form::merged;
  Catalog catalog;
  MergedReader(path).read_lists(catalog);
  peek.processes = std::move(catalog.processes);
  for (const Process& process : peek.processes) {
    if (peek.run_id.empty()) peek.run_id = process.run_id;
    if (process.first_ns != 0 && (peek.start_ns == 0 || process.first_ns < peek.start_ns)) {
      peek.start_ns = process.first_ns;
    }
  }
  return peek;
}

TracePeek peek_json(const std::string& path) {
  const KinetoPeek json = peek_kineto(path);
  TracePeek peek;
  if (!json.is_trace) {
    peek.reason = "JSON without trace events";
    return peek;
  }
  peek.form = json.mark.form == ExportMark::Form::chrome   ? Form::chrome_export
              : json.mark.form == ExportMark::Form::kineto ? Form::kineto_export
                                                           : Form::kineto;
  peek.run_id = json.mark.run_id;
  peek.start_ns = json.start_ns.value_or(0);
  return peek;
}

TracePeek peek_trace(const std::string& path) {
  TracePeek peek;
  try {
    const std::string bytes = PlainFile(path).peek(kProbeBytes);
    const auto& formats = input_formats();
    const auto format = std::find_if(formats.begin(), formats.end(), [&](const auto& f) { return f.matches(bytes); });
    if (format == formats.end()) {
      const std::string_view what = foreign_file(bytes);
      peek.reason = bytes.empty() ? "empty" : what.empty() ? "neither a recording, a merged file nor JSON" : what;
      return peek;
    }
    peek.form = format->form;
    return format->peek(path);
  } catch (const Error& error) {
    // What cannot be opened is for the reader to say, and so is a recording or a merged file that is damaged.
    if (peek.form == Form::no_trace) peek.form = Form::kineto;
    if (peek.form != Form::kineto || error.exit() != Exit::bad_content) return peek;
    peek.form = Form::no_trace;
    peek.reason = error.what();
    return peek;
  }
}

}  // namespace cli
