#include "cli/commands/export_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "cli/commands/input_options.h"
#include "common/settings.h"

namespace cli {
namespace {

using Options = std::shared_ptr<ExportOptions>;

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& text, const std::string& help) {
  return app.add_option(name, text, help)->check(not_empty());
}

// To the number that CLI11 takes for an enumerator.
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
  if (!trace::parse_bytes(word.c_str(), bytes)) return fmt::format("expected a size like 500MB or 2GiB, not \"{}\"", word);
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
  app.add_flag_callback("--folded", [options] { options->folded = options->folded.value_or(FoldedWeight::gpu); },
                        "One line per stack of frames, operators and kernels, for flame graphs")
      ->group("Formats (choose one)");
  app.add_option("--weight", "Weight of folded stacks: GPU time (default) or CPU time, in ns")
      ->check(CLI::IsMember({"gpu", "cpu"}).description(""))
      ->each([options](const std::string& word) { options->folded = word == "cpu" ? FoldedWeight::cpu : FoldedWeight::gpu; })
      ->needs("--folded")
      ->type_name("gpu|cpu");
}

void add_output(CLI::App& app, const Options& options) {
  add_text(app, "-o,--output", options->output,
           "Output file, compressed if it ends in .gz, or a directory for formats with a file per rank; - is stdout "
           "(default: named after the input)")
      ->type_name("FILE");
  app.add_option("--max-size", options->max_bytes,
                 "Split the output into time segments of at most SIZE, before compression: 500MB, 2GiB; 0: unlimited (default: "
                 "200MB for JSON, else unlimited)")
      ->transform(CLI::Validator(take_size, ""))
      ->type_name("SIZE");
  app.add_flag("--manifest", options->manifest,
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

}  // namespace cli
