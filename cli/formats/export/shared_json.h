// JSON and words that all formats share: computed slices, losses, and inputs of operators.
#pragma once
#include <string>

#include "cli/trace/catalog.h"
#include "cli/trace/derived.h"

namespace cli {

// What a computed slice says, in words and as JSON: the same in every format.
struct DerivedText {
  std::string name;  // "idle 12.345 us"
  std::string args;  // the body of a JSON object; "": none
};

// Of its process.
DerivedText derived_text(const Derived& slice, const Process& process);

// Of slices: "idle", "communicator 0 default_pg".
std::string derived_track_name(const Derived& slice);

// What a recording does not hold (cli/trace/losses.h), as JSON.

// Members of a JSON object, each with a comma before it: ,"overwritten":{"kernel":12345},"lost":{...}; "" for none.
std::string loss_json(const Process& process);
// Its parts.
std::string overwritten_json(const Process& process);
std::string unrecorded_json(const Process& process);

// The inputs of an operator as JSON, without blanks: a list with an entry for each input. "" where no input has it.
struct InputsText {
  InputsText(const Catalog& catalog, OperatorInputId inputs);

  std::string dims, strides;  // [[8,4],[],[[2,3],[4]]]: of a tensor, of a scalar, of a list of tensors
  std::string types, values;  // ["float","Scalar",""]
};

}  // namespace cli
