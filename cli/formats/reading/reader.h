// A source of events. Opening reads only what is needed to say whose trace it is; read() streams every event once.
// A new input format is one file with a function of the type Probe and one line in kFormats (input_formats.cpp).
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace cli {

class Reader {
 public:
  virtual ~Reader() = default;

  // Streams all events into `sink`, registering processes, tracks and strings in `catalog` before the event that uses
  // them; when it returns, the Process entries hold counts, losses, first and last time, state and notes.
  // Throws Error (bad content: file, byte offset, what was expected, what to do). Memory: bounded by the catalogue
  // and a window, never by the number of events. Call once.
  virtual void read(Catalog& catalog, EventSink& sink) = 0;
};

namespace kineto {
struct Memory;
}

// What readers learn from one input for the next. Inputs that are read one after the other, into a catalogue each, may share one where these
// are joined in the same order; what is read is then the same as without.
struct ReaderMemory {
  ReaderMemory();
  ~ReaderMemory();
  std::unique_ptr<kineto::Memory> kineto_memory;  // null: nothing was learnt
};

struct ReaderOptions {
  // How many may work for it at once, with the one that reads; events and errors are the same on any number, and come on that one.
  std::size_t threads = 1;
  ReaderMemory* memory = nullptr;  // null: none is shared
  bool foreign = true;  // false: nobody looks at foreign arguments, whose shapes then need not be in the catalogue
};

// Opens a file by its content (ring, merged, JSON, gzip of JSON), not by its name. Throws Error.
std::unique_ptr<Reader> open_trace(const std::string& path, const ReaderOptions& options = {});

}  // namespace cli
