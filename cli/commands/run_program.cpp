#include "cli/commands/run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/doctor/checks.h"
#include "cli/doctor/injection.h"
#include "cli/formats/ring/file.h"
#include "cli/timeline/merge/runs.h"
#include "cli/trace/catalog.h"
#include "cli/trace/losses.h"

namespace cli {

namespace {

// True for "--keep" in "--keep 3", but not for "--keep=3" or "-oDIR", which contain their value.
bool has_value_behind(const CLI::App& app, const std::string& word) {
  const CLI::Option* option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_max() > 0;
}

constexpr int kForwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

volatile sig_atomic_t s_child = 0;

// Signals from the terminal or the kernel go to the whole process group, so the child has them already.
void forward(int signal, siginfo_t* info, void*) {
  const int saved_errno = errno;
  if (s_child > 0 && info->si_code <= 0) kill(static_cast<pid_t>(s_child), signal);
  errno = saved_errno;
}

// Blocks the forwarded signals during its lifetime, so that none arrives between fork and the code after it.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : kForwarded) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, &before_);
  }
  ~BlockedSignals() { end(); }
  void end() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// Ignored signals stay ignored for both processes, as nohup(1) requires.
void set_handlers(void (*handler)(int, siginfo_t*, void*)) {
  for (const int signal : kForwarded) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler == SIG_IGN && (now.sa_flags & SA_SIGINFO) == 0) continue;
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    if (handler == nullptr) {
      action.sa_handler = SIG_DFL;
    } else {
      action.sa_sigaction = handler;
      action.sa_flags = SA_SIGINFO;
    }
    sigaction(signal, &action, nullptr);
  }
}

void execute(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
}

[[noreturn]] void refuse(const std::string& program, int error) {
  throw Error(Exit::cannot_open, "cannot run {}: {}; give a program in $PATH or a path after --", program,
              std::strerror(error));
}

[[noreturn]] void be_child(const std::vector<std::string>& command, const BlockedSignals& blocked, pid_t parent,
                           int fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // the parent ended before the line above
  set_handlers(nullptr);
  blocked.end();
  execute(command);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(fd, &error, sizeof(error));
  _exit(127);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

struct Recorded {
  std::uint64_t recordings = 0, records = 0, overwritten = 0, lost = 0;
  std::set<std::string> runs;
  std::uint64_t removed_runs = 0;
  bool spools = false;
  int spool_error = 0;  // errno of a spool that ended early
};

void add(const RunFile& file, const std::string& run, Recorded& sum) {
  const Process& process = file.peek.processes[0];
  ++sum.recordings;
  sum.runs.insert(run);
  sum.overwritten += total(process.overwritten);
  sum.removed_runs += process.recorder.removed_runs;
  sum.lost += total(process.lost) + process.lost_unknown_kind;
  try {
    ring::RingFile ring(file.path);
    sum.records += ring.count_records();
    const auto spool = static_cast<trace::SourceState>(ring.header().spool_state);
    sum.spools |= spool != trace::SourceState::off;
    if (spool == trace::SourceState::failed) sum.spool_error = ring.header().spool_error;
  } catch (const Error& error) {  // for example, removed by a newer run
    print_line("tracetool: warning: {}", error.what());
  }
}

Recorded find_recorded(const std::string& directory, std::int64_t start_ns) {
  Recorded sum;
  std::vector<FoundFile> files;
  try {
    files = find_files({directory});
  } catch (const Error&) {  // the directory does not exist or is empty
    return sum;
  }
  for (const Run& run : list_runs(files).runs) {
    for (const RunFile& file : run.files) {
      const bool is_recording = file.peek.form == TracePeek::Form::recording && !file.peek.processes.empty();
      if (is_recording && file.peek.start_ns >= start_ns) add(file, run.name, sum);
    }
  }
  return sum;
}

std::string keeps_more(const Recorded& sum) {
  if (sum.spool_error != 0) return fmt::format("the spool ended early: {}", std::strerror(sum.spool_error));
  return sum.spools ? "the spool was too slow; a larger --buffer keeps more"
                    : "a larger --buffer keeps more, --mode spool keeps all";
}

std::string losses(const Recorded& sum) {
  std::string text;
  if (sum.overwritten > 0) text = fmt::format("{} overwritten ({})", sum.overwritten, keeps_more(sum));
  if (sum.lost > 0) text += fmt::format("{}{} lost", text.empty() ? "" : ", ", sum.lost);
  return text.empty() ? "none lost" : text;
}

std::vector<std::string> why_nothing(const std::string& directory) {
  const std::string no_room = why_no_room(directory);
  std::vector<std::string> lines{
      no_room.empty()
          ? fmt::format("{} has no new recording: no process used the GPU, or the agent printed the reason on stderr",
                        directory)
          : fmt::format("{} has no new recording: {}", directory, no_room)};
  for (const doctor::CheckResult& result : doctor::check_machine(directory)) {
    if (result.level == doctor::Level::ok || (result.check == "directory" && !no_room.empty())) continue;
    lines.push_back(
        fmt::format("doctor: {}: {}{}{}", result.check, result.what, result.next.empty() ? "" : " -> ", result.next));
  }
  lines.emplace_back("next: tracetool doctor PID  # while the program runs; PID is its process id");
  return lines;
}

}  // namespace

std::vector<std::string> mark_command(const CLI::App& app, std::vector<std::string> words) {
  if (words.empty() || words[0] != app.get_name()) return words;
  std::size_t at = 1;
  while (at < words.size() && words[at][0] == '-' && words[at] != "--") at += has_value_behind(app, words[at]) ? 2 : 1;
  if (at < words.size() && words[at] != "--") words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), "--");
  return words;
}

void become_program(const std::vector<std::string>& command) {
  std::fflush(nullptr);
  execute(command);
  refuse(command[0], errno);
}

int run_program(const std::vector<std::string>& command) {
  std::fflush(nullptr);
  int ends[2];  // closed by exec; a failed exec writes its error
  if (pipe2(ends, O_CLOEXEC) != 0) refuse(command[0], errno);
  const pid_t parent = getpid();
  pid_t child;
  {
    const BlockedSignals blocked;
    child = fork();
    if (child == 0) be_child(command, blocked, parent, ends[1]);
    if (child > 0) {
      s_child = child;
      set_handlers(forward);
    }
  }
  if (child < 0) refuse(command[0], errno);
  close(ends[1]);
  int error = 0;
  ssize_t got;
  while ((got = ::read(ends[0], &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  close(ends[0]);
  const int status = wait_for(child);
  s_child = 0;
  set_handlers(nullptr);
  if (got == sizeof(error)) refuse(command[0], error);
  return status;
}

void end_like(int wait_status) {
  std::fflush(nullptr);
  if (WIFSIGNALED(wait_status)) {
    const rlimit no_core{0, 0};  // the program has already left a core dump
    setrlimit(RLIMIT_CORE, &no_core);
    signal(WTERMSIG(wait_status), SIG_DFL);
    raise(WTERMSIG(wait_status));
    _exit(128 + WTERMSIG(wait_status));
  }
  _exit(WEXITSTATUS(wait_status));
}

std::string why_no_room(const std::string& directory) {
  for (const doctor::CheckResult& result : doctor::check_output_directory(directory, doctor::ring_bytes_wanted())) {
    if (result.level == doctor::Level::fail) return fmt::format("{}; {}", result.what, result.next);
  }
  return {};
}

std::vector<std::string> record_summary(const std::string& directory, std::int64_t start_ns) {
  const Recorded sum = find_recorded(directory, start_ns);
  if (sum.recordings == 0) return why_nothing(directory);
  const bool one_run = sum.runs.size() == 1;
  const std::string where = one_run ? directory + "/" + *sum.runs.begin() : directory;
  std::vector<std::string> lines{fmt::format("{} in {}: {}, {}", count_text(sum.recordings, "recording"), where,
                                             count_text(sum.records, "record"), losses(sum))};
  if (sum.removed_runs > 0) lines.push_back(removed_runs_text(sum.removed_runs));
  lines.push_back(fmt::format("next: tracetool {}", shell_word(where)));
  return lines;
}

bool is_further_rank() {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"}) {
    const char* rank = std::getenv(name);
    if (rank != nullptr) return std::strcmp(rank, "0") != 0;
  }
  return false;
}

}  // namespace cli
