#include "cli/commands/export_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "cli/base/error.h"
#include "common/settings.h"

namespace cli {

namespace {

using Options = std::shared_ptr<ExportOptions>;

// Converts the word to the number that CLI11 accepts for an enumerator.
std::string take_compression(std::string& word) {
  static const std::map<std::string, PacketCompression> kinds{
      {"deflate", PacketCompression::deflate}, {"zstd", PacketCompression::zstd}, {"none", PacketCompression::none}};
  const auto found = kinds.find(word);
  if (found == kinds.end()) return fmt::format("expected deflate, zstd or none, not \"{}\"", word);
  word = std::to_string(static_cast<int>(found->second));
  return {};
}

std::string take_size(std::string& word) {
  std::uint64_t bytes = 0;
  if (!trace::parse_bytes(word.c_str(), bytes))
    return fmt::format("expected a size like 500MB or 2GiB, not \"{}\"", word);
  word = std::to_string(bytes);
  return {};
}

void add_formats(CLI::App& app, const Options& options) {
  for (const ExportFormat& format : export_formats()) {
    const ExportFormat* chosen = &format;
    const std::string flag = fmt::format("--{}", format.flag);
    const auto choose = [options, chosen, flag] {
      if (options->format != nullptr && options->format != chosen)
        throw CLI::ValidationError(flag, fmt::format("--{} is given too; choose one format", options->format->flag));
      options->format = chosen;
    };
    app.add_flag_callback(flag, choose, std::string(format.help))->group("Formats (choose one)");
  }
}

void add_folded(CLI::App& app, const Options& options) {
  app.add_flag_callback(
         "--folded", [options] { options->folded = options->folded.value_or(FoldedWeight::gpu); },
         "One line per stack of frames, operators and kernels, for flame graphs")
      ->group("Formats (choose one)");
  one_of(app.add_option("--weight", "Weight of folded stacks: GPU time (default) or CPU time, in ns"), "gpu|cpu")
      ->each([options](const std::string& word) {
        options->folded = word == "cpu" ? FoldedWeight::cpu : FoldedWeight::gpu;
      })
      ->needs("--folded");
}

void add_output(CLI::App& app, const Options& options) {
  add_text(app, "-o,--output", options->output, "FILE",
           "Output file, compressed if it ends in .gz, or a directory for formats with a file per rank; - is stdout "
           "(default: named after the input)");
  app.add_option(
         "--max-size", options->max_bytes,
         "Split the output into time segments of at most SIZE, before compression: 500MB, 2GiB; 0: unlimited (default: "
         "200MB for JSON, else unlimited)")
      ->transform(CLI::Validator(take_size, ""))
      ->type_name("SIZE");
  app.add_flag(
      "--manifest", options->manifest,
      "Write one TAR with a file per rank and Perfetto's manifest (v58): native files, or JSON with --perfetto "
      "(compressed if it ends in .tar.gz)");
  app.add_flag("--gzip", options->gzip, "Also compress output to stdout");
  app.add_flag("--json", options->json, "Print a summary of the export as JSON on stdout");
}

void add_native(CLI::App& app, const Options& options) {
  app.add_option("--compress", options->format_options.compression,
                 "Compression of Perfetto's native format: deflate (default), zstd (Perfetto v58 or newer) or none")
      ->transform(CLI::Validator(take_compression, ""))
      ->type_name("HOW");
  app.add_flag("--gpu-tracks", options->format_options.gpu_tracks,
               "Write GPU work as render stages, for the GPU views of Perfetto v55 or newer; only with --pftrace");
}

namespace fs = std::filesystem;
using Form = ExportTarget::Form;

[[noreturn]] void refuse(const std::string& message) { throw Error(Exit::usage, message); }

bool wants_manifest(const ExportOptions& options) {
  const bool tar = options.output.ends_with(".tar") || options.output.ends_with(".tar.gz");
  return options.manifest || (options.format == nullptr && tar);
}

// Without a format option, a manifest contains native files with their own compression; in a .tar.gz it contains JSON.
const ExportFormat& wanted_format(const ExportOptions& options) {
  if (options.format != nullptr) return *options.format;
  const bool json_tar = !options.manifest && options.output.ends_with(".tar.gz");
  const ExportFormat* named = format_by_name(!wants_manifest(options) ? options.output
                                             : json_tar               ? ".json"
                                                                      : ".pftrace");
  if (named != nullptr) return *named;
  std::string flags;
  for (const ExportFormat& format : export_formats()) flags += fmt::format("--{}, ", format.flag);
  refuse(fmt::format(
      "missing format; give one of {}--manifest, or an output that ends in .pftrace, .json, .json.gz or .tar", flags));
}

Form form_of(const ExportOptions& options, const ExportFormat& format) {
  if (wants_manifest(options) && !format.in_manifest)
    refuse(fmt::format("--manifest: it holds only files for Perfetto; --{} writes {} instead", format.flag,
                       format.per_rank ? "a directory of files" : "one file"));
  return wants_manifest(options) ? Form::manifest : format.per_rank ? Form::directory : Form::file;
}

std::string path_of(const ExportOptions& options, const std::vector<TraceInput>& inputs, Form form,
                    const ExportFormat& format) {
  if (!options.output.empty()) return options.output;
  return default_output(*options.inputs, inputs,
                        form == Form::manifest    ? format.is_native ? ".tar" : ".tar.gz"
                        : form == Form::directory ? fmt::format(".{}", format.flag)
                                                  : std::string(format.extension));
}

// Rejects an output directory that contains inputs, because its files may have the names of outputs.
void refuse_input_directory(const std::vector<TraceInput>& inputs, const std::string& directory) {
  std::error_code error;
  for (const TraceInput& input : inputs) {
    const fs::path parent = fs::path(input.path).parent_path();
    if (!fs::equivalent(parent.empty() ? "." : parent, directory, error)) continue;
    refuse(fmt::format("{} is the directory of the input {}; choose another with -o", directory, input.path));
  }
}

void check_output(const ExportTarget& target, const std::vector<TraceInput>& inputs) {
  if (target.form != Form::directory) return refuse_input_as_output(inputs, target.path);
  if (target.path == "-")
    refuse(fmt::format("--{} writes a file per rank; give a directory with -o", target.format->flag));
  refuse_input_directory(inputs, target.path);
}

// A viewer opens one segment at a time. A negative number arrives as a very large one.
void check_max_size(const ExportOptions& options, const ExportTarget& target) {
  constexpr std::uint64_t kLeast = 10'000, kMost = std::uint64_t{1} << 50;
  const std::uint64_t bytes = options.max_bytes.value_or(0);
  if (bytes != 0 && target.form != Form::file)
    refuse("--max-size: formats with a file per rank cannot be split; export less with --steps or --time");
  if (bytes == 0 || (bytes >= kLeast && bytes <= kMost)) return;
  refuse("--max-size: expected 10kB to 1PiB, or 0 for unlimited");
}

// Rejects options of the native format for other formats.
void check_native(const ExportOptions& options, const ExportTarget& target) {
  if (target.format->is_native) return;
  const FormatOptions standard;
  if (options.format_options.gpu_tracks) refuse("--gpu-tracks: only Perfetto's native format has them; use --pftrace");
  if (options.format_options.compression == standard.compression) return;
  refuse("--compress: only for Perfetto's native format (--pftrace); other files are compressed if they end in .gz");
}

// Readers detect the format by the name.
void check_name(const ExportTarget& target) {
  if (target.form == Form::directory || !target.path.ends_with(".zst")) return;
  refuse(fmt::format("{}: whole files are not compressed with zstd; use the ending .gz or none{}", target.path,
                     target.format->is_native ? "; --compress zstd compresses the packets" : ""));
}

void check_options(const ExportOptions& options, const ExportTarget& target) {
  check_name(target);
  check_max_size(options, target);
  check_native(options, target);
  const bool native_tar = target.form == Form::manifest && target.format->is_native;
  if (native_tar && target.path.ends_with(".gz"))
    refuse(fmt::format("{}: the files in the TAR are already compressed; use the ending .tar", target.path));
  if (options.json && target.path == "-") refuse("--json: the export goes to stdout; write it to a file with -o");
  if (options.gzip && (native_tar || target.form == Form::directory))
    refuse("--gzip: only for one file, like - (stdout), or a TAR of JSON; use the ending .gz for others");
}

}  // namespace

std::shared_ptr<ExportOptions> add_export_options(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  options->inputs = add_inputs(app);
  add_formats(app, options);
  add_folded(app, options);
  add_output(app, options);
  options->selection = add_selection(app);
  add_min_duration(app, options->selection);
  app.add_flag("--no-computed", options->no_computed,
               "Write only recorded events: no derived tracks (idle gaps, exposed communication, counters, losses)");
  add_native(app, options);
  options->memory_mib = add_memory(app);
  return options;
}

ExportTarget target_of(const ExportOptions& options, const std::vector<TraceInput>& inputs) {
  ExportTarget target;
  const ExportFormat& wanted = wanted_format(options);
  target.form = form_of(options, wanted);
  target.path = path_of(options, inputs, target.form, wanted);
  target.format = target.form == Form::file ? &format_for(wanted, target.path) : &wanted;
  target.format_options = options.format_options;
  target.format_options.compression =
      options.gzip ? PacketCompression::none : compression_for(options.format_options.compression, target.path);
  target.max_bytes = target.form == Form::file ? options.max_bytes.value_or(target.format->max_bytes) : 0;
  check_output(target, inputs);
  check_options(options, target);
  return target;
}

}  // namespace cli
