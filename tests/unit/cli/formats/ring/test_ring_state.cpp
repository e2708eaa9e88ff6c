// What a recording says of its writer: by the lock, by the boot id, and of copies by where the ring lies.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "cli/formats/ring/file.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/scratch.h"
#include "tests/unit/common/small_ring.h"

using namespace cli;
using namespace cli::ring;

namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;

std::uint64_t wall_clock_ns() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count());
}

struct MadeRing {
  MadeRing() : memory(4, 4096) {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    std::snprintf(header().boot_id, sizeof(header().boot_id), "%s", id.c_str());
  }
  trace::FileHeader& header() { return *memory.header(); }
  void write() { write_file(path, {memory.bytes(), memory.size()}); }
  RecordingState state() {
    write();
    return RingFile(path).state();
  }
  void copy_of(const std::string& place, std::uint64_t age_ns) {
    std::snprintf(header().local_path, sizeof(header().local_path), "%s", place.c_str());
    header().copied_real_ns = wall_clock_ns() - age_ns;
  }

  Scratch scratch;
  std::string path = scratch.path("x.ring");
  trace::SmallRing memory;
};

void set_lock(int file, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  fcntl(file, F_OFD_SETLK, &lock);
}

}  // namespace

TEST_CASE("ring state: a copy whose ring cannot be asked is unknown while it is fresh") {
  MadeRing made;
  CHECK(made.state() == RecordingState::recovered);
  made.copy_of("/nowhere/x.ring", kSecond_ns);
  CHECK(made.state() == RecordingState::unknown);
  made.copy_of("/nowhere/x.ring", 1000 * kSecond_ns);
  CHECK(made.state() == RecordingState::recovered);
  const std::string local = made.scratch.path("local");
  write_file(local, "the ring");
  made.copy_of(local, kSecond_ns);
  CHECK(made.state() == RecordingState::recovered);
  const int file = open(local.c_str(), O_RDWR | O_CLOEXEC);
  set_lock(file, F_WRLCK);
  CHECK(made.state() == RecordingState::live);
  close(file);
  made.header().boot_id[0] = 'x';
  CHECK(made.state() == RecordingState::unknown);
}

TEST_CASE("ring state: a process that closes and exits while it is looked at is clean") {
  MadeRing made;
  made.write();
  const int file = open(made.path.c_str(), O_RDWR | O_CLOEXEC);
  void* map = mmap(nullptr, trace::kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(map != MAP_FAILED);
  std::uint64_t& closed = static_cast<trace::FileHeader*>(map)->closed_real_ns;
  int recovered = 0;
  for (int i = 0; i < 200; ++i) {
    __atomic_store_n(&closed, 0, __ATOMIC_SEQ_CST);
    set_lock(file, F_WRLCK);
    std::thread writer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(50 + i % 50));
      __atomic_store_n(&closed, 1, __ATOMIC_SEQ_CST);
      set_lock(file, F_UNLCK);
    });
    RecordingState state = RecordingState::live;
    while (state == RecordingState::live) state = RingFile(made.path).state();
    recovered += state != RecordingState::clean;
    writer.join();
  }
  CHECK(recovered == 0);
  munmap(map, trace::kHeaderBytes);
  close(file);
}
