#include "cli/formats/nsys/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <system_error>

#include "cli/base/text.h"

namespace cli::nsys {
namespace {

constexpr std::size_t kMostDiagnostics = 8, kMostDiagnosticBytes = 300;

// Returns -1 if the text is no number.
std::int64_t whole_number(std::string_view text) {
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

// Returns the pairs of the export's own metadata. The table was renamed in 2023.
std::map<std::string, std::string, std::less<>> read_export_facts(Database& database) {
  std::map<std::string, std::string, std::less<>> facts;
  for (const char* const table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
    for (Rows rows = database.rows(table, {"name", "value"}); rows.next();)
      facts.emplace(rows.text(0), rows.text(1).substr(0, 200));
  }
  return facts;
}

std::string read_host(Database& database) {
  std::set<std::string> hosts;
  for (Rows rows = database.rows("TARGET_INFO_SYSTEM_ENV", {"name", "value"}); rows.next();) {
    if (rows.text(0) == "Hostname") hosts.emplace(rows.text(1).substr(0, 255));
  }
  return hosts.size() == 1 ? *hosts.begin() : "";
}

std::uint64_t scaled(const Rows& rows, int column, std::uint64_t divisor) {
  return rows.number<std::uint64_t>(column) / divisor;
}

// Columns as in Gpus::Gpus.
Device read_gpu(const Rows& rows) {
  Device gpu;
  gpu.name = rows.text(1);
  gpu.uuid = rows.text(2);
  gpu.pci_bus_id = rows.text(3);
  gpu.memory_bytes = rows.number<std::uint64_t>(4);
  gpu.memory_bandwidth_kbps = scaled(rows, 5, 1000);
  gpu.core_clock_khz = static_cast<std::uint32_t>(std::min<std::uint64_t>(scaled(rows, 6, 1000), UINT32_MAX));
  int column = 7;
  for (std::uint32_t* const value :
       {&gpu.multiprocessors, &gpu.l2_bytes, &gpu.compute_major, &gpu.compute_minor, &gpu.threads_per_warp,
        &gpu.max_threads_per_block, &gpu.max_warps_per_multiprocessor, &gpu.max_blocks_per_multiprocessor,
        &gpu.max_registers_per_block, &gpu.max_registers_per_multiprocessor, &gpu.max_shared_bytes_per_block,
        &gpu.max_shared_bytes_per_multiprocessor, &gpu.copy_engines})
    *value = rows.number<std::uint32_t>(column++);
  return gpu;
}

}  // namespace

Enumeration read_enumeration(Database& database, std::string_view table) {
  Enumeration values;
  for (Rows rows = database.rows(table, {"name", "id"}); rows.next();) values.emplace(rows.text(0), rows.integer(1));
  return values;
}

Session read_session(Database& database) {
  Session session;
  const auto facts = read_export_facts(database);
  const auto fact = [&](std::string_view name) {
    const auto found = facts.find(name);
    return found == facts.end() ? std::string() : found->second;
  };
  session.version = fact("EXPORT_PRODUCT_VERSION");
  session.schema = fact("EXPORT_SCHEMA_VERSION");
  session.is_absolute = fact("EXPORT_PARAM_TIME_NORMALIZE") == "true";
  if (!session.is_absolute) {
    std::optional<std::int64_t> start;
    for (Rows rows = database.rows("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}); rows.next();) {
      const auto utc = rows.optional(0);
      if (utc && (!start || *utc < *start)) start = utc;
    }
    session.is_absolute = start.has_value();
    session.origin_ns = start.value_or(0);
  }
  session.host = read_host(database);
  return session;
}

Gpus::Gpus(Database& database) {
  for (Rows rows = database.rows("TARGET_INFO_GPU", {"id",
                                                     "name",
                                                     "uuid",
                                                     "busLocation",
                                                     "totalMemory",
                                                     "memoryBandwidth",
                                                     "clockRate",
                                                     "smCount",
                                                     "l2CacheSize",
                                                     "computeMajor",
                                                     "computeMinor",
                                                     "threadsPerWarp",
                                                     "maxThreadsPerBlock",
                                                     "maxWarpsPerSm",
                                                     "maxBlocksPerSm",
                                                     "maxRegistersPerBlock",
                                                     "maxRegistersPerSm",
                                                     "maxShmemPerBlock",
                                                     "maxShmemPerSm",
                                                     "asyncEngines",
                                                     "cuDevice"});
       rows.next();) {
    by_id_.emplace(rows.integer(0), read_gpu(rows));
    if (const auto number = rows.optional(20)) by_cuda_device_.emplace(*number, rows.integer(0));
  }
  for (Rows rows = database.rows("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId", "uuid", "numMultiprocessors"});
       rows.next();) {
    const std::pair key(rows.integer(0), rows.integer(1));
    if (const auto id = rows.optional(2)) id_by_process_.emplace(key, *id);
    Device device;
    device.uuid = rows.text(3);
    device.multiprocessors = rows.number<std::uint32_t>(4);
    by_process_.emplace(key, std::move(device));
  }
}

Device Gpus::device(std::int64_t pid, std::int64_t number) const {
  const auto find = [](const auto& map, const auto& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  };
  const std::int64_t* id = find(id_by_process_, std::pair(pid, number));
  if (id == nullptr) id = find(by_cuda_device_, number);
  const Device* const gpu = find(by_id_, id != nullptr ? *id : number);
  const Device* const used = find(by_process_, std::pair(pid, number));
  Device device = gpu != nullptr ? *gpu : used != nullptr ? *used : Device();
  device.device = number;
  return device;
}

std::map<std::uint64_t, std::string> read_programs(Database& database) {
  std::map<std::uint64_t, std::string> programs;
  for (Rows rows = database.rows("PROCESSES", {"globalPid", "name"}); rows.next();) {
    if (const auto id = rows.optional(0)) programs.emplace(GlobalId(*id).process, rows.text(1).substr(0, 1000));
  }
  return programs;
}

std::map<std::uint64_t, std::string> read_thread_names(Database& database, Texts& texts) {
  std::map<std::uint64_t, std::string> names;
  for (Rows rows = database.rows("ThreadNames", {"globalTid", "nameId"}); rows.next();) {
    if (const auto id = rows.optional(0)) names.emplace(static_cast<std::uint64_t>(*id), texts[rows.integer(1)]);
  }
  return names;
}

std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> read_priorities(Database& database) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> priorities;
  for (Rows rows = database.rows("TARGET_INFO_CUDA_STREAM", {"processId", "streamId", "priority"}); rows.next();) {
    if (const auto priority = rows.optional(2))
      // Stored as 32 bits without a sign: 4294967295 is -1.
      priorities.emplace(std::pair(rows.integer(0), rows.integer(1)), static_cast<std::int32_t>(*priority));
  }
  return priorities;
}

std::map<std::uint64_t, RankNumbers> read_mpi_ranks(Database& database) {
  std::map<std::uint64_t, RankNumbers> ranks;
  std::set<std::uint64_t> differ;
  for (Rows rows = database.rows("MPI_RANKS", {"globalTid", "rank"}); rows.next();) {
    const std::uint64_t process = GlobalId(rows.integer(0)).process;
    const auto [entry, is_new] = ranks.try_emplace(process);
    if (!is_new && entry->second.rank != rows.integer(1)) differ.insert(process);
    entry->second.rank = rows.integer(1);
  }
  for (const std::uint64_t process : differ) ranks.erase(process);
  // The largest communicator is MPI_COMM_WORLD.
  std::int64_t world_size = -1;
  for (Rows rows = database.rows("MPI_COMMUNICATORS", {"size"}); rows.next();)
    world_size = std::max(world_size, rows.number<std::int64_t>(0, -1));
  for (auto& [process, numbers] : ranks) numbers.world_size = world_size;
  return ranks;
}

RankNumbers read_environment_rank(Database& database) {
  struct Launcher {
    std::string_view rank, local_rank, world_size;
  };
  constexpr std::array<Launcher, 3> kLaunchers{
      {{"RANK", "LOCAL_RANK", "WORLD_SIZE"},
       {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"},
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"}}};
  std::array<RankNumbers, kLaunchers.size()> found;
  for (Rows rows = database.rows("META_DATA_CAPTURE", {"name", "value"}); rows.next();) {
    if (!rows.text(0).ends_with(":ENVIRONMENT_VARIABLE")) continue;
    const std::string_view variable = rows.text(1);
    const std::size_t equals = variable.find('=');
    if (equals == variable.npos) continue;
    const std::string_view name = variable.substr(0, equals);
    for (std::size_t i = 0; i < kLaunchers.size(); ++i) {
      const std::int64_t value = whole_number(variable.substr(equals + 1));
      if (name == kLaunchers[i].rank) found[i].rank = value;
      if (name == kLaunchers[i].local_rank) found[i].local_rank = value;
      if (name == kLaunchers[i].world_size) found[i].world_size = value;
    }
  }
  for (const RankNumbers& numbers : found) {
    if (numbers.rank >= 0) return numbers;
  }
  return {};
}

std::vector<std::string> read_diagnostics(Database& database) {
  const Enumeration levels = read_enumeration(database, "ENUM_DIAGNOSTIC_SEVERITY_LEVEL");
  const auto level = [&](std::string_view name, std::int64_t usual) {
    const auto found = levels.find(name);
    return found == levels.end() ? usual : found->second;
  };
  const std::int64_t warning = level("Warning", 2), error = level("Error", 3);
  std::set<std::pair<bool, std::string>> texts;  // errors first; one text may be repeated for each process
  std::size_t omitted = 0;
  for (Rows rows = database.rows("DIAGNOSTIC_EVENT", {"severity", "text"}); rows.next();) {
    const std::int64_t severity = rows.integer(0);
    if (severity != warning && severity != error) continue;
    texts.emplace(severity != error, rows.text(1).substr(0, kMostDiagnosticBytes));
    if (texts.size() <= kMostDiagnostics) continue;
    texts.erase(std::prev(texts.end()));
    ++omitted;
  }
  std::vector<std::string> notes;
  for (const auto& [is_warning, text] : texts)
    notes.push_back(fmt::format("{} of Nsight Systems: {}", is_warning ? "warning" : "error", text));
  if (omitted > 0) notes.push_back(fmt::format("{} more of Nsight Systems", count_text(omitted, "diagnostic")));
  return notes;
}

}  // namespace cli::nsys
