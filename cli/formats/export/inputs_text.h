// The inputs of an operator as JSON, without blanks: a list with an entry for each input. "" where no input has it.
#pragma once
#include <string>

#include "cli/trace/catalog.h"

namespace cli {

struct InputsText {
  InputsText(const Catalog& catalog, OperatorInputId inputs);

  std::string dims, strides;  // [[8,4],[],[[2,3],[4]]]: of a tensor, of a scalar, of a list of tensors
  std::string types, values;  // ["float","Scalar",""]
};

}  // namespace cli
