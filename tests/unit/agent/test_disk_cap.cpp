#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "agent/base/host.h"
#include "agent/ring/disk_cap.h"
#include "agent/ring/run_directory.h"
#include "agent/ring/storage.h"
#include "common/spool_format.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"

using namespace agent;
namespace fs = std::filesystem;

namespace {

trace::FileHeader ring_header(const std::string& run) {
  trace::FileHeader header{};
  std::memcpy(header.magic, trace::kMagic, sizeof(header.magic));
  std::strcpy(header.run_id, run.c_str());
  return header;
}

std::string bytes_of(const trace::FileHeader& header) {
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes.resize(100'000);
  return bytes;
}

std::string ring_bytes(const std::string& run) { return bytes_of(ring_header(run)); }

// Of a process of this boot that has not closed it, whose ring is at `local`.
std::string copy_bytes(const std::string& run, const std::string& local) {
  trace::FileHeader header = ring_header(run);
  header.copied_real_ns = 1;
  boot_id(header.boot_id, sizeof(header.boot_id));
  std::strcpy(header.local_path, local.c_str());
  return bytes_of(header);
}

std::string spool_bytes() {
  return std::string(trace::kSpoolMagic, sizeof(trace::kSpoolMagic)) + std::string(1000, 'x');
}

void set_age(const std::string& path, time_t seconds) {
  const timespec then{time(nullptr) - seconds, 0};
  const timespec times[2] = {then, then};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

// A run of the past with a ring and a spool.
std::string make_run(const Scratch& scratch, const std::string& run, time_t age) {
  fs::create_directory(scratch.path(run));
  const std::string stem = scratch.path(run) + "/x";
  write_file(stem + ".spool", spool_bytes());
  write_file(stem + ".ring", ring_bytes(run));
  set_age(stem + ".ring", age);
  set_age(stem + ".spool", age);
  return stem + ".ring";
}

class Directory {
 public:
  explicit Directory(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_DIRECTORY)) {}
  ~Directory() { close(file_); }
  int descriptor() const { return file_; }

 private:
  int file_;
};

// What becomes of a file of run "r" when that run is removed.
bool remove_own(const std::string& path) {
  const Directory directory(fs::path(path).parent_path().string());
  const std::string name = fs::path(path).filename().string();
  return remove_own_file(directory.descriptor(), name.c_str(), "r");
}

}  // namespace

TEST_CASE("old runs go with their spools, the newest stay, and so does the current one however old it looks") {
  const Scratch scratch;
  for (int i = 0; i < 6; ++i) make_run(scratch, "run" + std::to_string(i), 1000 * (i + 1));
  make_run(scratch, "now", 100'000);
  const Directory run(scratch.path("now"));
  remove_old_runs(run.descriptor(), "now", {3, 0});
  CHECK(fs::exists(scratch.path("now/x.ring")));
  CHECK(fs::exists(scratch.path("run0/x.spool")));
  CHECK(fs::exists(scratch.path("run1/x.ring")));
  CHECK(scratch.files() == 3);
  remove_old_runs(run.descriptor(), "now", {0, 0});
  CHECK(scratch.files() == 3);
  remove_old_runs(run.descriptor(), "now", {1, 0});
  CHECK(scratch.files() == 1);
}

TEST_CASE("beyond the size the oldest go, the current one never") {
  const Scratch scratch;
  for (int i = 0; i < 4; ++i) make_run(scratch, "run" + std::to_string(i), 1000 * (i + 1));
  make_run(scratch, "now", 0);
  const Directory run(scratch.path("now"));
  remove_old_runs(run.descriptor(), "now", {0, 350'000});
  CHECK(scratch.files() == 3);
  remove_old_runs(run.descriptor(), "now", {0, 1});
  CHECK(scratch.files() == 1);
}

TEST_CASE("a file of another name is not opened") {
  const Scratch scratch;
  write_file(scratch.path("model.bin"), "weights");
  write_file(scratch.path("a.spool"), "no spool");
  const Directory directory(scratch.folder());
  const int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  const auto opens = [&](const char* name) {
    char events[4096];
    remove_own_file(directory.descriptor(), name, "r");
    return read(opened, events, sizeof(events)) > 0;
  };
  REQUIRE(inotify_add_watch(opened, scratch.folder().c_str(), IN_OPEN) >= 0);
  CHECK(opens("a.spool"));
  CHECK(!opens("model.bin"));
  close(opened);
}

TEST_CASE("only what is ours and nobody's work is removed") {
  const Scratch scratch;
  const std::string ring = scratch.path("a.ring");
  write_file(ring, ring_bytes("r"));

  SECTION("a ring, and not before its lock is free") {
    const int writer = open(ring.c_str(), O_RDWR);
    REQUIRE(hold_lock(writer));
    CHECK(!remove_own(ring));
    close(writer);
    CHECK(remove_own(ring));
  }
  SECTION("no link, and not what it leads to") {
    fs::create_symlink(ring, scratch.path("link.ring"));
    CHECK(!remove_own(scratch.path("link.ring")));
    CHECK(fs::exists(ring));
  }
  SECTION("nothing without our magic, but what was never finished, later") {
    write_file(ring, std::string(5000, 'x'));
    CHECK(!remove_own(ring));
    write_file(ring, std::string(5000, '\0'));
    CHECK(!remove_own(ring));
    set_age(ring, 100);
    CHECK(remove_own(ring));
  }
  SECTION("no pipe, no directory, nothing with another name") {
    REQUIRE(mkfifo(scratch.path("f.ring").c_str(), 0600) == 0);
    fs::create_directory(scratch.path("d.ring"));
    write_file(scratch.path("a.ttrace"), ring_bytes("r"));
    for (const char* name : {"f.ring", "d.ring", "a.ttrace"}) CHECK(!remove_own(scratch.path(name)));
  }
  SECTION("no ring of another run") {
    write_file(ring, ring_bytes("other"));
    CHECK(!remove_own(ring));
  }
  SECTION("a spool as its ring: not while it is in use, and not beside another run's") {
    const std::string spool = scratch.path("a.spool");
    write_file(spool, spool_bytes());
    const int writer = open(ring.c_str(), O_RDWR);
    REQUIRE(hold_lock(writer));
    CHECK(!remove_own(spool));
    close(writer);
    write_file(ring, ring_bytes("other"));
    CHECK(!remove_own(spool));
    write_file(ring, ring_bytes("r"));
    CHECK(remove_own(spool));
    CHECK(fs::exists(ring));
  }
  SECTION("a spool without a ring an hour later: on a network filesystem the ring's first copy comes after it") {
    write_file(scratch.path("b.spool"), spool_bytes());
    write_file(scratch.path("c.spool"), "something else entirely");
    for (const char* name : {"b.spool", "c.spool"}) CHECK(!remove_own(scratch.path(name)));
    for (const char* name : {"b.spool", "c.spool"}) set_age(scratch.path(name), 4000);
    CHECK(remove_own(scratch.path("b.spool")));
    CHECK(!remove_own(scratch.path("c.spool")));
  }
  SECTION("a copy whose ring cannot be seen, as in another container, an hour later") {
    write_file(ring, copy_bytes("r", "/nowhere/tracetool-r.ring"));
    CHECK(!remove_own(ring));
    set_age(ring, 4000);
    CHECK(remove_own(ring));
  }
  SECTION("a copy whose ring can be seen when the ring's lock is free") {
    const std::string local = scratch.path("local.ring");
    write_file(local, ring_bytes("r"));
    write_file(ring, copy_bytes("r", local));
    set_age(ring, 4000);
    const int writer = open(local.c_str(), O_RDWR);
    REQUIRE(hold_lock(writer));
    CHECK(!remove_own(ring));
    close(writer);
    CHECK(remove_own(ring));
  }
  SECTION("what a copier left, an hour later") {
    const std::string part = scratch.path(".b.ring.part");
    write_file(part, "");
    CHECK(!remove_own(part));
    set_age(part, 4000);
    CHECK(remove_own(part));
  }
}

TEST_CASE("what a user copied or renamed stays, and does not count as a run") {
  const Scratch scratch;
  for (int i = 0; i < 3; ++i) make_run(scratch, "run" + std::to_string(i), 1000 * (i + 1));
  for (const char* name : {"baseline", "saved"}) fs::copy(scratch.path("run0"), scratch.path(name));
  for (const char* name : {"baseline", "saved"}) set_age(scratch.path(name) + "/x.ring", 10);
  fs::create_directory(scratch.path("spools"));
  write_file(scratch.path("spools/x.spool"), spool_bytes());
  set_age(scratch.path("spools/x.spool"), 100'000);
  write_file(scratch.path("run1/kept.ring"), ring_bytes("run0"));
  make_run(scratch, "now", 0);
  const Directory run(scratch.path("now"));
  remove_old_runs(run.descriptor(), "now", {4, 0});
  CHECK(fs::exists(scratch.path("run2/x.ring")));
  remove_old_runs(run.descriptor(), "now", {1, 1});
  CHECK(!fs::exists(scratch.path("run2")));
  CHECK(!fs::exists(scratch.path("run1/x.ring")));
  CHECK(fs::exists(scratch.path("run1/kept.ring")));
  for (const char* name : {"baseline/x.ring", "baseline/x.spool", "saved/x.ring", "saved/x.spool", "spools/x.spool"})
    CHECK(fs::exists(scratch.path(name)));
}

TEST_CASE("a run in which one rank may still record stays whole") {
  const Scratch scratch;
  make_run(scratch, "run", 100'000);
  make_run(scratch, "now", 0);
  const std::string other = scratch.path("run/y.ring");
  const Directory now(scratch.path("now"));
  const auto stays = [&] {
    remove_old_runs(now.descriptor(), "now", {1, 0});
    return fs::exists(scratch.path("run/x.ring")) && fs::exists(scratch.path("run/x.spool"));
  };
  SECTION("its lock is held") {
    write_file(other, ring_bytes("run"));
    const int writer = open(other.c_str(), O_RDWR);
    REQUIRE(hold_lock(writer));
    CHECK(stays());
    close(writer);
  }
  SECTION("its ring is elsewhere and its copy is fresh") {
    write_file(other, copy_bytes("run", "/nowhere/y.ring"));
    CHECK(stays());
    set_age(other, 4000);
  }
  SECTION("only its spool is there so far") {
    write_file(scratch.path("run/y.spool"), spool_bytes());
    CHECK(stays());
    set_age(scratch.path("run/y.spool"), 4000);
  }
  SECTION("its ring is just being made") {
    write_file(other, "");
    CHECK(stays());
    set_age(other, 100);
  }
  SECTION("its first copy is just being made") {
    write_file(scratch.path("run/.y.ring.part"), "");
    CHECK(stays());
    set_age(scratch.path("run/.y.ring.part"), 4000);
  }
  CHECK(!stays());
  CHECK(!fs::exists(scratch.path("run")));
}

TEST_CASE("of rings on local storage those of the current run and of the one before stay") {
  const Scratch scratch;
  int age = 100;
  for (const char* name : {"tracetool-c-1.ring", "tracetool-b-1.ring", "tracetool-b-2.ring", "tracetool-a-1.ring"}) {
    write_file(scratch.path(name), ring_bytes(std::string(name + 10, 1)));
    set_age(scratch.path(name), age += 100);
  }
  write_file(scratch.path("other.ring"), ring_bytes("a"));
  remove_old_local_rings(scratch.folder().c_str(), "c");
  CHECK(scratch.files() == 4);
  CHECK(!fs::exists(scratch.path("tracetool-a-1.ring")));
}

TEST_CASE("of rings on local storage those of a run stay while one of it is recorded") {
  const Scratch scratch;
  int age = 100;
  for (const char* name : {"tracetool-c-1.ring", "tracetool-b-1.ring", "tracetool-a-1.ring", "tracetool-a-2.ring"}) {
    write_file(scratch.path(name), ring_bytes(std::string(name + 10, 1)));
    set_age(scratch.path(name), age += 100);
  }
  const int writer = open(scratch.path("tracetool-a-2.ring").c_str(), O_RDWR);
  REQUIRE(hold_lock(writer));
  remove_old_local_rings(scratch.folder().c_str(), "c");
  CHECK(scratch.files() == 4);
  close(writer);
  remove_old_local_rings(scratch.folder().c_str(), "c");
  CHECK(scratch.files() == 2);
}

TEST_CASE("runs that pile up are seen") {
  const Scratch scratch;
  fs::create_directory(scratch.path("now"));
  const Directory run(scratch.path("now"));
  CHECK(!has_many_runs(run.descriptor(), {4, 0}));
  for (int i = 0; i < 30; ++i) fs::create_directory(scratch.path("run" + std::to_string(i)));
  CHECK(has_many_runs(run.descriptor(), {4, 0}));
  CHECK(!has_many_runs(run.descriptor(), {0, 0}));
}

TEST_CASE("the memory that is left is that of the narrowest control group") {
  const Scratch scratch;
  const auto put = [&](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(scratch.path(path)).parent_path());
    write_file(scratch.path(path), text);
  };
  const auto room = [&] { return memory_room(scratch.folder().c_str()); };
  CHECK(room() == UINT64_MAX);
  SECTION("version 2") {
    put("proc/self/cgroup", "0::/pod/box\n");
    CHECK(room() == UINT64_MAX);
    put("sys/fs/cgroup/pod/box/memory.max", "max\n");
    put("sys/fs/cgroup/pod/box/memory.current", "100\n");
    CHECK(room() == UINT64_MAX);
    put("sys/fs/cgroup/pod/memory.max", "1000\n");
    put("sys/fs/cgroup/pod/memory.current", "300\n");
    CHECK(room() == 700);
    put("sys/fs/cgroup/memory.max", "100\n");
    put("sys/fs/cgroup/memory.current", "300\n");
    CHECK(room() == 0);
  }
  SECTION("version 1") {
    put("proc/self/cgroup", "5:cpu:/box\n4:memory:/box\n");
    put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "5000\n");
    put("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1000\n");
    CHECK(room() == 4000);
  }
  SECTION("a container that sees its own group as the root") {
    put("proc/self/cgroup", "0::/\n");
    put("sys/fs/cgroup/memory.max", "5000\n");
    put("sys/fs/cgroup/memory.current", "1000\n");
    CHECK(room() == 4000);
  }
}
