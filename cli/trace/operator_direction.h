// Which way autograd goes through an operator.
#pragma once
#include "cli/trace/payload.h"

namespace cli {

inline bool is_backward(const OperatorFacts& op) { return (op.has & OperatorFacts::kForwardThread) != 0 && op.forward_thread != 0; }

}  // namespace cli
