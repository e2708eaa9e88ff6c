#include "agent/torch/record_function.h"

#include "agent/base/loaded_objects.h"

namespace agent {

TorchFound find_torch(TorchFunctions& functions) noexcept {
  // By its file name as known to the loader, independent of directory and scope.
  ObjectPaths found{};
  objects_named("libtorch_cpu.so", found);
  void* library = found.count > 0 ? handle_of(found.paths[0]) : nullptr;
  if (library == nullptr) return TorchFound::absent;
  const bool whole =
      find_in(library, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", functions.add_callback) &&
      find_in(library, "_ZN2at14removeCallbackEm", functions.remove_callback) &&
      find_in(library, "_ZNK2at14RecordFunction4nameEv", functions.name) &&
      find_in(library, "_ZN2at14RecordFunction15currentThreadIdEv", functions.thread) &&
      find_in(library, "_ZN2at15sequence_number4peekEv", functions.sequence);
  find_in(library, "_ZNK2at14RecordFunction10num_inputsEv", functions.inputs);
  // Defined in libc10, a dependency
  functions.undefined_tensor = symbol_in(library, "_ZN3c1019UndefinedTensorImpl10_singletonE");
  return whole ? TorchFound::found : TorchFound::unfit;
}

namespace {

constexpr std::size_t kThreadAt = 88, kScopeAt = 96;
constexpr std::size_t kSequenceAt[] = {176, 200};
constexpr std::uint32_t kVotes = 3;  // votes for one offset, and none for the other
constexpr std::size_t kInputsAt = 8, kInputCountAt = 16, kNamedInputsAt = 24, kMapBytes = 48,
                      kForwardThreadAt[] = {48, 104};
constexpr std::uint64_t kMostInputs = 1 << 20;
constexpr std::uint32_t kTooMany = 1000;  // operators with a different number of inputs
constexpr std::uint64_t kNoSequence = ~std::uint64_t{0};
constexpr std::uint64_t kHighestThread = std::uint64_t{1} << 31;

// Relative to the sequence number; 0 if unknown so far. Without named inputs there is an empty list of outputs.
std::uint32_t forward_thread_at(const std::byte* sequence, std::uint32_t& known) {
  if (learnt(known) != 0) return learnt(known);
  const std::byte* named = sequence + kNamedInputsAt;
  if (word_at(named) == reinterpret_cast<std::uintptr_t>(named + kMapBytes))
    learn(known, kForwardThreadAt[1]);
  else if (word_at(named) == 0 && word_at(named + 8) == 0)
    learn(known, kForwardThreadAt[0]);
  return learnt(known);
}

void read_forward_thread(const std::byte* at, OperatorCall& call) {
  const std::uint64_t thread = word_at(at);
  if (thread == 0 || thread > kHighestThread) return;
  call.forward_thread = static_cast<std::uint32_t>(thread);
  call.has |= trace::kHasForwardThread;
}

}  // namespace

// Compares both offsets until one is confirmed: in operators numbered by autograd, one of them contains the next
// number. Small numbers occur anywhere, so they prove nothing.
bool RecordFunctionReader::has_sequence(const std::byte* at, std::uint64_t peeked) noexcept {
  constexpr std::uint64_t kTelling = 3;
  if (learnt(sequence_at_) != 0) return true;
  if (peeked <= kTelling) return false;
  const bool first = word_at(at + kSequenceAt[0]) == peeked, second = word_at(at + kSequenceAt[1]) == peeked;
  if (first == second) return false;
  learn(votes_[second ? 1 : 0], learnt(votes_[second ? 1 : 0]) + 1);
  const std::uint32_t for_first = learnt(votes_[0]), for_second = learnt(votes_[1]);
  if (for_first >= kVotes && for_second == 0) learn(sequence_at_, kSequenceAt[0]);
  if (for_second >= kVotes && for_first == 0) learn(sequence_at_, kSequenceAt[1]);
  return learnt(sequence_at_) != 0;
}

RecordFunctionReader::Found RecordFunctionReader::confirm(const TorchFunctions& torch, std::uint64_t thread) noexcept {
  constexpr std::uint32_t kEnough = 3;
  if (thread == 0 || thread > kHighestThread) return Found::wrong;
  if (learnt(confirmed_) >= kEnough) return Found::call;
  if (thread == torch.thread()) {
    learn(confirmed_, learnt(confirmed_) + 1);
    return Found::call;
  }
  learn(unconfirmed_, learnt(unconfirmed_) + 1);
  return learnt(unconfirmed_) > kTooMany ? Found::wrong : Found::unconfirmed;
}

RecordFunctionReader::Found RecordFunctionReader::read(const TorchFunctions& torch, const RecordFunction* function,
                                                       const bool (&scopes)[trace::kOperatorScopes],
                                                       OperatorCall& call) noexcept {
  const auto* at = reinterpret_cast<const std::byte*>(function);
  const std::uint64_t thread = word_at(at + kThreadAt);
  const auto scope = static_cast<std::uint8_t>(at[kScopeAt]);
  if (scope >= trace::kOperatorScopes || !scopes[scope]) return Found::wrong;
  if (const Found found = confirm(torch, thread); found != Found::call) return found;
  call = {};
  call.scope = static_cast<trace::OperatorScope>(scope);
  call.thread = static_cast<std::uint32_t>(thread);
  const bool is_forward = call.scope == trace::OperatorScope::function,
             is_backward = call.scope == trace::OperatorScope::backward_function;
  const std::uint64_t peeked = is_forward ? torch.sequence() : 0;
  if (!(is_forward || is_backward) || !has_sequence(at, peeked)) return Found::call;
  const std::byte* sequence = at + learnt(sequence_at_);
  call.sequence = word_at(sequence);
  if (call.sequence != kNoSequence && (is_backward || call.sequence == peeked)) call.has |= trace::kHasSequence;
  const std::uint32_t forward_thread = forward_thread_at(sequence, forward_thread_at_);
  if (is_backward && forward_thread != 0 && (call.has & trace::kHasSequence) != 0)
    read_forward_thread(sequence + forward_thread, call);
  return Found::call;
}

// Confirms the place by PyTorch's own number of inputs. A single mismatch proves nothing: an operator that is called with a stack of values has more
// inputs than its schema.
bool RecordFunctionReader::is_number_of_inputs(std::uint64_t count, std::uint64_t expected) noexcept {
  constexpr std::uint64_t kTelling = 2;
  constexpr std::uint32_t kEnough = 3;
  if (learnt(agreed_) >= kEnough) return true;
  if (count != expected) {
    learn(agreed_, 0);
    learn(disagreed_, learnt(disagreed_) + 1);
  } else if (count >= kTelling) {
    learn(agreed_, learnt(agreed_) + 1);
  }
  return false;
}

bool RecordFunctionReader::read_inputs(const TorchFunctions& torch, const RecordFunction* function,
                                       OperatorCall& call) noexcept {
  if (torch.inputs == nullptr) return false;
  const bool may_have_inputs =
      call.scope == trace::OperatorScope::function || call.scope == trace::OperatorScope::backward_function;
  if (learnt(sequence_at_) == 0 || !may_have_inputs) return true;
  const std::byte* sequence = reinterpret_cast<const std::byte*>(function) + learnt(sequence_at_);
  const std::uint64_t values = word_at(sequence + kInputsAt), count = word_at(sequence + kInputCountAt);
  if (count > kMostInputs || (count != 0 && (values == 0 || values % alignof(TorchValue) != 0))) return false;
  if (!is_number_of_inputs(count, torch.inputs(function))) return learnt(disagreed_) <= kTooMany;
  call.inputs = reinterpret_cast<const TorchValue*>(values);
  call.input_count = count;
  return true;
}

}  // namespace agent
