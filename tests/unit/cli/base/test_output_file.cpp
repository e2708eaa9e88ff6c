#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../scratch.h"
#include "cli/base/error.h"
#include "cli/base/output_file.h"
#include "tests/unit/catch.h"

using cli::OutputFile;

namespace {

// Runs f in a child process; returns its wait status.
template <typename F>
int in_child(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    f();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("output file: appears only when it is finished, and replaces the old one then") {
  const Scratch scratch;
  const std::string path = scratch.path("out");
  write_file(path, "old");
  OutputFile out(path);
  out.write("new ");
  out.write("content");
  CHECK(read_file(path) == "old");
  out.finish();
  CHECK(read_file(path) == "new content");
  CHECK(out.bytes() == 11);
  CHECK(scratch.files() == 1);
}

TEST_CASE("output file: an error leaves nothing behind") {
  const Scratch scratch;
  { OutputFile(scratch.path("out")).write("half"); }
  CHECK(scratch.files() == 0);
}

TEST_CASE("output file: a signal removes it, and ends the process as it would have") {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE, SIGUSR1, SIGABRT}) {
    const Scratch scratch;
    const int status = in_child([&] {
      ::signal(signal_number, SIG_DFL);
      OutputFile out(scratch.path("out"));
      out.write("half");
      cli::Placement later;
      for (int i = 0; i < 40; ++i) OutputFile(scratch.path("whole" + std::to_string(i)), &later).finish();
      if (scratch.files() < 8) ::_exit(1);
      ::raise(signal_number);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal_number);
    CHECK(scratch.files() == 0);
  }
}

TEST_CASE(
    "output file: two of one name at once do not spoil each other, as those of two containers with one process id") {
  const Scratch scratch;
  const std::string path = scratch.path("out");
  OutputFile first(path), second(path);
  first.write("first");
  second.write("sec");
  first.finish();
  CHECK(read_file(path) == "first");
  second.write("ond");
  second.finish();
  CHECK(read_file(path) == "second");
  CHECK(scratch.files() == 1);
}

TEST_CASE("output file: its permissions are those that open(2) gives") {
  const Scratch scratch;
  const mode_t before = ::umask(027);
  OutputFile(scratch.path("out")).finish();
  ::umask(before);
  CHECK(std::filesystem::status(scratch.path("out")).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("output file: a process that is killed leaves the old one, and one under a temporary name") {
  const Scratch scratch;
  write_file(scratch.path("out"), "old");
  const int status = in_child([&] {
    OutputFile out(scratch.path("out"));
    out.write("half");
    ::raise(SIGKILL);
  });
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK(read_file(scratch.path("out")) == "old");
  CHECK(scratch.files() == 2);
}

TEST_CASE("output file: files of one set appear together, or none does") {
  const Scratch scratch;
  for (const bool placed : {false, true}) {
    cli::Placement together;
    for (const char* name : {"a", "b"}) {
      const auto out = cli::open_output(scratch.path(name), &together);
      out->write(name);
      out->finish();
      CHECK_FALSE(std::filesystem::exists(scratch.path(name)));
    }
    if (placed) put_in_place(together);
  }
  CHECK(read_file(scratch.path("a")) + read_file(scratch.path("b")) == "ab");
  CHECK(scratch.files() == 2);
  cli::Placement dropped;
  OutputFile(scratch.path("c"), &dropped).finish();
  std::filesystem::create_directory(scratch.path("c"));
  CHECK_THROWS_WITH(put_in_place(dropped), contains_text("cannot move the output there"));
}

TEST_CASE("output file: follows a link and writes through what is no regular file") {
  const Scratch scratch;
  write_file(scratch.path("target"), "old");
  std::filesystem::create_symlink("target", scratch.path("link"));
  OutputFile linked(scratch.path("link"));
  linked.write("new");
  linked.finish();
  CHECK(std::filesystem::is_symlink(scratch.path("link")));
  CHECK(read_file(scratch.path("target")) == "new");

  OutputFile null("/dev/null");
  null.write("nothing");
  null.finish();
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("output file: what cannot be written says what to do") {
  const Scratch scratch;
  CHECK_THROWS_WITH(OutputFile(scratch.path("no/such/out")),
                    contains_text("no/such/out") && contains_text("create that directory"));
  CHECK_THROWS_WITH(OutputFile(scratch.folder()), contains_text("is a directory"));
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit { 1000, 1000 };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    OutputFile out(scratch.path("large"));
    try {
      out.write(std::string(5000, 'x'));
    } catch (const cli::Error& error) {
      const std::string what = error.what();
      const bool clear = error.exit() == cli::Exit::cannot_open && what.find("after 1000 bytes") != what.npos;
      ::_exit(clear ? 42 : 1);
    }
  });
  CHECK(WEXITSTATUS(status) == 42);
  const int without = in_child([&] {
    const struct rlimit limit { 0, 0 };
    ::setrlimit(RLIMIT_NOFILE, &limit);
    try {
      OutputFile out(scratch.path("one more"));
    } catch (const cli::Error& error) {
      ::_exit(std::string(error.what()).find("ulimit -n") != std::string::npos ? 42 : 1);
    }
  });
  CHECK(WEXITSTATUS(without) == 42);
}

// As where a program is started with its stdout closed.
TEST_CASE("output file: one that gets the descriptor of stdout is no stdout") {
  const Scratch scratch;
  const int status = in_child([&] {
    ::close(STDOUT_FILENO);
    OutputFile out(scratch.path("out"));
    out.write("whole");
    out.finish();
  });
  CHECK(status == 0);
  CHECK(read_file(scratch.path("out")) == "whole");
  CHECK(scratch.files() == 1);
}

TEST_CASE("output: .gz by the ending") {
  const Scratch scratch;
  for (const char* name : {"a.json", "a.json.gz"}) {
    const auto out = cli::open_output(scratch.path(name));
    out->write("{}");
    out->finish();
  }
  CHECK(read_file(scratch.path("a.json")) == "{}");
  CHECK(read_file(scratch.path("a.json.gz")).substr(0, 2) == "\x1f\x8b");
}
