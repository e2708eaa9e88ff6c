// JSON and texts shared by all formats: derived slices, losses, and inputs of operators.
#pragma once
#include <string>

#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"

namespace cli {

// The text of a derived slice, in words and as JSON; equal in every format.
struct DerivedText {
  std::string name;  // "idle 12.345 us"
  std::string args;  // the body of a JSON object; may be empty
};

// `process` is that of the slice.
DerivedText derived_text(const Derived& slice, const Process& process);

// Returns the track name of derived slices: "idle", "communicator 0 default_pg".
std::string derived_track_name(const Derived& slice);

// Data missing from a recording (cli/trace/losses.h), as JSON.

// Returns members of a JSON object, each preceded by a comma: ,"overwritten":{"kernel":12345},"lost":{...}; "" if
// nothing is missing.
std::string loss_json(const Process& process);
// Return the two parts of it.
std::string overwritten_json(const Process& process);
std::string unrecorded_json(const Process& process);

// The inputs of an operator as JSON without white space: a list with an entry for each input. "" if no input has the
// property.
struct InputsText {
  InputsText(const Catalog& catalog, OperatorInputId inputs);

  std::string dims, strides;  // [[8,4],[],[[2,3],[4]]]: of a tensor, a scalar, a list of tensors
  std::string types, values;  // ["float","Scalar",""]
};

}  // namespace cli
