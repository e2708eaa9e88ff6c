#include <random>

#include "cli/answers/compare/comparison.h"
#include "tests/unit/catch.h"

using namespace cli;
using namespace cli::comparison;

namespace {

using Sequence = std::vector<std::uint32_t>;

// By the table of all prefixes.
std::size_t longest_common(const Sequence& a, const Sequence& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j)
      best[i][j] = a[i - 1] == b[j - 1] ? best[i - 1][j - 1] + 1 : std::max(best[i - 1][j], best[i][j - 1]);
  }
  return best[a.size()][b.size()];
}

// What `a` becomes by the changes, in their order; what lies between them has to be the same in both.
Sequence applied(const Sequence& a, const Sequence& b, const std::vector<SequenceChange>& changes) {
  Sequence out;
  std::size_t at = 0;
  for (const SequenceChange& change : changes) {
    while (at < change.at_a) out.push_back(a[at++]);
    CHECK(out.size() == change.at_b);
    for (std::size_t i = 0; i < change.count_b; ++i) out.push_back(b[change.at_b + i]);
    at += change.count_a;
  }
  while (at < a.size()) out.push_back(a[at++]);
  return out;
}

}  // namespace

TEST_CASE("alignment: what is removed, added and replaced, in its place", "[compare]") {
  const Sequence a{1, 2, 3, 4, 5, 6};
  using Changes = std::vector<SequenceChange>;
  CHECK(*align_sequences(a, a) == Changes{});
  CHECK(*align_sequences(a, Sequence{1, 2, 5, 6}) == Changes{{2, 2, 2, 0}});
  CHECK(*align_sequences(a, Sequence{1, 2, 9, 3, 4, 5, 6}) == Changes{{2, 0, 2, 1}});
  CHECK(*align_sequences(a, Sequence{1, 9, 5, 6}) == Changes{{1, 3, 1, 1}});
  CHECK(*align_sequences(a, Sequence{}) == Changes{{0, 6, 0, 0}});
  CHECK(*align_sequences(Sequence{}, a) == Changes{{0, 0, 0, 6}});
  CHECK(*align_sequences(Sequence{7, 1, 2, 3, 8}, Sequence{1, 2, 3}) == Changes{{0, 1, 0, 0}, {4, 1, 3, 0}});
}

TEST_CASE("alignment: as few changes as a table of all prefixes finds", "[compare]") {
  std::mt19937 random(5);
  for (int i = 0; i < 400; ++i) {
    const std::uint32_t words = 2 + random() % 5;
    Sequence a(random() % 30), b(random() % 30);
    for (auto* sequence : {&a, &b}) {
      for (std::uint32_t& each : *sequence) each = random() % words;
    }
    const auto changes = align_sequences(a, b);
    REQUIRE(changes);
    std::size_t edits = 0;
    for (std::size_t k = 0; k < changes->size(); ++k) {
      const SequenceChange& change = (*changes)[k];
      edits += change.count_a + change.count_b;
      if (k > 0)
        CHECK((*changes)[k - 1].at_a + (*changes)[k - 1].count_a < change.at_a);  // something is the same between two
    }
    CHECK(edits == a.size() + b.size() - 2 * longest_common(a, b));
    CHECK(applied(a, b, *changes) == b);
  }
}

TEST_CASE("alignment: sequences of too many differences are not aligned", "[compare]") {
  const Sequence a(20, 1), b(20, 2);
  CHECK_FALSE(align_sequences(a, b, 39));
  CHECK(align_sequences(a, b, 40)->size() == 1);
}
