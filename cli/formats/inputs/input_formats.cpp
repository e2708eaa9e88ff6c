#include "cli/formats/inputs/input_formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/base/error.h"
#include "cli/formats/inputs/paths.h"
#include "cli/formats/json/byte_source.h"
#include "cli/formats/json/file_kind.h"
#include "cli/formats/kineto/header.h"
#include "cli/formats/kineto/reader.h"
#include "cli/formats/nsys/reader.h"
#include "cli/formats/ring/header.h"
#include "cli/formats/ring/reader.h"
#include "cli/formats/ttrace/reader.h"
#include "common/layout.h"

namespace cli {

using Form = TracePeek::Form;

TracePeek peek_recording(const std::string& path) {
  TracePeek peek;
  peek.form = Form::recording;
  peek.processes.push_back(ring::survey_recording(path));
  const Process& process = peek.processes[0];
  peek.run_id = process.run_id;
  peek.start_ns = process.recorder.created_ns;
  return peek;
}

TracePeek peek_merged(const std::string& path) {
  TracePeek peek;
  peek.form = Form::merged;
  Catalog catalog;
  ttrace::MergedReader(path).read_lists(catalog);
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
  const kineto::Peek json = kineto::peek(path);
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

TracePeek peek_nsys(const std::string& path) {
  TracePeek peek;
  const std::optional<std::int64_t> start_ns = nsys::peek_start_ns(path);
  if (!start_ns) {
    peek.reason = "an SQLite database, but no report of Nsight Systems";
    return peek;
  }
  peek.form = Form::nsys;
  peek.start_ns = *start_ns;
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
      peek.reason = bytes.empty()  ? "empty"
                    : what.empty() ? "neither a recording, a merged file, a report nor JSON"
                                   : what;
      return peek;
    }
    peek.form = format->form;
    return format->peek(path);
  } catch (const Error& error) {
    // The reader reports files that cannot be opened, and damaged recordings and merged files.
    if (peek.form == Form::no_trace) peek.form = Form::kineto;
    const bool may_be_foreign = peek.form == Form::kineto || peek.form == Form::nsys;
    if (!may_be_foreign || error.exit() != Exit::bad_content) return peek;
    peek.form = Form::no_trace;
    peek.reason = error.what();
    return peek;
  }
}

namespace {

bool is_merged(std::string_view bytes) {
  return bytes.starts_with(std::string_view(ttrace::kMergedMagic, sizeof(ttrace::kMergedMagic)));
}

std::unique_ptr<Reader> open_merged(const std::string& path, const ReaderOptions&) {
  return std::make_unique<ttrace::MergedReader>(path);
}

bool is_json(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) return true;
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? !bytes.empty() : bytes[first] == '{' || bytes[first] == '[';
}

std::unique_ptr<Reader> open_recording(const std::string& path, const ReaderOptions& options) {
  return ring::open_ring(path, options.threads);
}

std::unique_ptr<Reader> open_json(const std::string& path, const ReaderOptions& options) {
  return kineto::open(path, JsonStream::kWindow, options.memory, options.foreign);
}

std::unique_ptr<Reader> open_nsys(const std::string& path, const ReaderOptions&) { return nsys::open(path); }

std::unique_ptr<Reader> open_file(const std::string& path, const ReaderOptions& options) {
  const std::string bytes = PlainFile(path).peek(kProbeBytes);
  for (const InputFormat& format : input_formats()) {
    if (format.matches(bytes)) return format.open(path, options);
  }
  if (const std::string_view what = foreign_file(bytes); !what.empty()) {
    throw Error(Exit::bad_content, fmt::format("{}: not a trace, but {}", path, what));
  }
  throw Error(Exit::bad_content,
              path + (bytes.empty() ? ": the file is empty" : ": byte 0: not a trace") +
                  "; expected a recording (*.ring), a merged file (*.ttrace), the JSON of "
                  "torch.profiler (*.json, *.json.gz, *.json.zst), or an exported report of Nsight Systems (*.sqlite); "
                  "omit this file");
}

// Returns standard input under its name for the user.
class StdinReader : public Reader {
 public:
  explicit StdinReader(const ReaderOptions& options) : path_(stdin_as_file()) {
    naming_stdin([&] { reader_ = open_file(path_, options); });
  }
  void read(Catalog& catalog, EventSink& sink) override {
    const std::size_t first = catalog.processes.size();
    naming_stdin([&] { reader_->read(catalog, sink); });
    for (std::size_t i = first; i < catalog.processes.size(); ++i) {
      if (catalog.processes[i].source == path_) catalog.processes[i].source = kStdinName;
    }
  }

 private:
  std::string path_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace

ReaderMemory::ReaderMemory() = default;
ReaderMemory::~ReaderMemory() = default;

bool is_ring(std::string_view bytes) {
  return bytes.starts_with(std::string_view(trace::kMagic, sizeof(trace::kMagic))) ||
         ring::is_ring_without_header(bytes);
}

const std::vector<InputFormat>& input_formats() {
  using Form = TracePeek::Form;
  static const std::vector<InputFormat> formats{
      {"recording", is_ring, open_recording, Form::recording, peek_recording},
      {"merged file", is_merged, open_merged, Form::merged, peek_merged},
      {"Nsight Systems report", nsys::is_sqlite, open_nsys, Form::nsys, peek_nsys},
      {"gzip of Kineto or Chrome JSON", is_gzip, open_json, Form::kineto, peek_json},
      {"zstd of Kineto or Chrome JSON", is_zstd, open_json, Form::kineto, peek_json},
      {"Kineto or Chrome JSON", is_json, open_json, Form::kineto, peek_json},
  };
  return formats;
}

std::unique_ptr<Reader> open_trace(const std::string& name, const ReaderOptions& options) {
  // Opening a pipe would wait for its writer, and readers need random access.
  std::error_code error;
  if (name != "-" && std::filesystem::is_fifo(name, error)) {
    throw Error(Exit::cannot_open, name + ": a pipe; pass the trace on stdin and use - as its name");
  }
  if (name == "-") return std::make_unique<StdinReader>(options);
  if (nsys::is_report_name(name) && std::filesystem::exists(name, error)) nsys::refuse_report(name);
  return open_file(readable_file(name), options);
}

}  // namespace cli
