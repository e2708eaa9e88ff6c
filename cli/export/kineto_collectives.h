// What NCCL kernels of a recording carry of the call that launched them, by Kineto's names (appendCollectiveArgs in
// libkineto's output_json.cpp). Only what is certain: the kernel was launched within the call, on its thread, and is
// the first; of several calls in an explicit group it is not known which work their one kernel does.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/model/catalog.h"
#include "cli/model/event.h"

namespace cli {

class KinetoCollectives {
 public:
  KinetoCollectives(const Catalog& catalog, const Process& process) : catalog_(catalog), process_(process) {}

  // Every event of the recording, by time. Of an NCCL kernel the members of args to add, of all else "".
  std::string event(const Event& event, std::string_view args);

 private:
  static constexpr std::size_t kMostWaiting = 1 << 16;  // launches whose kernel has not come; the oldest are forgotten
  struct Call {
    std::int64_t end_ns = 0;
    std::string args;  // "" once a launch has taken them
  };

  void begin(const Event& call, std::string_view args);
  void launch(const Event& api);
  std::string take(std::uint64_t correlation);
  std::string members(std::string_view name, std::string_view args) const;
  std::int64_t group_size(std::string_view communicator) const;

  const Catalog& catalog_;
  const Process& process_;
  std::unordered_map<TrackId, Call> calls_;  // the last one of each thread
  std::unordered_map<std::uint64_t, std::string> waiting_;
  std::deque<std::uint64_t> order_;  // of waiting_
};

}  // namespace cli
