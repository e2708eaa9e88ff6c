#include "cli/read/kineto_memory.h"

#include <utility>

namespace cli {
namespace {

constexpr std::size_t kMostGrowth = 2, kFreeEntries = 1024;

std::size_t entries_of(const InternedTables& tables) { return tables.strings.size() + tables.shapes.size(); }

}  // namespace

KinetoMemory::KinetoMemory(Catalog& catalog, FormsAhead& ahead)
    : categories(catalog.strings), shapes(catalog.shapes), forms(ahead), facts(make_kineto_facts(catalog)) {}

void KinetoMemory::end(const Catalog& catalog) {
  tables_.emplace(static_cast<const InternedTables&>(catalog));
  if (entries_of_first_ == 0) entries_of_first_ = entries_of(*tables_);
}

void KinetoMemory::go_on_in(Catalog& catalog, FormsAhead& ahead) {
  const std::size_t most_text_bytes = catalog.shapes.most_text_bytes();
  static_cast<InternedTables&>(catalog) = std::move(*tables_);
  tables_.reset();
  catalog.shapes.limit_text(most_text_bytes);
  categories.go_on_in(catalog.strings);
  shapes.go_on_in(catalog.shapes);
  forms.go_on_in(ahead, catalog.shapes);
  facts->go_on_in(catalog);
}

bool KinetoMemory::helps() const {
  return tables_ && entries_of(*tables_) <= kMostGrowth * entries_of_first_ + kFreeEntries && forms.has_room() && !facts->is_exhausted();
}

}  // namespace cli
