// Any bytes as a recording: they are read or refused by an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "cli/base/error.h"
#include "cli/formats/ring/reader.h"

namespace {

struct NullSink : cli::EventSink {
  void event(const cli::Event&, const cli::Facts&) override {}
};

template <typename Read>
void refused_or(const Read& read) {
  try {
    read();
  } catch (const cli::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  refused_or([&] {
    cli::Catalog catalog;
    NullSink sink;
    cli::ring::open_ring(path)->read(catalog, sink);
  });
  struct : cli::ByteSink {
    void write(std::string_view) override {}
    void finish() override {}
  } nowhere;
  refused_or([&] { cli::ring::dump_ring(path, path, nowhere); });
  close(file);
  return 0;
}
