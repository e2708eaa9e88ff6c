#include "launcher.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "../standin/collective_area.h"
#include "environment.h"

namespace sim {
namespace {

namespace fs = std::filesystem;

int make_area(const Options& options, CollectiveArea*& area) {
  const int file = memfd_create("collectives", 0);
  if (file < 0 || ftruncate(file, sizeof(CollectiveArea)) != 0) return -1;
  void* memory = mmap(nullptr, sizeof(CollectiveArea), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return -1;
  area = static_cast<CollectiveArea*>(memory);
  area->waits_for_ever.store(options.stuck >= 0 ? 1 : 0);
  area->ranks = static_cast<std::uint32_t>(options.ranks);
  return file;
}

pid_t start(const fs::path& program, char** argv, const Environment& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execve(program.c_str(), argv, pointers.data());
  std::perror("simulated_training: execve");
  _exit(2);
}

// Of an earlier run, perhaps with more ranks.
void remove_old_truth(const Options& options) {
  std::error_code error;
  for (int rank = 0; !options.truth.empty(); ++rank) {
    if (!fs::remove(options.truth + ".rank" + std::to_string(rank), error)) return;
  }
}

// Which ranks are made late, and by what.
std::string planted(const Options& options) {
  const std::pair<const char*, int> causes[] = {{"host", options.straggler},
                                                {"slow_kernels", options.slow_gpu},
                                                {"copy", options.pageable},
                                                {"host", options.item_sync},
                                                {"more_work", options.more_work}};
  std::string text;
  for (const auto& [cause, rank] : causes) {
    if (rank < 0) continue;
    text +=
        (text.empty() ? "" : ",") + std::string("{\"rank\":") + std::to_string(rank) + ",\"cause\":\"" + cause + "\"}";
  }
  return text;
}

// For what GPUs wait because of that: the columns of `analyze --only idle` in which it shows..
std::string planted_idle(const Options& options) {
  std::string text;
  const auto add = [&](int rank, const char* causes) {
    text +=
        (text.empty() ? "" : ",") + std::string("{\"rank\":") + std::to_string(rank) + ",\"causes\":[" + causes + "]}";
  };
  if (options.straggler >= 0)
    add(options.straggler, "\"after_sync\",\"host_late\"");  // a step ends with a shorter synchronization
  if (options.item_sync >= 0) add(options.item_sync, "\"sync\",\"after_sync\"");
  for (int rank = 0; options.tiny_kernels && rank < options.ranks; ++rank)
    add(rank, "\"launch\",\"host_late\",\"queued\"");  // in calls, between them, behind them
  return text;
}

bool write_index(const Options& options, const std::vector<pid_t>& pids) {
  if (options.truth.empty()) return true;
  std::ofstream index(options.truth, std::ios::trunc);
  index << "{\"planted\":[" << planted(options) << "],\"planted_idle\":[" << planted_idle(options) << "],\"ranks\":[";
  for (int rank = 0; rank < options.ranks; ++rank) {
    index << (rank == 0 ? "" : ",") << "{\"rank\":" << rank << ",\"pid\":" << pids[static_cast<std::size_t>(rank)]
          << ",\"host\":" << host_of(options, rank) << ",\"file\":\"" << fs::path(options.truth).filename().string()
          << ".rank" << rank << "\"}";
  }
  index << "]}\n";
  return index.flush().good();
}

void report(int rank, int status) {
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "simulated_training: rank %d was ended by signal %d\n", rank, WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "simulated_training: rank %d ended with status %d\n", rank, WEXITSTATUS(status));
  }
}

// A rank that ended keeps nobody waiting in a collective.
bool wait_for_all(const std::vector<pid_t>& pids, CollectiveArea& area) {
  bool good = true;
  int status = 0;
  for (pid_t child; (child = waitpid(-1, &status, 0)) > 0 || errno == EINTR;) {
    const auto found = std::find(pids.begin(), pids.end(), child);
    if (child <= 0 || found == pids.end()) continue;
    const auto rank = static_cast<std::uint32_t>(found - pids.begin());
    area.gone[rank].store(1);
    report(static_cast<int>(rank), status);
    good = good && status == 0;
  }
  return good;
}

int give_up(const std::string& why) {
  std::fprintf(stderr, "simulated_training: %s\n", why.c_str());
  return 2;
}

}  // namespace

int launch_ranks(const Options& options, char** argv) {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  const fs::path directory = program.parent_path();
  const fs::path agent =
      options.agent.empty() ? (directory / "../../agent/libagent.so").lexically_normal() : fs::absolute(options.agent);
  if (!options.no_agent && !fs::exists(agent)) {
    return give_up("no agent at " + agent.string() + "; build it, or say --agent PATH or --no-agent");
  }
  std::error_code error;
  fs::create_directories(options.dir, error);
  if (error) return give_up("cannot make the directory " + options.dir + ": " + error.message());
  CollectiveArea* area = nullptr;
  const int file = make_area(options, area);
  if (file < 0) return give_up(std::string("no shared memory for the ranks: ") + std::strerror(errno));
  remove_old_truth(options);
  const Job job = describe_job(options, directory, options.no_agent ? "" : agent.string(), file);
  std::vector<pid_t> pids;
  for (int rank = 0; rank < options.ranks; ++rank) {
    const Environment environment = rank_environment(job, rank);
    pids.push_back(start(program, argv, environment));
    if (pids.back() < 0) return give_up(std::string("fork: ") + std::strerror(errno));
  }
  if (!write_index(options, pids)) return give_up("cannot write the truth to " + options.truth);
  return wait_for_all(pids, *area) ? 0 : 3;
}

}  // namespace sim
