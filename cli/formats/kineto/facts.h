// Extracts the data used by analyses from the arguments of Kineto's events: once per shape if it is constant in the
// shape, otherwise from the integers of the event. The keys of these arguments are defined only here.
//
// A kernel without the sequence number of its collective gets that of its operator, if it has one. Operators precede
// kernels in the file.
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
  // Continues with the catalogue of another file, which contains everything interned so far with the same ids.
  virtual void go_on_in(Catalog& catalog) = 0;
  // Returns true if a value is unknown because a table was full.
  virtual bool is_exhausted() const = 0;
  // Returns the payload of an event, or none if its arguments contain no known data. Valid until the next call. `text`
  // is that of the shape, or that of the event if `shape` is null. A value that does not fit its field remains unknown.
  virtual Facts find(const Event& event, std::string_view text, const Shape* shape, const std::int64_t* integers) = 0;
};

std::unique_ptr<EventFacts> make_facts(Catalog& catalog);

}  // namespace cli::kineto
