// What a kernel costs on its way from CUPTI's buffer into the ring, against a memcpy of the same bytes to the same
// ring.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "agent/base/life.h"
#include "agent/ring/recorder.h"
#include "agent/ring/trace_file.h"
#include "agent/translate/translate.h"
#include "examples/simulated_training/standin/cupti/layouts.h"
#include "tests/bench/bench.h"

namespace bench {
namespace {

constexpr std::size_t kSourceBytes = 4u << 20;
constexpr std::size_t kShapes = 640;
constexpr std::uint64_t kRingBytes = 64u << 20;

// What CUPTI of these headers writes; the agent reads its prefix.
using Activity = sim::NewestKernel;

class Source {
 public:
  Source() : activities_(kSourceBytes / sizeof(Activity)) {
    for (std::size_t i = 0; i < 64; ++i) {
      names_.push_back(
          fmt::format("_ZN2at6native29vectorized_elementwise_kernelILi{}ENS0_15CUDAFunctor_"
                      "addIN3c108BFloat16EEESt5arrayIPcLm3EEEEvi"
                      "T0_T1_",
                      i));
    }
    for (std::size_t i = 0; i < activities_.size(); ++i) fill(i);
  }
  const std::vector<Activity>& activities() const { return activities_; }

 private:
  void fill(std::size_t i) {
    Activity& a = activities_[i];
    std::memset(&a, 0, sizeof(a));
    const std::size_t shape = i * 7919 % kShapes;
    a.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    a.start = 1'000'000'000 + i * 3000;
    a.end = a.start + 2500;
    a.streamId = 7;
    a.contextId = 1;
    a.correlationId = static_cast<std::uint32_t>(i);
    a.gridX = static_cast<std::int32_t>(1 + shape / names_.size());
    a.gridY = a.gridZ = a.blockY = a.blockZ = 1;
    a.blockX = 256;
    a.registersPerThread = 40;
    a.name = names_[shape % names_.size()].c_str();
  }

  std::vector<std::string> names_;
  std::vector<Activity> activities_;
};

void open_ring_file(const char* folder, const char* bytes) {
  setenv("TRACETOOL_DIR", folder, 1);
  setenv("TRACETOOL_BUFFER", bytes, 1);
  if (!agent::attach()) std::abort();
  const agent::Guard guard;
  if (!agent::open_recording(guard)) std::abort();
}

void translate_all(agent::Translation& translation, const std::vector<Activity>& activities) {
  if (!translation.begin()) std::abort();
  for (const Activity& a : activities) translation.record(reinterpret_cast<const CUpti_Activity*>(&a));
  translation.end();
}

// Streams the source through the ring, as the blocks would be filled.
class Copier {
 public:
  Copier() : at_(kRingBytes / 2) {}  // pages that the translation has not touched

  void copy(const std::vector<Activity>& activities) {
    std::byte* ring = agent::ring().base() + agent::ring().header->blocks_offset;
    const std::size_t bytes = agent::ring().header->block_bytes * agent::ring().header->block_count;
    for (const Activity& a : activities) {
      if (at_ + sizeof(a) > bytes) at_ = 0;
      std::memcpy(ring + at_, &a, sizeof(a));
      at_ += sizeof(a);
    }
  }

 private:
  std::size_t at_;
};

double bytes_per_kernel(std::size_t kernels) {
  const trace::Ring& ring = agent::ring();
  std::uint64_t used = ring.header->definitions_used;
  for (std::uint64_t i = 0; i < ring.header->block_count; ++i) used += ring.block(i)->committed;
  return static_cast<double>(used) / static_cast<double>(kernels);
}

void remove_file() {
  const std::string path = agent::trace_file_path();
  unlink(path.c_str());
  const std::string run = path.substr(0, path.rfind('/'));
  rmdir(run.c_str());
  rmdir(run.substr(0, run.rfind('/')).c_str());
}

}  // namespace

// "RANK KERNELS BUFFER FOLDER": the recording of a process of a run.
const Alone kRingAlone{"ring", [](const std::string& words) {
                         std::istringstream in(words);
                         std::string rank, buffer, folder;
                         std::size_t kernels = 0;
                         in >> rank >> kernels >> buffer >> folder;
                         setenv("RANK", rank.c_str(), 1);
                         setenv("TORCHELASTIC_RUN_ID", "bench", 1);
                         open_ring_file(folder.c_str(), buffer.c_str());
                         const Source source;
                         static agent::Translation translation;
                         for (std::size_t done = 0; done < kernels; done += source.activities().size()) {
                           std::vector<Activity> some = source.activities();
                           some.resize(std::min(some.size(), kernels - done));
                           for (Activity& a : some)
                             a.start += done * 3000, a.end += done * 3000,
                                 a.correlationId += static_cast<std::uint32_t>(done);
                           translate_all(translation, some);
                         }
                         _exit(0);
                       }};

Figures append(bool small) {
  char folder[] = "/tmp/tracetool-bench-XXXXXX";
  if (mkdtemp(folder) == nullptr) std::abort();
  open_ring_file(folder, "64M");
  const Source source;
  static agent::Translation translation;
  const std::size_t count = source.activities().size();
  // Cold: the first sight of every shape and of the ring's pages.
  const double cold = fastest_s(1, [&] { translate_all(translation, source.activities()); });
  const double kept = bytes_per_kernel(count);
  Copier copier;
  const double cold_copy = fastest_s(1, [&] { copier.copy(source.activities()); });
  const int rounds = small ? 3 : 200;
  double warm = 1e300, copy = 1e300;
  for (int i = 0; i < rounds; ++i) {
    warm = std::min(warm, fastest_s(1, [&] { translate_all(translation, source.activities()); }));
  }
  for (int i = 0; i < rounds; ++i) copy = std::min(copy, fastest_s(1, [&] { copier.copy(source.activities()); }));
  remove_file();
  const auto ns = [&](double seconds) { return seconds * 1e9 / static_cast<double>(count); };
  return {
      {"translate + append a kernel, warm", "<= 3x memcpy of the raw record",
       fmt::format("{:.2f}x ({:.1f} ns against {:.1f} ns)", warm / copy, ns(warm), ns(copy)), warm <= 3 * copy},
      {"translate + append a kernel, cold", "<= 3x memcpy of the raw record",
       fmt::format("{:.2f}x ({:.1f} ns against {:.1f} ns, page faults included)", cold / cold_copy, ns(cold),
                   ns(cold_copy)),
       cold <= 3 * cold_copy},
      {"bytes of an eager kernel in the ring", "<= 32",
       fmt::format("{} ({:.1f} with its names, {} shapes)", sizeof(trace::KernelRecord), kept, kShapes),
       sizeof(trace::KernelRecord) <= 32},
      {"bytes of an API call in the ring", "<= 24", fmt::format("{}", sizeof(trace::RuntimeRecord)),
       sizeof(trace::RuntimeRecord) <= 24},
  };
}

}  // namespace bench
