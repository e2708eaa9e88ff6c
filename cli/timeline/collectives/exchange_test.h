// How often chance alone would make the same ranks last.
//
// The null model is a run in which every rank is as often late as any other: in a meeting (a collective in which all wait for the last rank)
// the ranks may be exchanged, while the starts stay as they are. A set of ranks costs a meeting what passes from the last start of the other ranks
// to its own last start. This test bounds the probability that the costs of a set of this size sum up to what was seen (Chernoff's bound:
// it holds for any distribution of the starts, so that one huge delay is one draw, however large it is).
// Meetings of one block may share one delay: the bound holds however they depend on each other (Hoelder's inequality). Where the set is late in
// blocks that follow each other more often than in others, a delay is taken to last for up to two of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cli {

class ExchangeTest {
 public:
  // A cost above `most_ns` counts as that.
  explicit ExchangeTest(std::int64_t most_ns) : most_ns_(most_ns) {}

  // A meeting of at least two ranks, `chosen` of them in the set, which cost `cost_ns`. `starts_ns`: descending. Meetings of a block follow each other.
  void add(const std::vector<std::int64_t>& starts_ns, std::size_t chosen, std::int64_t cost_ns, bool ends_block);
  void end_block();

  // Whether the natural logarithm of the probability is `log_limit` at most.
  bool is_beyond(double log_limit) const;

 private:
  // With this probability a meeting costs so much; scaled up by the share that the meeting has of its block.
  struct Outcome {
    double log_probability, cost_ns;
  };
  struct Meeting {
    std::size_t first = 0, count = 0;  // in outcomes_
    double share = 1;                  // of its block
  };

  double log_bound(double per_ns) const;
  double meetings_of_a_delay() const;

  std::int64_t most_ns_;
  std::vector<Outcome> outcomes_;
  std::vector<Meeting> meetings_;
  std::size_t block_ = 0;  // the first meeting of the block that has not ended
  double block_cost_ns_ = 0, cost_ns_ = 0;
  // Of blocks: what they may cost, and what they cost of it.
  struct BlockCost {
    double most_ns, cost_ns;
  };
  std::vector<BlockCost> blocks_;
};

}  // namespace cli
