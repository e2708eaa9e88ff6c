#include "cli/timeline/select/launch_table.h"

namespace cli {

std::size_t LaunchTable::Hash::operator()(const Key& key) const {
  std::uint64_t hash = (key.high ^ std::uint64_t{key.process} << 40) * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(hash ^ hash >> 29);
}

void LaunchTable::note(ProcessId process, std::uint64_t correlation, bool in_step, bool kept) {
  Bits& bits = runs_[{correlation / 64, process}];
  const std::uint64_t bit = std::uint64_t{1} << correlation % 64;
  bits.known |= bit;
  if (in_step) bits.in_step |= bit;
  if (kept) bits.kept |= bit;
}

LaunchTable::Launch LaunchTable::find(ProcessId process, std::uint64_t correlation) const {
  const auto run = runs_.find({correlation / 64, process});
  if (run == runs_.end()) return {};
  const auto has = [&](std::uint64_t bits) { return (bits >> correlation % 64 & 1) != 0; };
  return {has(run->second.known), has(run->second.in_step), has(run->second.kept)};
}

}  // namespace cli
