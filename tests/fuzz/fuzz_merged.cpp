// The reader of merged files takes any bytes: it reads or refuses, and never crashes.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/base/error.h"
#include "cli/formats/ttrace/columns.h"
#include "cli/formats/ttrace/reader.h"

namespace {

struct Ignore : cli::EventSink {
  void event(const cli::Event&, const cli::Facts&) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  cli::ttrace::EventBatch batch;
  if (size > 0)
    (void)cli::ttrace::decode_events(bytes.substr(1), data[0], {}, batch);  // the checksum hides them from the rest

  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0) return 0;
  if (::write(fd, data, size) == static_cast<ssize_t>(size)) {
    try {
      cli::Catalog catalog;
      Ignore sink;
      cli::ttrace::MergedReader("/proc/self/fd/" + std::to_string(fd)).read(catalog, sink);
    } catch (const cli::Error&) {
    }
  }
  ::close(fd);
  return 0;
}
