#include "agent/torch/record_function.h"

#include <cstring>

namespace agent {
namespace {

constexpr std::size_t kThreadAt = 88, kScopeAt = 96;
constexpr std::size_t kSequenceAt[] = {176, 200};
constexpr std::uint32_t kVotes = 3;  // for one, and none for the other
constexpr std::size_t kInputsAt = 8, kInputCountAt = 16, kNamedInputsAt = 48, kForwardThreadAt[] = {48, 104};
constexpr std::size_t kMostInputs = 1024;
constexpr std::uint64_t kNoSequence = ~std::uint64_t{0};
constexpr std::uint64_t kMostThreads = std::uint64_t{1} << 31;

std::uint64_t word(const std::byte* at) {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// Races between threads are harmless: whoever reads an old value reads less.
std::uint32_t load(const std::uint32_t& shared) { return __atomic_load_n(&shared, __ATOMIC_RELAXED); }
void store(std::uint32_t& shared, std::uint32_t value) { __atomic_store_n(&shared, value, __ATOMIC_RELAXED); }

void read_inputs(const std::byte* sequence, OperatorCall& call) {
  const std::uint64_t values = word(sequence + kInputsAt), count = word(sequence + kInputCountAt);
  if (values == 0 || values % alignof(TorchValue) != 0 || count > kMostInputs) return;
  call.inputs = reinterpret_cast<const TorchValue*>(values);
  call.input_count = count;
}

void read_forward_thread(const std::byte* sequence, OperatorCall& call) {
  const std::byte* named = sequence + kNamedInputsAt;
  const bool has_map = word(named) == reinterpret_cast<std::uintptr_t>(named + kNamedInputsAt);
  const std::uint64_t thread = word(sequence + kForwardThreadAt[has_map ? 1 : 0]);
  if (thread == 0 || thread > kMostThreads) return;
  call.forward_thread = static_cast<std::uint32_t>(thread);
  call.has |= trace::kHasForwardThread;
}

}  // namespace

// Looks at both places until one is known: in operators that autograd numbers one of them has the number that comes next. Small
// numbers stand anywhere, so they prove nothing.
bool RecordFunctionReader::has_sequence(const std::byte* at, std::uint64_t peeked) noexcept {
  constexpr std::uint64_t kTelling = 3;
  if (load(sequence_at_) != 0) return true;
  if (peeked <= kTelling) return false;
  const bool first = word(at + kSequenceAt[0]) == peeked, second = word(at + kSequenceAt[1]) == peeked;
  if (first == second) return false;
  store(votes_[second ? 1 : 0], load(votes_[second ? 1 : 0]) + 1);
  const std::uint32_t for_first = load(votes_[0]), for_second = load(votes_[1]);
  if (for_first >= kVotes && for_second == 0) store(sequence_at_, kSequenceAt[0]);
  if (for_second >= kVotes && for_first == 0) store(sequence_at_, kSequenceAt[1]);
  return load(sequence_at_) != 0;
}

bool RecordFunctionReader::read(const TorchFunctions& torch, const RecordFunction* function, const bool (&scopes)[trace::kOperatorScopes],
                                OperatorCall& call) noexcept {
  const auto* at = reinterpret_cast<const std::byte*>(function);
  const std::uint64_t thread = word(at + kThreadAt);
  const auto scope = static_cast<std::uint8_t>(at[kScopeAt]);
  if (thread != torch.thread() || scope >= trace::kOperatorScopes || !scopes[scope]) return false;
  call = {};
  call.scope = static_cast<trace::OperatorScope>(scope);
  call.thread = static_cast<std::uint32_t>(thread);
  const bool is_forward = call.scope == trace::OperatorScope::function, is_backward = call.scope == trace::OperatorScope::backward_function;
  const std::uint64_t peeked = is_forward ? torch.sequence() : 0;
  if (!(is_forward || is_backward) || !has_sequence(at, peeked)) return true;
  const std::byte* sequence = at + load(sequence_at_);
  call.sequence = word(sequence);
  if (call.sequence != kNoSequence && (is_backward || call.sequence == peeked)) call.has |= trace::kHasSequence;
  if (is_backward) read_forward_thread(sequence, call);
  read_inputs(sequence, call);
  return true;
}

}  // namespace agent
