// Reads arbitrary bytes as a report of Nsight Systems. Either the reader throws Error, or the events are counted and have
// possible times.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/base/error.h"
#include "cli/formats/nsys/reader.h"

namespace {

struct Counted : cli::EventSink {
  explicit Counted(const cli::Catalog& catalog) : catalog_(catalog) {}
  void event(const cli::Event& event, const cli::Facts&) override {
    ++events;
    if (event.track >= catalog_.tracks.size() || event.name >= catalog_.strings.size()) std::abort();
    if (event.duration_ns < cli::kUnknownDuration || event.start_ns + event.duration_ns < event.start_ns - 1)
      std::abort();
  }

  std::uint64_t events = 0;

 private:
  const cli::Catalog& catalog_;
};

void read(const std::string& path) {
  cli::Catalog catalog;
  Counted counted(catalog);
  try {
    (void)cli::nsys::peek_start_ns(path);
    cli::nsys::open(path)->read(catalog, counted);
  } catch (const cli::Error&) {
    return;
  }
  std::uint64_t events = 0;
  for (const cli::Process& process : catalog.processes) {
    events += cli::total(process.counts);
    if (process.notes.size() > 128) std::abort();
  }
  if (events != counted.events) std::abort();
}

// A file that is removed at the end of the program.
struct TemporaryFile {
  TemporaryFile() {
    if (const int fd = ::mkstemp(path.data()); fd >= 0) ::close(fd);
  }
  ~TemporaryFile() { ::unlink(path.c_str()); }

  std::string path = std::filesystem::temp_directory_path() / "fuzz_nsys.XXXXXX";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFile file;
  std::ofstream(file.path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  read(file.path);
  return 0;
}
