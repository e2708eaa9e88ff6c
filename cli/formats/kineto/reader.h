// Reads PyTorch's profiler traces (Kineto's Chrome JSON, plain or gzip), and Chrome JSON of other writers: an object
// with `traceEvents`, or an array of events.
//
// One pass in a window of 1 MiB. Only when `baseTimeNanoseconds` is not found before the events and their times are
// too small to be absolute is the file scanned once more, for the members behind the events.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "cli/formats/json/json_stream.h"
#include "cli/formats/kineto/fields.h"
#include "cli/formats/kineto/facts.h"
#include "cli/formats/kineto/forms.h"
#include "cli/formats/kineto/shapes.h"
#include "cli/formats/reading/reader.h"
#include "cli/trace/catalog.h"

namespace cli::kineto {

// What is learnt from the events of one file and helps with those of the next, which is mostly of another rank of the same run:
// forms of events, shapes of their arguments, what these say, and the tables that all of them refer to by number.
//
// The next file's catalogue goes on with these tables, so that every number keeps its meaning. What is read is the same as without:
// entries that only files before it had are in the trace already, as catalogues are joined in the order of their files.
struct Memory {
  // `foreign`: ReaderOptions::foreign.
  Memory(Catalog& catalog, bool foreign);

  const std::unique_ptr<Shapes> own_shapes;  // instead of the catalogue's; null: those are used
  Categories categories;
  ArgumentShapes shapes;
  Forms forms;
  std::unique_ptr<EventFacts> facts;

  // The file was read whole: keeps the tables of its catalogue.
  void end(const Catalog& catalog);
  // For another file: its catalogue, which has no entries so far, gets those tables.
  void go_on_in(Catalog& catalog);
  // Whether it is worth going on with: false where files have little in common, so that tables would grow with each, or where something
  // did not find room in them.
  bool helps() const;

 private:
  Shapes& shapes_of(Catalog& catalog) const { return own_shapes ? *own_shapes : catalog.shapes; }
  std::size_t entries() const { return tables_->strings.size() + (own_shapes ? *own_shapes : tables_->shapes).size(); }

  std::optional<InternedTables> tables_;
  std::size_t entries_of_first_ = 0;  // of the tables, after the first file
};

// Throws Error (cannot_open). What is read is the same on any number of threads. `window`: bytes read at once. `memory` and
// `foreign`: as in ReaderOptions.
std::unique_ptr<Reader> open(const std::string& path, std::size_t window = JsonStream::kWindow,
                                    ReaderMemory* memory = nullptr, bool foreign = true);

}  // namespace cli::kineto
