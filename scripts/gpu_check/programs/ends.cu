// Launches for some time and ends in one of the ways in which training programs end, and says in files what it had
// issued (issue.h): ISSUED of the process itself, ISSUED.1 and ISSUED.2 of its workers.
//
//   ends HOW ISSUED MS
//
// HOW: exit, sigkill, abort, illegal_address, os_exit (_exit), exception (nobody catches it), thread (exit in a second
// thread, while the first launches), fork (two workers after CUDA was used, which use none), early_fork (two workers
// before, which use it themselves), spawn (two workers as programs of their own, the second of which is killed). What
// the process itself does then ends with exit. Exit: 0, or as HOW says; 1 usage, 2 CUDA failed, 3 the context broke, as
// it should.
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "issue.h"

extern char** environ;

struct Job {
  const char* program;
  std::string how, issued;
  std::int64_t ns;
};

[[noreturn]] void work_and_exit(const std::string& issued, std::int64_t ns) {
  Issuer issuer(issued.c_str());
  CHECK(issuer.run_for(ns));
  CHECK(cudaDeviceSynchronize());
  std::exit(0);
}

void wait_for_workers(const pid_t (&workers)[2]) {
  for (const pid_t worker : workers) {
    if (waitpid(worker, nullptr, 0) != worker) std::perror("waitpid");
  }
}

void fork_workers(const Job& job, Issuer* issuer) {
  pid_t workers[2];
  for (int i = 0; i < 2; ++i) {
    workers[i] = fork();
    if (workers[i] > 0) continue;
    if (issuer == nullptr) work_and_exit(job.issued + "." + std::to_string(i + 1), job.ns);
    _exit(0);  // as multiprocessing ends a worker of a DataLoader
  }
  if (issuer != nullptr) CHECK(issuer->run_for(job.ns));
  wait_for_workers(workers);
}

void spawn_workers(const Job& job) {
  pid_t workers[2];
  for (int i = 0; i < 2; ++i) {
    const std::string how = i == 0 ? "exit" : "sigkill", issued = job.issued + "." + std::to_string(i + 1);
    const std::string ms = std::to_string(job.ns / 1'000'000);
    const char* arguments[] = {job.program, how.c_str(), issued.c_str(), ms.c_str(), nullptr};
    if (posix_spawn(&workers[i], job.program, nullptr, nullptr, const_cast<char**>(arguments), environ) != 0) {
      std::perror(job.program), std::exit(2);
    }
  }
  wait_for_workers(workers);
}

// In the stand-ins a launch of the loop breaks the context; on a GPU the kernel that writes nowhere does.
int end_by_illegal_address(Issuer& issuer, std::int64_t ns) {
  cudaError_t result = issuer.run_for(ns);
  if (result == cudaSuccess) result = issuer.break_context();
  if (result == cudaSuccess) result = issuer.run_for(ns);
  std::fprintf(stderr, "ends: %s\n", cudaGetErrorString(result));
  return result != cudaSuccess ? 3 : 0;
}

int end(const Job& job, Issuer& issuer) {
  if (job.how == "sigkill") kill(getpid(), SIGKILL);
  if (job.how == "abort") std::abort();
  if (job.how == "os_exit") _exit(0);
  if (job.how == "exception") throw std::runtime_error("nobody catches it");
  if (job.how == "thread") {
    std::thread([] { std::exit(0); }).detach();
    while (issuer.run_for(job.ns) == cudaSuccess) {
    }
    for (;;) pause();  // it is too late for CUDA
  }
  if (job.how == "fork") fork_workers(job, &issuer);
  if (job.how == "spawn") spawn_workers(job);
  CHECK(cudaDeviceSynchronize());
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[3]) < 1) {
    std::fprintf(stderr, "usage: ends HOW ISSUED MS\n");
    return 1;
  }
  const Job job{argv[0], argv[1], argv[2], std::atoi(argv[3]) * 1'000'000ll};
  const std::string ways[] = {"exit",      "sigkill", "abort", "illegal_address", "os_exit",
                              "exception", "thread",  "fork",  "early_fork",      "spawn"};
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  bool known = false;
  for (const std::string& way : ways) known = known || way == job.how;
  if (!known) {
    std::fprintf(stderr, "ends: there is no way %s\n", argv[1]);
    return 1;
  }
  if (job.how == "early_fork") fork_workers(job, nullptr);
  Issuer issuer(job.issued.c_str());
  if (job.how == "illegal_address") return end_by_illegal_address(issuer, job.ns);
  CHECK(issuer.run_for(job.ns));
  return end(job, issuer);
}
