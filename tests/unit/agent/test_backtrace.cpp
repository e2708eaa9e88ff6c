#include <unistd.h>
#include <unwind.h>

#include <vector>

#include "agent/native/backtrace.h"
#include "agent/native/native_stacks.h"
#include "tests/unit/catch.h"

namespace {

using Addresses = std::vector<const void*>;

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* addresses) {
  static_cast<Addresses*>(addresses)->push_back(reinterpret_cast<const void*>(_Unwind_GetIP(context)));
  return _URC_NO_REASON;
}

struct Both {
  Addresses ours, libgcc;
};

__attribute__((noinline)) Both both_at(int depth) {
  if (depth > 0) {
    Both both = both_at(depth - 1);
    both.ours.push_back(nullptr);  // something is left to do behind the call
    both.ours.pop_back();
    return both;
  }
  Both both;
  both.ours.resize(200);
  both.ours.resize(agent::backtrace_here(both.ours.data(), both.ours.size()));
  _Unwind_Backtrace(add_frame, &both.libgcc);
  return both;
}

// libgcc may end with 0; where both are called the two differ by what calls them.
std::size_t same_from_outside(const Both& both) {
  Addresses libgcc = both.libgcc;
  while (!libgcc.empty() && libgcc.back() == nullptr) libgcc.pop_back();
  std::size_t same = 0;
  while (same < both.ours.size() && same < libgcc.size() &&
         both.ours.rbegin()[static_cast<std::ptrdiff_t>(same)] == libgcc.rbegin()[static_cast<std::ptrdiff_t>(same)])
    ++same;
  return same;
}

}  // namespace

TEST_CASE("native stacks: addresses are those that libgcc finds") {
  if (!agent::prepare_backtraces()) return;
  std::size_t before = 0;
  for (const int depth : {1, 20, 60}) {
    for (int round = 0; round < 3; ++round) {
      const Both both = both_at(depth);
      const std::size_t same = same_from_outside(both);
      CHECK(same > static_cast<std::size_t>(depth));
      CHECK(same + 4 > both.ours.size());
      CHECK(same + 4 > both.libgcc.size());
      if (round == 1) agent::forget_unloaded_code();
      before = same;
    }
  }
  CHECK(before > 60);
}

TEST_CASE("native stacks: an address is in the object that the loader put there") {
  static agent::LoadedCodes codes;
  codes.refresh(agent::loader_counts());
  const agent::LoadedCode* own = codes.find(reinterpret_cast<const void*>(&same_from_outside));
  const agent::LoadedCode* libc =
      codes.find(reinterpret_cast<const void*>(&::getppid));  // no sanitizer has one of its own
  REQUIRE((own != nullptr && libc != nullptr));
  CHECK(own->number != libc->number);
  CHECK(std::string_view(libc->path).find("libc") != std::string_view::npos);
  const std::uint32_t number = own->number;
  codes.refresh({});
  own = codes.find(reinterpret_cast<const void*>(&same_from_outside));
  REQUIRE(own != nullptr);
  CHECK(own->number == number);
  int on_stack = 0;
  CHECK(codes.find(&on_stack) == nullptr);
  CHECK(codes.find(nullptr) == nullptr);
}
