// Reports made by SQL, for cases such as the order of rows and the sources of ranks.
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/base/error.h"
#include "cli/formats/nsys/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;

namespace {

constexpr std::int64_t kProcessA = std::int64_t{71} << 24, kProcessB = std::int64_t{72} << 24;

std::string pid(std::int64_t process) { return std::to_string(process); }
std::string tid(std::int64_t process) { return std::to_string(process | 9); }

// A report in a folder of its own.
class MadeReport {
 public:
  explicit MadeReport(const std::string& name = "report.sqlite") : path_((folder_.path() / name).string()) {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    REQUIRE(sqlite3_open(path_.c_str(), &database_) == SQLITE_OK);
    run("PRAGMA page_size = 512");
    run("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)");
    run("INSERT INTO StringIds VALUES (1, 'gemm<float>'), (2, 'cudaLaunchKernel_v7000'), (3, 'cuLaunchKernel'), "
        "(4, 'ncclAllReduce'), (5, 'ncclCommInitRank'), (6, 'cuMemFree_v2')");
  }
  ~MadeReport() { close(); }

  void run(const std::string& sql) {
    INFO(sql);
    REQUIRE(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  void kernels(const std::string& rows) {
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, shortName)");
    run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " + rows);
  }
  void calls(const std::string& rows) {
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId)");
    run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES " + rows);
  }
  // A kernel of each process on a device of its own.
  void two_processes() {
    kernels("(20, 30, 1, 7, 1, " + pid(kProcessB) + ", 1), (10, 30, 0, 7, 1, " + pid(kProcessA) + ", 1)");
  }

  const std::string& path() const { return path_; }
  KeptTrace read() {
    close();
    KeptTrace trace;
    nsys::open(path_)->read(trace.catalog, trace);
    return trace;
  }
  std::string refusal() {
    close();
    try {
      nsys::open(path_);
    } catch (const Error& error) {
      CHECK(error.exit() == Exit::bad_content);
      return error.what();
    }
    return {};
  }
  void close() { sqlite3_close(std::exchange(database_, nullptr)); }

 private:
  TestFolder folder_;
  std::string path_;
  sqlite3* database_ = nullptr;
};

std::vector<std::int64_t> ranks(const KeptTrace& trace) {
  std::vector<std::int64_t> found;
  for (const Process& process : trace.catalog.processes) found.push_back(process.rank);
  return found;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool is_noted(const KeptTrace& trace, std::string_view part) {
  const auto& notes = trace.process().notes;
  return std::any_of(notes.begin(), notes.end(), [&](const std::string& note) { return has(note, part); });
}

}  // namespace

TEST_CASE("nsys: processes are in the order of their ids, and correlations belong to a process") {
  MadeReport report;
  report.two_processes();
  report.calls("(1, 2, " + tid(kProcessB) + ", 1, 2), (1, 2, " + tid(kProcessA) + ", 1, 2)");
  const KeptTrace trace = report.read();
  REQUIRE(trace.catalog.processes.size() == 2);
  CHECK(trace.catalog.processes[0].pid == 71);
  CHECK(trace.catalog.processes[1].pid == 72);
  CHECK(trace.catalog.processes[0].format == SourceFormat::nsys);
  for (const KeptEvent& each : trace.events) {
    const Track& track = trace.catalog.tracks[each.event.track];
    CHECK(each.event.correlation == 1);
    if (track.kind == TrackKind::stream) CHECK(track.group == std::int64_t{track.process});
  }
}

TEST_CASE("nsys: names of calls lose the version of the interface, and tell the driver from the runtime") {
  MadeReport report;
  report.calls("(1, 2, 9, 1, 2), (3, 4, 9, 2, 3), (5, 6, 9, 3, 6)");
  const KeptTrace trace = report.read();
  REQUIRE(trace.events.size() == 3);
  CHECK(trace.name(0) == "cudaLaunchKernel");
  CHECK(trace.events[0].event.kind == Kind::runtime);
  CHECK(trace.name(1) == "cuLaunchKernel");
  CHECK(trace.events[1].event.kind == Kind::driver);
  CHECK(trace.name(2) == "cuMemFree_v2");
}

TEST_CASE("nsys: a kernel without a process belongs to the only process of the calls") {
  MadeReport report;
  report.kernels("(10, 30, 0, 7, 1, NULL, 1)");
  report.calls("(1, 2, " + tid(kProcessA) + ", 1, 2)");
  const KeptTrace trace = report.read();
  REQUIRE(trace.catalog.processes.size() == 1);
  CHECK(trace.process().pid == 71);
  CHECK(trace.process().counts[static_cast<std::size_t>(Kind::kernel)] == 1);
}

TEST_CASE("nsys: times are UTC from the start of the session, unless the export did that") {
  for (const bool is_normalized : {false, true}) {
    MadeReport report;
    report.kernels("(10, 30, 0, 7, 1, 0, 1)");
    report.run("CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs)");
    report.run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000)");
    report.run("CREATE TABLE META_DATA_EXPORT(name, value)");
    if (is_normalized) report.run("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_NORMALIZE', 'true')");
    const KeptTrace trace = report.read();
    CHECK(trace.events.at(0).event.start_ns == (is_normalized ? 10 : 1'700'000'000'000'000'010));
    CHECK(trace.events[0].event.duration_ns == 20);
    CHECK_FALSE(is_noted(trace, "times are relative"));
  }
}

TEST_CASE("nsys: rows with impossible times are skipped and counted") {
  MadeReport report;
  report.kernels(
      "(30, 10, 0, 7, 1, 0, 1), (NULL, 5, 0, 7, 2, 0, 1), (9223372036854775807, 9223372036854775807, 0, 7, 3, 0, 1), "
      "(-9223372036854775808, 5, 0, 7, 4, 0, 1), (1, 2, 0, 7, 5, 0, 1)");
  const KeptTrace trace = report.read();
  CHECK(trace.events.size() == 1);
  CHECK(is_noted(trace, "4 rows without a possible time"));
  CHECK(is_noted(trace, "times are relative"));
}

TEST_CASE("nsys: the rank is that of MPI, else of the environment of one process, else the order of the GPUs") {
  MadeReport devices, mpi, environment, launcher;
  devices.two_processes();
  CHECK(ranks(devices.read()) == std::vector<std::int64_t>{0, 1});
  mpi.two_processes();
  mpi.run("CREATE TABLE MPI_RANKS(globalTid, rank)");
  mpi.run("INSERT INTO MPI_RANKS VALUES (" + tid(kProcessA) + ", 5), (" + tid(kProcessB) + ", 4)");
  CHECK(ranks(mpi.read()) == std::vector<std::int64_t>{5, 4});
  for (MadeReport* const each : {&environment, &launcher}) {
    each->run("CREATE TABLE META_DATA_CAPTURE(name, value)");
    each->run(
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', 'SLURM_PROCID=6'), "
        "('PROCESS_0:ENVIRONMENT_VARIABLE', 'RANK=3'), ('PROCESS_0:ENVIRONMENT_VARIABLE', 'WORLD_SIZE=8'), "
        "('PROCESS_0:ENVIRONMENT_VARIABLE', 'TOKEN=secret')");
  }
  environment.kernels("(10, 30, 0, 7, 1, 0, 1)");
  launcher.two_processes();
  const KeptTrace one = environment.read();
  CHECK(ranks(one) == std::vector<std::int64_t>{3});
  CHECK(one.process().world_size == 8);
  CHECK(one.process().rank_source == RankSource::content);
  CHECK_FALSE(is_noted(one, "secret"));
  const KeptTrace two = launcher.read();
  CHECK(ranks(two) == std::vector<std::int64_t>{0, 1});
  CHECK(two.process().rank_source == RankSource::device_order);
}

TEST_CASE("nsys: payloads of NCCL have the size and the communicator of a call, and the rank") {
  MadeReport report;
  report.run("CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(domainId, schemaId, idx, type, name, offset)");
  report.run(
      "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 100, 0, 18, 'NCCL communicator ID', NULL), "
      "(1, 100, 1, 22, 'Message size [bytes]', 8), (1, 100, 2, 5, 'Peer rank', NULL), "
      "(1, 101, 0, 18, 'NCCL communicator ID', NULL), (1, 101, 1, 5, 'No. of ranks', NULL), (1, 101, 2, 5, 'Rank', NULL)");
  report.run("CREATE TABLE NVTX_EVENTS(start, end, eventType, globalTid, domainId, textId, binaryData)");
  const std::string header = "0100000000000000%0000000000000018000000000000003800000000000000";
  const auto blob = [&](const std::string& schema, const std::string& content) {
    return "X'" + header.substr(0, 16) + schema + header.substr(17) + content + "'";
  };
  const std::string values = "(1, 2, 59, 9, 1, 4, " + blob("64", "cdab0000000000000010000000000000feffffff") +
                             "), (3, 4, 59, 9, 1, 5, " + blob("65", "cdab0000000000000400000002000000") +
                             "), (5, 6, 59, 9, 1, 4, X'00'), (7, NULL, 59, 9, 1, 4, NULL)";
  report.run("INSERT INTO NVTX_EVENTS VALUES " + values);
  const KeptTrace trace = report.read();
  REQUIRE(trace.events.size() == 4);
  const auto* const call = trace.events[0].facts.get<NcclFacts>();
  REQUIRE(call != nullptr);
  CHECK(trace.events[0].event.kind == Kind::nccl);
  CHECK(trace.events[0].event.bytes == 4096);
  CHECK(call->collective.communicator == 0xabcd);
  CHECK(call->collective.peer == -2);
  CHECK(trace.events[1].event.kind == Kind::nvtx);
  CHECK(ranks(trace) == std::vector<std::int64_t>{2});
  CHECK(trace.process().world_size == 4);
  CHECK_FALSE(trace.events[2].event.has_bytes);
  CHECK(trace.events[3].event.duration_ns == kUnknownDuration);
  CHECK_FALSE(is_noted(trace, "--include-blobs"));
}

TEST_CASE("nsys: a damaged page loses the rows after it, and is noted") {
  MadeReport report;
  report.kernels("(10, 30, 0, 7, 1, 0, 1)");
  report.run(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) INSERT INTO "
      "CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100, i * 100 + 50, 0, 7, i, 0, 1 FROM n");
  report.close();
  const auto bytes = std::filesystem::file_size(report.path());
  std::fstream file(report.path(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(bytes / 512 / 2 * 512));
  file << std::string(512, '\xff');
  file.close();
  const KeptTrace trace = report.read();
  CHECK(trace.events.size() > 50);
  CHECK(trace.events.size() < 350);
  CHECK(trace.process().state == RecordingState::recovered);
  CHECK(is_noted(trace, "CUPTI_ACTIVITY_KIND_KERNEL is damaged"));
}

TEST_CASE("nsys: what is no complete report is refused with its reason") {
  MadeReport other, columns, view, log, newer;
  other.run("DROP TABLE StringIds");
  CHECK(has(other.refusal(), "no report of Nsight Systems"));
  newer.run("CREATE TABLE META_DATA_EXPORT(name, value)");
  newer.run("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '4.0.0')");
  CHECK(has(newer.refusal(), "schema version 4.0.0"));
  columns.run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end)");
  CHECK_THROWS_AS(columns.read(), Error);
  view.run("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start, 2 AS end");
  CHECK(view.read().events.empty());
  log.close();
  std::ofstream(log.path() + "-wal") << "x";
  CHECK(has(log.refusal(), "-wal"));
  MadeReport cut;
  cut.close();
  std::filesystem::resize_file(cut.path(), 700);
  CHECK(has(cut.refusal(), "truncated"));
}

TEST_CASE("nsys: a path may contain the characters of a URI") {
  MadeReport report("a ?#%41/r&.sqlite");
  report.kernels("(10, 30, 0, 7, 1, 0, 1)");
  CHECK(report.read().events.size() == 1);
  CHECK_THROWS_AS(nsys::refuse_report("x.nsys-rep"), Error);
}
