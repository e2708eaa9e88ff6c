// What analyses compute with, from the arguments of Kineto's events: once for each shape where it is constant in it, else
// from the event's integers. Only here stand the keys of these arguments.
//
// Where a kernel does not say the number of its collective, but its operator does, it gets that one: events come as they stand in
// the file, where operators are before kernels.
//
// Source of the members: libkineto/src/output_json.cpp and CuptiActivity.cpp, torch/csrc/profiler/collection.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>

#include "cli/trace/catalog.h"

namespace cli::kineto {

class EventFacts {
 public:
  virtual ~EventFacts() = default;
  // With another file's catalogue, which has what was interned so far by the same ids.
  virtual void go_on_in(Catalog& catalog) = 0;
  // Something was left unknown because there was too much before it.
  virtual bool is_exhausted() const = 0;
  // The payload of an event, none where its arguments say nothing; lives until the next call. `text` is that of the shape,
  // or the event's own where `shape` is null. What does not fit the payload's field is left unknown.
  virtual Facts find(const Event& event, std::string_view text, const Shape* shape, const std::int64_t* integers) = 0;
};

std::unique_ptr<EventFacts> make_facts(Catalog& catalog);

}  // namespace cli::kineto
