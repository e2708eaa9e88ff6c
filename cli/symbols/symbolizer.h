// Functions and lines of native frames, from the files that the code was loaded from, or from what describes them elsewhere: a
// directory given, /usr/lib/debug, or a debuginfod server where DEBUGINFOD_URLS names one. Nothing is run, and only files of the
// recorded build id are believed; of an object without one the file at its path.
//
//   Symbolizer symbols({"/srv/symbols"});
//   for (const SourcePlace& place : symbols.look_up(object, frame.instance)) ...
//   if none: address_text(object.path, frame.instance)
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/symbols/code_file.h"

namespace cli {

struct SourcePlace {
  std::string function;   // demangled
  std::string file;       // as the compiler was told it; "": unknown
  std::int32_t line = 0;  // 0: unknown
  bool is_inlined = false;
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

class Symbolizer {
 public:
  explicit Symbolizer(std::vector<std::string> directories = {});
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // What called from before `address`, which is where the call returns to, less what the object was loaded at: the functions that were
  // inlined there, the innermost first, then the one that they are in. Empty: unknown. Each is looked for once; valid until the
  // Symbolizer ends. One thread at a time.
  const std::vector<SourcePlace>& look_up(const CodeObject& object, std::uint64_t address);

  // Why there are no names of an object, for a line of text; "" where there may be.
  std::string missing(const CodeObject& object);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cli
