// The sizes of a record by CUPTI's version: newest first, the last row has version 0.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "state.h"

namespace sim {

struct Since {
  std::uint32_t version;  // first with this size, as cuptiGetVersion says it
  std::size_t size;
};

template <std::size_t Count>
std::size_t size_in(const Since (&sizes)[Count]) {
  const auto known = [](const Since& since) { return behaviour().version >= since.version; };
  return std::find_if(std::begin(sizes), std::end(sizes), known)->size;
}

}  // namespace sim
