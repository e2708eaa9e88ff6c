// Which output of a layout (pieces.h) an event belongs to, while the trace is walked.
#pragma once
#include <cstddef>
#include <cstdint>

#include "cli/export/parts/pieces.h"

namespace cli {

class Router {
 public:
  Router(const Catalog& catalog, const Layout& layout) : catalog_(catalog), layout_(layout) {}

  ProcessId process(const Event& event) const { return catalog_.tracks[event.track].process; }
  std::size_t output(ProcessId process) const { return by_process() ? layout_.piece_of[process] : now_; }
  bool by_process() const { return !layout_.piece_of.empty(); }

  // The border that lies between the outputs so far and `ns`, if there is one; cross() goes behind it.
  const std::int64_t* border(std::int64_t ns) const {
    return now_ < layout_.borders.size() && layout_.borders[now_] <= ns ? &layout_.borders[now_] : nullptr;
  }
  void cross() { ++now_; }

 private:
  const Catalog& catalog_;
  const Layout& layout_;
  std::size_t now_ = 0;
};

}  // namespace cli
