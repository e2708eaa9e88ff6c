#include "cli/formats/ring/translator.h"

#include <array>

#include "cli/trace/event.h"
#include "common/record.h"

namespace cli::ring {

namespace {

constexpr Kind kind_named(std::string_view name) {
  for (const KindInfo& info : kKinds) {
    if (info.name == name) return info.kind;
  }
  return Kind::count_;
}

constexpr auto kEventKinds = [] {
  std::array<Kind, 256> kinds{};
  kinds.fill(Kind::count_);
  trace::for_each_record([&]<typename R>(R*) {
    if constexpr (requires { R::kCountsAs; }) {
      static_assert(kind_named(R::kCountsAs) != Kind::count_, "a record counts as a nonexistent kind of event");
      kinds[static_cast<std::size_t>(R::kKind)] = kind_named(R::kCountsAs);
    }
  });
  return kinds;
}();

}  // namespace

Kind event_kind(std::uint8_t record_kind) { return kEventKinds[record_kind]; }

}  // namespace cli::ring
