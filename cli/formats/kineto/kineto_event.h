// One element of `traceEvents`, picked apart but not yet understood. The views are of the element's text.
//
// The Trace Event Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU ; what
// Kineto writes: libkineto/src/output_json.cpp in github.com/pytorch/kineto.
#pragma once
#include <string_view>
#include <vector>

#include "cli/formats/json/json_values.h"
#include "cli/formats/kineto/kineto_shapes.h"

namespace cli {

struct KinetoEvent {
  std::string_view text;  // of the whole
  JsonScalar ph, cat, name, ts, dur, pid, tid, id, scope, binding;
  bool has_args = false;                             // `args` was an object
  bool odd_args = false;                             // `args` was something else: dropped
  std::string_view args;                             // without its braces and the space around
  std::vector<PlainInteger> integers;                // of args, in their order: its members that are plain integers
  JsonScalar correlation, bytes, device, args_name;  // of args
  JsonScalar bandwidth;                              // of args: of a copy or memset, another number each time, that nobody computes with
};

class KinetoEventParser {
 public:
  // `text` is what JsonStream::next_element handed out: 64 bytes behind it are readable. False when it is not valid
  // JSON; every byte has been checked when it returns true.
  bool parse(std::string_view text, KinetoEvent& event);

 private:
  simdjson::ondemand::parser parser_;
};

}  // namespace cli
