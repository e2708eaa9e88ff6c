// Explains why a rank is late in the collectives of a group: what its GPU did differently from the GPUs of the other
// ranks.
//
// Ranks that meet repeatedly take the same time from one meeting to the next. A rank that waits less in a group has
// spent that time otherwise (gpu_ledger.h): computing, copying, waiting for a launch by its host (idle, if launches are
// unknown), or in collectives of other groups. The cause is the account with the largest excess over the others'
// median, unless the excess is less than a third of the additional time that the others spent in collectives of the
// group without compute. (That time is used instead of the sum of lateness because one delay makes a rank late in
// several collectives if they overlap with compute.) Compute takes longer because the same kernels are slower, or
// because there are more or larger kernels; kernels are the same if name and launch are equal. Lost records that affect
// all ranks alike do not change the result.
//
// A rank in several groups may be late because it waited in another group. For such a rank, an account counts only if
// its excess is above the noise: the differences between neighbouring ranks that are not late, over all groups of the
// trace. (Its own group is too small a sample: three ranks may be alike by chance.) Time in collectives of other groups
// is the cause only if no account of the rank explains the lateness, because a rank that is late by itself may also
// wait elsewhere.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "cli/timeline/collectives/match.h"

namespace cli {

enum class LateCause : std::uint8_t { host, slow_kernels, more_work, copy, other_collective, unknown, none };
inline constexpr std::size_t kLateParts = 5;  // the first causes, which correspond to accounts

// Returns a name such as "slow_kernels"; "" for none.
std::string_view cause_name(LateCause cause);

struct LateReason {
  LateCause cause = LateCause::none;
  bool proven = false;       // late by itself: an account explains it, or it waits in no other group
  std::uint32_t group = 0;   // in MatchedCollectives::groups: the group in which it is latest
  std::int64_t late_ns = 0;  // in this group
  std::array<std::int64_t, kLateParts> more_ns{};  // by cause: excess over the median of the others; may be negative
  std::int64_t idle_ns = 0;                        // excess of idle time over the median of the others
  bool knows_launches = false;  // host's account is the time before its launches; otherwise all of idle_ns
  // For slow_kernels, more_work and copy: the work with the largest part of the excess. The values of the others are
  // medians.
  WorkSum work;
  std::int64_t others_count = 0;
  double others_mean_ns = 0;
  std::uint32_t waited_in = 0;  // for other_collective: the group in which it was longest
};

// The calls of one rank in the collectives of a group, null if it has none; equally many for each rank.
using LateRow = std::vector<const CollectiveCall*>;
using LateRows = std::map<ProcessId, LateRow>;

// Finds the reasons for ranks of a trace, one by one. Keeps a pointer to each chosen call; `calls` and `matched` have
// to outlive it.
class LateReasons {
 public:
  // `chosen` contains indices in matched.collectives. `late`, by ProcessId, marks the late ranks. A late rank is
  // compared with the others, if its group has any.
  LateReasons(const CollectiveCalls& calls, const MatchedCollectives& matched, const std::vector<std::uint32_t>& chosen,
              std::vector<bool> late);

  // Returns the reason why the rank is late by `late_ns` in the group.
  LateReason of(ProcessId rank, std::uint32_t group, std::int64_t late_ns);

 private:
  // Two ranks that meet, and the excess of the first.
  struct Pair {
    ProcessId one = 0, other = 0;
    std::array<std::int64_t, kLateParts> more;
  };
  void find_pairs();
  double noise_ns(LateCause cause);
  std::uint32_t longest_elsewhere(ProcessId rank, std::uint32_t group) const;

  const CollectiveCalls& calls_;
  std::vector<LateRows> rows_;  // by group
  std::vector<Pair> pairs_;
  std::vector<bool> late_;  // their pairs are not used as noise
};

}  // namespace cli
