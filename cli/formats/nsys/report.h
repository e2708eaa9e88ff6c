// The parts of a report that are not events: its session, GPUs, programs and ranks.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/formats/nsys/database.h"
#include "cli/trace/catalog.h"

namespace cli::nsys {

// An identifier of nsys (globalTid, globalPid): thread in bits 0 to 23, process in bits 24 to 47, VM and machine above.
// The numbers of processes are unique only together with the higher bits.
struct GlobalId {
  std::uint64_t process = 0;  // all bits above the thread
  std::uint32_t tid = 0;

  explicit GlobalId(std::int64_t id)
      : process(static_cast<std::uint64_t>(id) >> 24), tid(static_cast<std::uint32_t>(id & 0xffffff)) {}
  static std::int64_t pid_of(std::uint64_t process) { return static_cast<std::int64_t>(process & 0xffffff); }
};

// The rank of a process; -1 if unknown.
struct RankNumbers {
  std::int64_t rank = -1, local_rank = -1, world_size = -1;
};

// The names of an enumeration table (ENUM_...) with their values; empty if the file lacks it.
using Enumeration = std::map<std::string, std::int64_t, std::less<>>;
Enumeration read_enumeration(Database& database, std::string_view table);

struct Session {
  std::int64_t origin_ns = 0;  // added to each time: UTC at the start of the session, or 0 if times are UTC already
  bool is_absolute = false;    // false if the file contains no start of the session
  std::string version;         // of nsys: "2026.2.1.210"; "" if unknown
  std::string schema;          // version of the schema: "3.25.0"; "" if unknown
  std::string host;            // "" if unknown
};
Session read_session(Database& database);

// Finds the GPUs of processes. CUDA numbers the devices of each process; TARGET_INFO_CUDA_DEVICE maps these numbers to
// the ids of TARGET_INFO_GPU. Files without that table use the id itself.
class Gpus {
 public:
  explicit Gpus(Database& database);
  Device device(std::int64_t pid, std::int64_t number) const;

 private:
  std::map<std::int64_t, Device> by_id_;
  std::map<std::int64_t, std::int64_t> by_cuda_device_;                          // id by CUDA number of the machine
  std::map<std::pair<std::int64_t, std::int64_t>, Device> by_process_;           // by pid and number
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> id_by_process_;  // by pid and number
};

// Names of processes by GlobalId::process.
std::map<std::uint64_t, std::string> read_programs(Database& database);
// Names of threads by globalTid.
std::map<std::uint64_t, std::string> read_thread_names(Database& database, Texts& texts);
// Priorities of streams by pid and stream.
std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> read_priorities(Database& database);

// MPI ranks by GlobalId::process, from MPI_RANKS and MPI_COMMUNICATORS.
std::map<std::uint64_t, RankNumbers> read_mpi_ranks(Database& database);
// The rank in the environment of the program that nsys launched: RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK. Only these
// numbers leave this function, because environments contain secrets.
RankNumbers read_environment_rank(Database& database);

// Warnings and errors in DIAGNOSTIC_EVENT, bounded in number and length.
std::vector<std::string> read_diagnostics(Database& database);

}  // namespace cli::nsys
