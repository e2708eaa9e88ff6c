// Reads the members of an at::RecordFunction by offsets. PyTorch guarantees none of them, so each is confirmed by the
// results of PyTorch's own functions at run time, and unconfirmed members are not read:
//
//   88   the thread, as in RecordFunction::currentThreadId(). In asynchronous ranges, which are created on one thread
//        and begun on another (gloo's), it is that of another thread; these are read after some calls have confirmed
//        the offset
//   96   the scope: one that was requested
//   176  the sequence number if std::string has the old ABI (wheels up to 2.6), 200 if it has the new one. In a forward
//        operator it is -1, or the result of sequence_number::peek(). It is followed by pointer and size of the inputs,
//        at 8 and 16; the size is the result of RecordFunction::num_inputs().
//   the thread of the forward operator: 48 after the sequence number, or, if a map of named inputs precedes it (2.4 and
//        later, at 24), 104. An empty map begins with a pointer to the last of its own words.
// Source: ATen/record_function.h of PyTorch 2.1, 2.5, 2.9 and 2.15.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/records/operators.h"

namespace agent {

// Helpers for reading the members of another library's objects and for sharing learnt offsets between threads. Races
// are harmless, because a thread that reads an old value only uses fewer offsets.
inline std::uint64_t word_at(const std::byte* at) noexcept {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

inline std::uint32_t learnt(const std::uint32_t& shared) noexcept { return __atomic_load_n(&shared, __ATOMIC_RELAXED); }
inline void learn(std::uint32_t& shared, std::uint32_t value) noexcept {
  __atomic_store_n(&shared, value, __ATOMIC_RELAXED);
}

// PyTorch's observers of operators (ATen/record_function.h) as loaded in the process: found by name, without linking.
// Source: PyTorch 2.1 to 2.15; names and the layout of a callback are the same in all of them.

// at::RecordFunction: one call of an operator. record_function.h reads its members.
struct RecordFunction;

// std::unique_ptr<at::ObserverContext>, which our begin callback returns and which our end callback of the same
// operator receives. PyTorch deletes it through its virtual destructor.
class OperatorContext {
 public:
  OperatorContext() noexcept = default;  // no context: the begin was not recorded
  // Ownership is passed to PyTorch (operators.h).
  explicit OperatorContext(const void* context) noexcept : context_(context) {}
  OperatorContext(const OperatorContext&) = delete;
  OperatorContext& operator=(const OperatorContext&) = delete;
  ~OperatorContext() {}

 private:
  [[maybe_unused]] const void* context_ = nullptr;
};
static_assert(sizeof(OperatorContext) == sizeof(void*));

// at::RecordFunctionCallback.
struct OperatorCallback {
  OperatorContext (*start)(const RecordFunction*) = nullptr;
  void (*end)(const RecordFunction*, void* context) = nullptr;
  double sampling_probability = 1.0;
  bool scopes[10] = {};  // by trace::OperatorScope
  bool needs_inputs = false, needs_outputs = false, needs_ids = false;
};
static_assert(sizeof(OperatorCallback) == 40);

struct TorchFunctions {
  std::uint64_t (*add_callback)(OperatorCallback);  // at::addGlobalCallback: a handle, never 0
  void (*remove_callback)(std::uint64_t handle);    // at::removeCallback
  const char* (*name)(const RecordFunction*);       // at::RecordFunction::name
  std::uint64_t (*thread)();                        // at::RecordFunction::currentThreadId: from 1 on
  std::uint64_t (*sequence)();                      // at::sequence_number::peek, of this thread
  std::uint64_t (*inputs)(const RecordFunction*);   // at::RecordFunction::num_inputs; null if not found
  const void* undefined_tensor;                     // c10::UndefinedTensorImpl::_singleton; null if not found
};

enum class TorchFound { absent, found, unfit };  // unfit: loaded, but lacks one of the functions

// For any thread; takes the loader's lock. The library found stays loaded.
TorchFound find_torch(TorchFunctions& functions) noexcept;

// c10::IValue. Tags of 6 and more differ between versions.
struct TorchValue {
  std::uint64_t payload;
  std::uint32_t tag;
  std::uint32_t unused;
};
static_assert(sizeof(TorchValue) == 16);

struct OperatorCall {
  trace::OperatorScope scope;
  std::uint8_t has;  // trace::OperatorHas
  std::uint32_t thread;
  std::uint32_t forward_thread;
  std::uint64_t sequence;
  const TorchValue* inputs;  // null if unknown or not read; valid during the callback
  std::size_t input_count;
};

class RecordFunctionReader {
 public:
  enum class Found : std::uint8_t { call, unconfirmed, wrong };

  // Reads the call at `function`, in its start callback. `scopes` are the requested ones. Returns `unconfirmed` if it
  // may be a call, but no call has confirmed the offsets so far; `wrong` if it differs from the description above. For
  // any thread.
  Found read(const TorchFunctions& torch, const RecordFunction* function, const bool (&scopes)[trace::kOperatorScopes],
             OperatorCall& call) noexcept;

  // Sets the inputs of a call found by read(), once enough operators have confirmed their offset. Does not check the
  // pointers. Returns false if the layout differs from the description above, or if PyTorch has no function to compare
  // with.
  bool read_inputs(const TorchFunctions& torch, const RecordFunction* function, OperatorCall& call) noexcept;

 private:
  Found confirm(const TorchFunctions& torch, std::uint64_t thread) noexcept;
  bool has_sequence(const std::byte* at, std::uint64_t peeked) noexcept;
  bool is_number_of_inputs(std::uint64_t count, std::uint64_t expected) noexcept;

  // Shared by all threads; a race loses a vote.
  std::uint32_t sequence_at_ = 0;                  // 0 if not confirmed yet
  std::uint32_t forward_thread_at_ = 0;            // relative to it; 0 if not confirmed yet
  std::uint32_t votes_[2] = {};                    // for 176, for 200
  std::uint32_t confirmed_ = 0, unconfirmed_ = 0;  // calls of this thread, of another one
  // Operators with equal numbers of inputs, consecutive; with different ones, in total
  std::uint32_t agreed_ = 0, disagreed_ = 0;
};

}  // namespace agent
