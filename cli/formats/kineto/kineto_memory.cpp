#include "cli/formats/kineto/kineto_memory.h"

#include <utility>

namespace cli {
namespace {

constexpr std::size_t kMostGrowth = 2, kFreeEntries = 1024;

}  // namespace

KinetoMemory::KinetoMemory(Catalog& catalog, FormsAhead& ahead, bool foreign)
    : own_shapes(foreign ? nullptr : std::make_unique<Shapes>()), categories(catalog.strings), shapes(shapes_of(catalog)), forms(ahead), facts(make_kineto_facts(catalog)) {
  shapes_of(catalog).limit_text(catalog.shapes.most_text_bytes());
}

void KinetoMemory::end(const Catalog& catalog) {
  tables_.emplace(static_cast<const InternedTables&>(catalog));
  if (entries_of_first_ == 0) entries_of_first_ = entries();
}

void KinetoMemory::go_on_in(Catalog& catalog, FormsAhead& ahead) {
  const std::size_t most_text_bytes = catalog.shapes.most_text_bytes();
  static_cast<InternedTables&>(catalog) = std::move(*tables_);
  tables_.reset();
  catalog.shapes.limit_text(most_text_bytes);
  shapes_of(catalog).limit_text(most_text_bytes);
  categories.go_on_in(catalog.strings);
  shapes.go_on_in(shapes_of(catalog));
  forms.go_on_in(ahead, shapes_of(catalog));
  facts->go_on_in(catalog);
}

bool KinetoMemory::helps() const {
  return tables_ && entries() <= kMostGrowth * entries_of_first_ + kFreeEntries && forms.has_room() && !facts->is_exhausted();
}

}  // namespace cli
