#include "cli/show/export/export_job.h"

namespace cli {

namespace {

void hide(Process& process) {
  process.counts = process.overwritten = process.lost = {};
  process.lost_unknown_kind = 0;
  process.recorder.stacks_left_out = process.recorder.operators_without_stack = process.recorder.module_names_missed = 0;
  process.first_ns = process.last_ns = 0;
  process.notices.clear();
}

}  // namespace

// Strings get their ids in the order in which they come.
Catalog chosen_catalog(const Catalog& catalog, const std::vector<bool>& shown) {
  Catalog copy;
  for (StringId id = 0; id < catalog.strings.size(); ++id) copy.strings.intern(catalog.strings[id]);
  copy.launches = catalog.launches;
  copy.captures = catalog.captures;
  copy.processes = catalog.processes;
  copy.tracks = catalog.tracks;
  for (std::size_t id = 0; id < shown.size(); ++id) {
    if (!shown[id]) hide(copy.processes[id]);
  }
  return copy;
}

}  // namespace cli
