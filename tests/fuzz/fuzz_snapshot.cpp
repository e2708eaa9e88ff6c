// Any bytes as a memory snapshot: they are read and replayed, or refused by an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "cli/answers/memory/memory_tables.h"
#include "cli/base/error.h"

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
    } catch (const cli::Error&) {
    }
  }
  ::close(fd);
  return 0;
}
