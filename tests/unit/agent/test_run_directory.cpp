#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/ring/run_directory.h"
#include "tests/unit/catch.h"

using namespace agent;
namespace fs = std::filesystem;

namespace {

struct Scene {
  fs::path dir;
  Scene() {
    char name[] = "/tmp/run-directory-XXXXXX";
    dir = mkdtemp(name);
  }
  ~Scene() { fs::remove_all(dir); }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  fs::path run() const { return dir / "some/traces/run"; }
  OpenedRun open_run() const {
    char path[4096];
    const std::string above = dir / "some/traces";
    OpenedRun opened = open_run_directory(above.c_str(), "run", path, sizeof(path));
    CHECK(path == above + "/run");
    return opened;
  }
};

}  // namespace

TEST_CASE("a run's directory is made for us alone, and found again") {
  const Scene scene;
  const OpenedRun first = scene.open_run(), second = scene.open_run();
  REQUIRE(first.directory >= 0);
  CHECK(first.made);
  CHECK(!second.made);
  CHECK(second.directory >= 0);
  CHECK(fs::status(scene.run()).permissions() == fs::perms::owner_all);
  CHECK(fs::is_empty(scene.run()));
  close(first.directory);
  close(second.directory);
}

TEST_CASE("what is in the place of a run's directory is left as it is") {
  const Scene scene;
  const fs::path run = scene.run(), elsewhere = scene.dir / "elsewhere";
  fs::create_directory(elsewhere);
  fs::create_directories(run.parent_path());
  SECTION("a link") { fs::create_directory_symlink(elsewhere, run); }
  SECTION("a link to nothing") { fs::create_symlink(scene.dir / "nothing", run); }
  SECTION("a file") { std::ofstream(run) << "theirs"; }
  SECTION("a pipe") { REQUIRE(mkfifo(run.c_str(), 0600) == 0); }
  SECTION("a directory of all") {
    fs::create_directory(run);
    fs::permissions(run, fs::perms::all);
  }
  const OpenedRun opened = scene.open_run();
  CHECK(opened.directory == -1);
  CHECK(opened.unfit != nullptr);
  CHECK(fs::is_empty(elsewhere));
  CHECK((!fs::is_directory(run) || fs::is_empty(run)));
}

TEST_CASE("what is put in the place of an opened directory gets nothing") {
  const Scene scene;
  const fs::path run = scene.run(), away = scene.dir / "away", elsewhere = scene.dir / "elsewhere";
  const OpenedRun opened = scene.open_run();
  OwnDescriptor kept;
  REQUIRE(kept.take(opened.directory));
  fs::rename(run, away);
  fs::create_directory(elsewhere);
  fs::create_directory_symlink(elsewhere, run);
  const int file = make_own_file(kept.get(), "x.ring");
  CHECK(file >= 0);
  close(file);
  CHECK(fs::exists(away / "x.ring"));
  CHECK(fs::is_empty(elsewhere));
  const int number = kept.get();
  close(number);
  CHECK(!kept.take_again(open(elsewhere.c_str(), O_RDONLY | O_DIRECTORY)));
  CHECK(kept.get() == -1);
  CHECK(kept.take_again(open(away.c_str(), O_RDONLY | O_DIRECTORY)));
  CHECK(kept.get() >= 0);
  kept.drop();
}

TEST_CASE("a file of ours is none that was there before") {
  const Scene scene;
  const fs::path victim = scene.dir / "victim", name = scene.dir / "x.ring";
  std::ofstream(victim) << "theirs";
  SECTION("a link") { fs::create_symlink(victim, name); }
  SECTION("a link to nothing") { fs::create_symlink(scene.dir / "nothing", name); }
  SECTION("a hard link") { fs::create_hard_link(victim, name); }
  SECTION("a file") { fs::copy(victim, name); }
  const int directory = open(scene.dir.c_str(), O_RDONLY | O_DIRECTORY);
  CHECK(make_own_file(directory, "x.ring") == -1);
  CHECK(errno == EEXIST);
  CHECK(fs::file_size(victim) == std::strlen("theirs"));
  CHECK(!fs::exists(scene.dir / "nothing"));
  close(directory);
}
