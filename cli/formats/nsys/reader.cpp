#include "cli/formats/nsys/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/formats/nsys/database.h"
#include "cli/formats/nsys/output.h"
#include "cli/formats/nsys/report.h"

namespace cli::nsys {
namespace {

constexpr std::string_view kReportEnding = ".nsys-rep";

// Every version of the schema has the table of strings.
bool is_report(const Database& database) {
  return database.has_column("StringIds", "id") && database.has_column("StringIds", "value");
}

void require_report(const Database& database) {
  if (is_report(database)) return;
  throw Error(Exit::bad_content,
              "{}: an SQLite database, but no report of Nsight Systems: it has no table StringIds(id, value); expected "
              "the output of `nsys export --type sqlite`; omit this file",
              database.path());
}

// A new major version means that the format was rewritten. Smaller changes are renamed or added columns.
void require_known_schema(Database& database) {
  constexpr int kNewestMajor = 3;
  const std::string schema = read_session(database).schema;
  int major = 0;
  std::from_chars(schema.data(), schema.data() + schema.size(), major);
  if (major <= kNewestMajor) return;
  throw Error(
      Exit::bad_content,
      "{}: a report of Nsight Systems with schema version {}; this tracetool reads versions up to {}.x: use a newer "
      "tracetool, or export the report with an older nsys",
      database.path(), schema, kNewestMajor);
}

class ReportReader : public Reader {
 public:
  explicit ReportReader(const std::string& path) : database_(path) {
    require_report(database_);
    require_known_schema(database_);
  }

  void read(Catalog& catalog, EventSink& sink) override {
    Output output(database_, catalog, sink);
    add_processes(output);
    read_host_events(output);
    read_ranges(output);
    read_device_events(output);
    if (output.processes().empty()) output.process({});  // its notes explain why there are no events
    read_system_events(output);
    describe_processes(output);
    set_ranks(output);
    add_notes(output);
  }

 private:
  void add_processes(Output& output);
  void describe_processes(Output& output);
  void set_ranks(Output& output);
  void add_notes(Output& output);

  Database database_;
};

// Adds the processes that used CUDA in the order of their ids, because the order of rows has no meaning.
void ReportReader::add_processes(Output& output) {
  std::map<std::uint64_t, std::int64_t> ids;  // any id of each process
  for (const auto& [table, column] :
       {std::pair("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"), std::pair("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid"),
        std::pair("CUPTI_ACTIVITY_KIND_MEMCPY", "globalPid")}) {
    for (Rows rows = database_.distinct(table, column); rows.next();) {
      if (const auto id = rows.optional(0)) ids.emplace(GlobalId(*id).process, *id);
    }
  }
  for (const auto& [process, id] : ids) output.process(id);
}

void ReportReader::describe_processes(Output& output) {
  const auto programs = read_programs(database_);
  const auto threads = read_thread_names(database_, output.texts);
  for (ReportProcess& each : output.processes()) {
    Process& process = output.catalog.processes[each.id];
    if (const auto program = programs.find(each.key); program != programs.end()) process.program = program->second;
    for (const auto& [number, amount] : each.work) {
      const Device& device = output.device(each, number);
      if (process.device_name.empty()) process.device_name = device.name;
      process.devices.push_back(device);
    }
    for (const auto& [tid, track] : each.threads) {
      const auto name = threads.find(each.key << 24 | tid);
      if (name != threads.end()) output.catalog.tracks[track].name = name->second;
    }
  }
}

// The sources of a rank, in this order.

void give_rank(Process& process, const RankNumbers& numbers) {
  if (numbers.rank < 0 || !std::in_range<std::int32_t>(numbers.rank)) return;
  process.rank = numbers.rank;
  process.local_rank = numbers.local_rank;
  process.world_size = numbers.world_size;
  process.rank_source = RankSource::content;
}

// The largest communicator of a job contains all ranks. It has to be one and the same for all processes of the report
// that use NCCL: otherwise each has only its groups, for example of tensor parallelism.
bool set_nccl_ranks(Output& output) {
  std::map<const ReportProcess*, const Communicator*> largest;
  std::set<std::uint64_t> hashes;
  std::set<std::int64_t> ranks;
  for (const ReportProcess& each : output.processes()) {
    const std::vector<Communicator>& all = output.catalog.processes[each.id].communicators;
    const auto found = std::max_element(all.begin(), all.end(), [](const Communicator& a, const Communicator& b) {
      return std::pair(a.ranks, a.communicator) < std::pair(b.ranks, b.communicator);
    });
    if (found == all.end()) continue;
    const auto differs = [&](const Communicator& a) { return a.ranks == found->ranks && a.rank != found->rank; };
    if (std::any_of(all.begin(), all.end(), differs)) return false;
    largest[&each] = &*found;
    hashes.insert(found->communicator);
    ranks.insert(found->rank);
  }
  if (hashes.size() != 1 || ranks.size() != largest.size() || *ranks.begin() < 0) return false;
  for (const auto& [each, communicator] : largest)
    give_rank(output.catalog.processes[each->id], {communicator->rank, -1, communicator->ranks});
  return true;
}

// Two processes with one rank belong to two jobs.
bool set_mpi_ranks(Output& output) {
  std::map<std::int64_t, const ReportProcess*> processes;  // by rank
  const auto ranks = read_mpi_ranks(output.database);
  for (const ReportProcess& each : output.processes()) {
    const auto found = ranks.find(each.key);
    if (found != ranks.end() && !processes.try_emplace(found->second.rank, &each).second) return false;
  }
  for (const auto& [rank, each] : processes) give_rank(output.catalog.processes[each->id], ranks.at(each->key));
  return !processes.empty();
}

// nsys records the environment of the program that it launches. If that is a launcher of several ranks, the ranks are
// other processes.
bool set_environment_rank(Output& output) {
  if (output.processes().size() != 1) return false;
  const RankNumbers numbers = read_environment_rank(output.database);
  if (numbers.rank < 0) return false;
  give_rank(output.catalog.processes[output.processes().front().id], numbers);
  return true;
}

// Local ranks use the GPUs of a host in order, if each process of the report uses a GPU of its own.
void set_device_ranks(Output& output) {
  std::map<std::int64_t, const ReportProcess*> by_device;
  for (const ReportProcess& each : output.processes()) {
    if (each.work.empty()) continue;
    if (each.work.size() > 1 || !by_device.try_emplace(each.work.begin()->first, &each).second) return;
  }
  if (by_device.size() < 2) return;
  std::int64_t rank = 0;
  for (const auto& [device, each] : by_device) {
    Process& process = output.catalog.processes[each->id];
    process.rank = rank++;
    process.rank_source = RankSource::device_order;
  }
}

void ReportReader::set_ranks(Output& output) {
  if (!set_nccl_ranks(output) && !set_mpi_ranks(output) && !set_environment_rank(output)) set_device_ranks(output);
}

void ReportReader::add_notes(Output& output) {
  const std::vector<std::string> diagnostics = read_diagnostics(database_), damages = database_.damages();
  for (const ReportProcess& each : output.processes()) {
    Process& process = output.catalog.processes[each.id];
    if (each.nccl_calls > 0 && each.nccl_payloads == 0)
      process.notes.push_back(
          "the sizes and communicators of NCCL calls are missing from this export; export the report again with `nsys "
          "export --type sqlite --include-blobs=true`");
    if (each.untimed_cuda_events > 0)
      process.notes.push_back(fmt::format("{} without the time at which the GPU reached it: skipped",
                                          count_text(each.untimed_cuda_events, "CUDA event record")));
    if (!output.session.is_absolute)
      process.notes.push_back("the file does not contain the start of the session: times are relative to it");
    process.notes.insert(process.notes.end(), damages.begin(), damages.end());
    if (!damages.empty()) process.state = RecordingState::recovered;
  }
  Process& first = output.catalog.processes[output.processes().front().id];
  if (output.timeless_rows() > 0)
    first.notes.push_back(
        fmt::format("{} without a possible time: skipped", count_text(output.timeless_rows(), "row")));
  first.notes.insert(first.notes.end(), diagnostics.begin(), diagnostics.end());
  const auto& [version, schema] = std::tie(output.session.version, output.session.schema);
  if (!version.empty() || !schema.empty())
    first.notes.push_back(fmt::format("recorded by Nsight Systems {}{}(schema {})", version, version.empty() ? "" : " ",
                                      schema.empty() ? "unknown" : schema));
}

}  // namespace

bool is_sqlite(std::string_view first_bytes) {
  using namespace std::string_view_literals;
  return first_bytes.starts_with("SQLite format 3\0"sv);
}

bool is_report_name(std::string_view path) { return path.ends_with(kReportEnding); }

std::string export_command(const std::string& report, const std::string& exported) {
  return fmt::format("nsys export --type sqlite --include-blobs=true -o {} {}", shell_word(exported),
                     shell_word(report));
}

void refuse_report(const std::string& path) {
  const std::string sqlite = path.substr(0, path.size() - kReportEnding.size()) + ".sqlite";
  throw Error(Exit::bad_content,
              "{}: a report of Nsight Systems, which only nsys reads; export it with `{}` and pass {}, or let "
              "--with-nsys do both",
              path, export_command(path, sqlite), shell_word(sqlite));
}

std::unique_ptr<Reader> open(const std::string& path) { return std::make_unique<ReportReader>(path); }

std::optional<std::int64_t> peek_start_ns(const std::string& path) {
  Database database(path);
  if (!is_report(database)) return {};
  return read_session(database).origin_ns;
}

}  // namespace cli::nsys
