// Finds functions and lines of native frames. Sources are the file that the code was loaded from or its debug
// information: in a given directory, in /usr/lib/debug, or on a debuginfod server if DEBUGINFOD_URLS is set. No code is
// run. Only files with the recorded build id are used; an object without a build id uses the file at its path.
//
//   Symbolizer symbols({"/srv/symbols"});
//   for (const SourcePlace& place : symbols.look_up(object, frame.instance)) ...
//   if none: address_text(object.path, frame.instance)
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/symbols/code_file.h"

namespace cli {

struct SourcePlace {
  std::string function;   // demangled
  std::string file;       // as passed to the compiler; "" if unknown
  std::int32_t line = 0;  // 0 if unknown
  bool is_inlined = false;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

class Symbolizer {
 public:
  explicit Symbolizer(std::vector<std::string> directories = {});
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Returns the source places of a call. `address` is its return address minus the load address of the object. The
  // innermost inlined function comes first, then its callers up to the containing function. Empty if unknown. Results
  // are cached and valid as long as the Symbolizer. One thread at a time.
  const std::vector<SourcePlace>& look_up(const CodeObject& object, std::uint64_t address);

  // Returns why an object has no names, as text; "" if it may have names.
  std::string missing(const CodeObject& object);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cli
