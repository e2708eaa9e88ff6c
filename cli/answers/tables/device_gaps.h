// When devices idle, and why. A gap lasts from the moment at which the last work so far ended, g, to the start of the next
// work, w, which the call from c to e of some thread launched. It has up to five parts, which follow each other without a hole:
//
//   g to c   the call had not begun.
//            sync or copy,     if the host was in a wait, for a synchronization or in the call of a copy, when the
//            after_sync        device went idle (its start <= g < its end), and it ended no later than c: up to its end, and after it. If there
//                              are several, the one that ended last. Without a wait of d ns the host would have launched d ns earlier at
//                              most, so a wait explains the gap up to g + d (waited_to_ns()). The rest of it is the host's own:
//            launch            the thread's previous launch had ended at most kLaunching_ns before c: it launched one piece of work after
//                              the other.
//            host_late         otherwise: the host did something else.
//   c to e   copy              the host was in the call, which is that of a copy that blocks, or goes through pageable memory;
//            launch            or in another one.
//   e to w   queued            the work was launched and had not begun, for kLaunching_ns at most;
//            unexplained       for longer: nothing that was recorded says what it waited for.
//
// Where the call is not known, or no work follows, all is unexplained. Of after_sync and host_late it is told, too, how much of it the host
// was in Python's garbage collector, on whichever thread.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/trace/garbage_collections.h"
#include "cli/trace/names.h"

namespace cli {

// When the host stood still until its GPU had come so far: in a call whose name says that it synchronizes, or in a copy that
// did not return before it was done. Of the latter is a copy whose call ended no earlier than the copy itself, where the call
// is one of the blocking ones (cudaMemcpy) or the memory of the host is pageable, through which no copy is asynchronous.
struct HostWait {
  TrackId track = 0;  // the thread
  StringId name = 0;  // of the call
  std::int64_t start_ns = 0, end_ns = 0;
  bool for_copy = false;  // in the call of a copy
  bool to_device = false;  // which goes from the host to the device
};

class HostWaits {
 public:
  explicit HostWaits(const Catalog& catalog) : catalog_(catalog), names_(catalog.strings) {}

  // None: it is no such call, it has no end, or it lies within another such call of its thread, as the driver's in the runtime's.
  std::optional<HostWait> of(const Event& call);
  // The same of copies; once for each call.
  std::optional<HostWait> of(const GpuWork& work);
  // Whether the call of this work, which is known, is that of a copy that blocks.
  bool blocks(const GpuWork& work);
  // Call it after the process's last event.
  void forget(ProcessId process) {
    std::erase_if(last_, [&](const auto& each) { return catalog_.tracks[each.first].process == process; });
  }

 private:
  std::optional<HostWait> outermost(const HostWait& wait);

  const Catalog& catalog_;
  NameClasses names_;
  std::unordered_map<TrackId, HostWait> last_;  // of each thread
};

enum class IdleCause : std::uint8_t { sync, copy, after_sync, host_late, launch, queued, unexplained, count_ };
inline constexpr std::size_t kIdleCauses = static_cast<std::size_t>(IdleCause::count_);
inline constexpr std::array<std::string_view, kIdleCauses> kIdleCauseNames{"sync",   "copy",   "after_sync", "host_late",
                                                                          "launch", "queued", "unexplained"};

using IdleTimes = std::array<std::int64_t, kIdleCauses>;  // ns, by cause

struct DeviceGap {
  struct Part {
    IdleCause cause;
    std::int64_t from_ns, to_ns;
  };

  ProcessId process = 0;
  std::int64_t device = -1;
  std::int64_t from_ns = 0, to_ns = 0;  // kEarliest_ns: no work came before; kLatest_ns: none follows
  StringId before = 0;                  // name of the work that ended at from_ns
  const GpuWork* next = nullptr;        // during work(); null: none follows
  std::optional<HostWait> wait;         // in which the host was when the device went idle
  std::array<Part, 5> parts{};
  std::size_t part_count = 0;
  const GarbageCollections* collections = nullptr;  // of the process, during gap(); null: there are none

  // The end of the part of the gap that the wait explains; from_ns if there is none.
  std::int64_t waited_to_ns() const { return wait ? std::min(to_ns, from_ns + (wait->end_ns - wait->start_ns)) : from_ns; }
  // What lies between two moments.
  IdleTimes times(std::int64_t from_ns, std::int64_t to_ns) const;
  // How much of what lies between them the host was late in a garbage collection.
  std::int64_t collecting_ns(std::int64_t from_ns, std::int64_t to_ns) const;
};

class DeviceGaps {
 public:
  static constexpr std::int64_t kLaunching_ns = 30'000;
  // Of a thread so many launches are remembered: those that it made while a device idled and did not begin the first of them.
  static constexpr std::size_t kMostLaunches = 4096;

  explicit DeviceGaps(const Catalog& catalog) : catalog_(catalog), waits_(catalog), names_(catalog.strings) {}

  // As Analysis has them, of all times: calls of CUDA and garbage collections. The wait, if it is one.
  std::optional<HostWait> event(const Event& call, ProcessId process);
  // What came before it, where the device idled; before the first work of a device, and behind the last (rest()), too. `wait`:
  // the copy is one.
  std::optional<DeviceGap> work(const GpuWork& work, std::optional<HostWait>& wait);
  std::vector<DeviceGap> rest(ProcessId process);
  // Frees the process's data. Call it after the process's last event.
  void forget(ProcessId process);
  static KindSet kinds() { return kinds_of({Kind::runtime, Kind::driver, Kind::garbage_collection}); }

 private:
  struct Device {
    std::int64_t busy_end_ns;
    StringId last_name;            // of the work that ends then
    std::vector<HostWait> waits;  // that may hold when it goes idle
  };
  using Devices = std::map<std::pair<ProcessId, std::int64_t>, Device>;

  Devices::iterator first_of(ProcessId process) { return devices_.lower_bound({process, std::numeric_limits<std::int64_t>::min()}); }
  void add(ProcessId process, const HostWait& wait, std::int64_t now_ns);
  static void add(Device& device, const HostWait& wait, std::int64_t now_ns);
  void explain(DeviceGap& gap, const Device* device);
  DeviceGap gap_of(ProcessId process, std::int64_t number, const Device& device, std::int64_t to_ns, const GpuWork* next) const;
  bool launches_on(const LaunchCall& call) const;

  struct Launch {
    std::int64_t start_ns, end_ns;
  };

  const Catalog& catalog_;
  HostWaits waits_;
  NameClasses names_;
  Devices devices_;
  std::unordered_map<TrackId, std::deque<Launch>> launches_;  // of each thread the newest, by start
  std::unordered_map<ProcessId, GarbageCollections> collections_;
};

}  // namespace cli
