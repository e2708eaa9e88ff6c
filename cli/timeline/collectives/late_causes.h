// Why a rank is late in the collectives of a group: what its GPU did differently from those of the others.
//
// Ranks that meet again and again take the same time from one meeting to another. So where one of them waits less in a group,
// it has spent that time otherwise (gpu_ledger.h): computing, copying, waiting for its host to launch something (where launches
// are not known, doing nothing), or in collectives of other groups. The
// account that has most more than the others' (their median) is the cause, unless it is less than a third of the time that the
// others were in collectives of the group, and no compute ran, longer than this rank. (This time, and not the sum of what it
// was late: where collectives overlap with compute, one delay makes a rank late in several of them.)
// Compute is more because the same kernels take longer, or because there are more of them, or larger ones: a kernel is the same
// when name and launch are. Losses of records that befall all ranks alike do not change this.
//
// Of a rank that is in several groups, and so may be late because it waited elsewhere, a part explains it only where it is no noise:
// what neighbours that are not late differ by in all groups of the trace. (The others of its own
// group would be too few: three of them may be alike by chance.)
// Time in collectives of other groups is the cause only if none of the rank's own accounts explains it: a rank that is late by itself may wait elsewhere, too.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/timeline/collectives/match.h"

namespace cli {

enum class LateCause : std::uint8_t { host, slow_kernels, more_work, copy, other_collective, unknown, none };
inline constexpr std::size_t kLateParts = 5;  // the first ones: those that are accounts

// "slow_kernels"; "" of none.
std::string_view cause_name(LateCause cause);

struct LateReason {
  LateCause cause = LateCause::none;
  bool proven = false;       // it is late by itself: something explains it, or it waits in no other group
  std::uint32_t group = 0;   // in MatchedCollectives::groups: where it is latest
  std::int64_t late_ns = 0;  // in this group
  std::array<std::int64_t, kLateParts> more_ns{};  // by cause: than the median of the others; negative: less
  std::int64_t idle_ns = 0;                        // the same, of the time in which nothing ran
  bool knows_launches = false;  // the host's part is what passed before its launches; else all of idle_ns
  // Of slow_kernels, more_work and copy: the work that has most of it. Of the others' the medians.
  WorkSum work;
  std::int64_t others_count = 0;
  double others_mean_ns = 0;
  std::uint32_t waited_in = 0;  // of other_collective: the group in which it was longest
};

// Of ranks of a trace, one by one. Keeps a pointer to each chosen call; `calls` and `matched` outlive it.
class LateReasons {
 public:
  // `chosen`: indices in matched.collectives. `late`: by ProcessId, the ranks that are late; the others are what a late rank is compared with, if
  // any of them is in its group.
  LateReasons(const CollectiveCalls& calls, const MatchedCollectives& matched, const std::vector<std::uint32_t>& chosen, std::vector<bool> late);
  ~LateReasons();

  // `late_ns` of the rank in the group.
  LateReason of(ProcessId rank, std::uint32_t group, std::int64_t late_ns);

 private:
  struct Pair;
  struct Known;
  void find_pairs();
  double noise_ns(LateCause cause);
  std::uint32_t longest_elsewhere(ProcessId rank, std::uint32_t group) const;

  std::unique_ptr<Known> known_;
};

}  // namespace cli
