// Records of what there is: devices, contexts, streams, memory.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "records.h"

namespace sim {

// As long as this version of CUPTI writes it.
template <typename Record>
void store(std::byte* at, const Record& record) {
  std::memcpy(at, &record, std::min(sizeof(record), record_size(record.kind)));
}

void fill_device(std::byte* at, const Note& note);
void fill_context(std::byte* at, const Note& note);
void fill_stream(std::byte* at, const Note& note);
void fill_memory(std::byte* at, const Note& note);
void fill_pool(std::byte* at, const Note& note);

}  // namespace sim
