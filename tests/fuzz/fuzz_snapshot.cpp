// Any bytes as a memory snapshot: they are read, replayed and written, or refused by an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answers/memory/memory_tables.h"
#include "cli/base/error.h"
#include "cli/formats/snapshot/write_snapshot.h"

namespace {

struct Nowhere : cli::ByteSink {
  void write(std::string_view) override {}
  void finish() override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0) return 0;
  if (::write(fd, data, size) == static_cast<ssize_t>(size)) {
    try {
      std::vector<cli::memory::Input> inputs(1);
      inputs[0].snapshot = cli::snapshot::read_snapshot("/proc/self/fd/" + std::to_string(fd));
      inputs[0].devices = cli::memory::replay(inputs[0].snapshot);
      (void)cli::memory::device_table(inputs);
      (void)cli::memory::phase_table(inputs);
      (void)cli::memory::checkpointing_table(inputs, {});
      for (const auto by : {cli::memory::GroupBy::category, cli::memory::GroupBy::line}) {
        (void)cli::memory::in_use_table(inputs, {}, by);
        (void)cli::memory::growth_table(inputs, by);
      }
      (void)cli::memory::failure_table(inputs);
      (void)cli::memory::fragmentation_table(inputs);
      Nowhere nowhere;
      cli::snapshot::write_snapshot(inputs[0].snapshot, nowhere);
    } catch (const cli::Error&) {
    }
  }
  ::close(fd);
  return 0;
}
