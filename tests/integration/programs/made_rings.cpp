// Writes a recording again, from the events that are read from it (tests/unit/cli/formats/reading/made_rings.h).
//
//   made_rings KINDS FROM.ring TO.ring     KINDS: of events, as in "sync,overhead"; they are left out
#include "tests/unit/cli/formats/reading/made_rings.h"

#include <cstdio>
#include <exception>

#include "cli/formats/ring/reader.h"
#include "cli/trace/event.h"

namespace {

bool names(std::string_view list, std::string_view kind) {
  const std::string inside = ',' + std::string(list) + ',';
  return inside.find(',' + std::string(kind) + ',') != std::string::npos;
}

void write_again(std::string_view kinds, const std::string& from, const std::string& to) {
  cli::Catalog catalog;
  cli::KeptEvents events;
  cli::ring::open_ring(from)->read(catalog, events);
  std::erase_if(events.all, [&](const auto& each) { return names(kinds, cli::info(each.first.kind).name); });
  cli::write_rings(catalog, events.all, [&](cli::ProcessId) { return to; });
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 1;
  try {
    write_again(words[1], words[2], words[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", words[2], error.what());
    return 3;
  }
}
