// What a computed slice says, in words and as JSON: the same in every format.
#pragma once
#include <string>

#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"

namespace cli {

struct DerivedText {
  std::string name;  // "idle 12.345 us"
  std::string args;  // the body of a JSON object; "": none
};

// Of its process.
DerivedText derived_text(const Derived& slice, const Process& process);

// Of slices: "idle", "communicator 0 default_pg".
std::string derived_track_name(const Derived& slice);

}  // namespace cli
