// Where bytes go: a file, stdout, a compressor on top of either.
#pragma once
#include <string_view>

namespace cli {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Takes all of `bytes`. Throws Error (cannot_open) when the target cannot take them.
  virtual void write(std::string_view bytes) = 0;

  // Ends the output: what was written is complete and in place, also in the sinks below. Call once, last; without it
  // the output is dropped.
  virtual void finish() = 0;
};

}  // namespace cli
