// What NCCL kernels of a recording carry of the call that launched them. Only what is certain: the kernel is the first
// that was launched within the call, on its thread; or within the end of the group whose only call it is, which is how
// PyTorch calls NCCL. Of several calls in a group it is not known which work their kernels do.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/formats/kineto/kineto_message.h"
#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

class KinetoCollectives {
 public:
  KinetoCollectives(const Catalog& catalog, const Process& process) : catalog_(catalog), groups_(catalog, process) {}

  // Every event of the recording, by time. Of an NCCL kernel the members of args to add, of all else "".
  std::string event(const Event& event, const Facts& facts);

 private:
  static constexpr std::size_t kMostWaiting = 1 << 16;  // launches whose kernel has not come; the oldest are forgotten
  struct Thread {
    std::optional<KinetoMessage> message;  // of the last call; none once a launch has taken it
    std::int64_t end_ns = 0;               // launches until then are those of the call
    std::size_t open_groups = 0;
    std::size_t calls = 0;  // in the outermost open group
  };

  void call(const Event& event, const Facts& facts);
  void range(const Event& event, const Facts& facts);
  void end_group(Thread& thread, std::int64_t end_ns);
  void launch(const Event& api);
  std::string kernel(const Event& event, const Facts& facts);
  std::optional<KinetoMessage> take(std::uint64_t correlation);

  const Catalog& catalog_;
  KinetoGroups groups_;
  std::unordered_map<TrackId, Thread> threads_;
  std::unordered_map<std::uint64_t, KinetoMessage> waiting_;
  std::deque<std::uint64_t> order_;  // of waiting_
};

}  // namespace cli
