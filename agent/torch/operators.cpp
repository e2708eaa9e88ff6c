#include "agent/torch/operators.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/life.h"
#include "agent/base/loaded_objects.h"
#include "agent/base/message.h"
#include "agent/python/python_door.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/recorder.h"
#include "agent/torch/operator_inputs.h"

namespace agent {
namespace {

// Has the layout of an object of a class with a virtual destructor.
struct Context {
  const void* functions;
  std::uint32_t next;  // of a free context: 1 + index of the next free one in its part; 0 if it is the last
};

// Enough for many greenlets with nested operators. Unused pages take no memory.
constexpr std::uint32_t kParts = 16, kOfPart = 1 << 14;
constinit Context s_contexts[kParts * kOfPart]{};

// The free contexts of a part.
struct alignas(64) FreeContexts {
  // Low half: the first one, as in Context::next. High half: a change counter, against the ABA problem.
  std::atomic<std::uint64_t> first{0};
  std::atomic<std::uint32_t> used{0};  // contexts handed out at least once
};
constinit FreeContexts s_free[kParts];
constexpr std::uint64_t kOneChange = std::uint64_t{1} << 32;

std::uint64_t changed(std::uint64_t before, std::uint32_t first) {
  return (before / kOneChange + 1) * kOneChange | first;
}

void give_back(void* object) {
  auto* context = static_cast<Context*>(object);
  const std::uint32_t number = number_of_context(context);
  std::atomic<std::uint64_t>& first = s_free[number / kOfPart].first;
  std::uint64_t before = first.load(std::memory_order_relaxed);
  do {
    std::atomic_ref(context->next).store(static_cast<std::uint32_t>(before), std::memory_order_relaxed);
  } while (!first.compare_exchange_weak(before, changed(before, number % kOfPart + 1), std::memory_order_release,
                                        std::memory_order_relaxed));
}

void keep(void*) {}

// The virtual table: offset to top, no typeinfo, destructor, deleting destructor.
struct ContextTable {
  std::ptrdiff_t to_top;
  const void* typeinfo;
  void (*destroy)(void*);
  void (*destroy_and_delete)(void*);
};
constexpr ContextTable kContextTable{0, nullptr, keep, give_back};

// Returns null if all are in use.
Context* take(std::uint32_t part) {
  Context* const contexts = s_contexts + part * kOfPart;
  FreeContexts& free = s_free[part];
  std::uint64_t before = free.first.load(std::memory_order_acquire);
  while (static_cast<std::uint32_t>(before) != 0) {
    Context* context = contexts + static_cast<std::uint32_t>(before) - 1;
    const std::uint32_t next = std::atomic_ref(context->next).load(std::memory_order_relaxed);
    if (free.first.compare_exchange_weak(before, changed(before, next), std::memory_order_acquire,
                                         std::memory_order_acquire))
      return context;
  }
  std::uint32_t used = free.used.load(std::memory_order_relaxed);
  while (used < kOfPart) {
    if (free.used.compare_exchange_weak(used, used + 1, std::memory_order_relaxed)) return contexts + used;
  }
  return nullptr;
}

using trace::TorchLevel;

constinit TorchFunctions s_torch{};
constinit RecordFunctionReader s_reader{};
constinit std::atomic<TorchLevel> s_level{TorchLevel::off};
constinit std::uint64_t s_callback = 0;  // 0 if none
constinit bool s_is_found = false;
constinit std::atomic<bool> s_alone{false};  // a recording may begin with operators alone

// The layouts were verified only on this processor.
#ifdef __x86_64__
constexpr bool kIsTried = true;
#else
constexpr bool kIsTried = false;
#endif

// A few objects may not be ours; if there are more, the layout is unknown.
constexpr std::uint32_t kMostWrong = 3;
constinit std::atomic<std::uint32_t> s_wrong{0};
bool is_given_up() { return s_wrong.load(std::memory_order_relaxed) >= kMostWrong; }

bool is_set_by_hand() {
  const char* value = std::getenv("TRACETOOL_TORCH");
  return value != nullptr && std::strcmp(value, "off") != 0;
}

constexpr bool kRangesOnly[trace::kOperatorScopes] = {false, false, false, false, false, false, false, true};
constexpr bool kOperators[trace::kOperatorScopes] = {true, true, true, false, false, false, false, true};
const bool (&scopes_of(TorchLevel level))[trace::kOperatorScopes] {
  return level == TorchLevel::steps ? kRangesOnly : kOperators;
}

// The text of a notice that is not yet in the recording, or null. The recording may begin after PyTorch was examined.
constinit std::atomic<const char*> s_unknown{nullptr};

constexpr char kUnfit[] = "this PyTorch has no supported operator callbacks: steps and operators are not recorded";
constexpr char kOperatorsUnknown[] =
    "the operator layout of this PyTorch is not supported (2.1 to 2.15 are): steps and operators are not recorded";

void note_unknown(const Guard& guard) {
  if (recording() != Recording::open || s_unknown.load(std::memory_order_relaxed) == nullptr) return;
  if (const char* text = s_unknown.exchange(nullptr)) write_notice(guard, trace::NoticeCode::torch_unknown, 0, text);
}

void give_up() {
  if (s_wrong.fetch_add(1, std::memory_order_relaxed) + 1 != kMostWrong) return;
  s_unknown.store(kOperatorsUnknown);
  say("%s (TRACETOOL_TORCH=off hides this line)", kOperatorsUnknown);
}

// The operator of this thread whose Python stack was read last, while it runs. The Python code that called it does not
// continue, nor do its callers, so operators that it calls without Python in between have the same stack.
struct OpenOperator {
  std::uintptr_t function = 0;  // 0 if none
  std::uint32_t tid = 0;        // a forked child has another
  PythonPosition position;
  HostWriter::Name stack;
};
thread_local constinit OpenOperator t_open __attribute__((tls_model("initial-exec"))){};

// Objects of ranges entered and left by Python are on the heap, because Python continues meanwhile. glibc places a
// thread's control block at the far end of its stack (nptl/allocatestack.c), and that of the first thread below its
// stack.
bool is_on_stack(std::uintptr_t address) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)),
             control_block = static_cast<std::uintptr_t>(pthread_self());
  return address > here && (control_block < here || address < control_block);
}

// Call it before the writer names anything: it may change the block.
std::uint32_t stack_of(const Guard& guard, const RecordFunction* function, HostWriter& writer) {
  PythonStack stack(guard);
  const PythonPosition position = stack.position();
  if (position.frame == nullptr) return trace::kNoRef;
  if (is_on_stack(t_open.function) && t_open.tid == thread_id() && t_open.position == position &&
      writer.has(t_open.stack))
    return t_open.stack.ref;
  stack.read();
  const std::uint32_t ref = stack.write(writer);
  if (writer && ref == trace::kNoRef && stack.size() > 0)
    trace::SharedMemory::add(ring().header->operators_without_stack, 1);
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  if (is_on_stack(address)) t_open = {address, thread_id(), position, writer.kept(ref)};
  return ref;
}

// Returns false if nothing was written.
bool write_begin(const Guard& guard, const RecordFunction* function, std::uint32_t id, const OperatorCall& call,
                 std::string_view inputs, bool has_stack) {
  const char* name = s_torch.name(function);
  if (name == nullptr) {
    give_up();
    return false;
  }
  auto record = trace::make_record<trace::OperatorBeginRecord>();
  record.scope = static_cast<std::uint8_t>(call.scope);
  record.has = call.has;
  record.tid = thread_id();
  record.id = id;
  record.thread = call.thread;
  record.forward_thread = call.forward_thread;
  record.sequence = (call.has & trace::kHasSequence) != 0 ? call.sequence : 0;
  const std::string_view text(name);
  HostWriter writer(guard, trace::OperatorBeginRecord::kKind, sizeof(record), text.size(),
                    inputs.size() + (has_stack ? PythonStack::kMostBytes : 0));
  if (!writer) return false;
  record.stack_ref = has_stack ? stack_of(guard, function, writer) : trace::kNoRef;
  if (!writer) return false;
  record.name_ref = writer.name(text);
  record.inputs_ref = writer.name_of_many(inputs);
  record.time_mono_ns = mono_ns();  // excludes the time of the preceding code
  writer.append(record);
  return true;
}

// By PyTorch's thread number, so that threads do not contend.
struct alignas(64) Count {
  std::atomic<std::uint64_t> begun{0};
};
constexpr std::size_t kCounts = 16;
constinit Count s_begun[kCounts];

// While a level is replaced, an operator may have the callbacks of both levels. Both are called at its begin, and the
// first one records it. This is the last operator begun on this thread, and the callback that recorded it.
thread_local std::uintptr_t t_begun __attribute__((tls_model("initial-exec"))) = 0;

std::uintptr_t mark_of(const RecordFunction* function, unsigned turn) {
  return reinterpret_cast<std::uintptr_t>(function) | turn;
}

// Writes the notice during the call in which inputs were refused, because the program may end before the next one.
void note_refused(const Guard& guard) {
  static constinit std::atomic<bool> s_is_noted{false};
  if (!inputs_are_refused() || s_is_noted.exchange(true, std::memory_order_relaxed)) return;
  s_unknown.store(kInputsUnknown);
  note_unknown(guard);
}

// Callbacks of successive levels are distinguished by their turn.
template <unsigned turn>
OperatorContext on_begin(const RecordFunction* function) {
  const Guard guard;
  if (!guard || is_given_up()) return {};
  const TorchLevel level = s_level.load(std::memory_order_relaxed);
  OperatorCall call;
  const auto found = s_reader.read(s_torch, function, kOperators, call);
  if (found == RecordFunctionReader::Found::wrong) {
    give_up();
    note_unknown(guard);
  }
  if (found != RecordFunctionReader::Found::call) return {};
  // In a process without a GPU the first range or operator begins the recording.
  if (recording() != Recording::open) {
    if (recording() != Recording::off || !s_alone.load(std::memory_order_relaxed) || !begin_recording(guard)) return {};
    note_unknown(guard);
  }
  if (t_begun == mark_of(function, turn ^ 1)) return {};
  s_begun[call.thread % kCounts].begun.fetch_add(1, std::memory_order_relaxed);
  if (has_inputs(level) && !inputs_are_refused() && !s_reader.read_inputs(s_torch, function, call)) refuse_inputs();
  const OperatorInputs inputs(call.inputs, call.input_count);
  if (has_inputs(level)) note_refused(guard);
  const void* context = new_operator_context(call.thread);
  if (context == nullptr) {
    count_lost(trace::OperatorBeginRecord::kKind);
    return {};
  }
  if (write_begin(guard, function, number_of_context(context), call, inputs.bytes(), has_python_stacks(level))) {
    t_begun = mark_of(function, turn);
    return OperatorContext(context);
  }
  free_operator_context(context);
  return {};
}

void on_end(const RecordFunction* function, void* context) {
  if (t_open.function == reinterpret_cast<std::uintptr_t>(function)) t_open.function = 0;
  const Guard guard;
  if (context == nullptr || !guard || recording() != Recording::open) return;
  if ((t_begun & ~std::uintptr_t{1}) == mark_of(function, 0)) t_begun = 0;
  auto record = trace::make_record<trace::OperatorEndRecord>();
  record.time_mono_ns = mono_ns();
  record.tid = thread_id();
  record.id = number_of_context(context);
  HostWriter writer(guard, trace::OperatorEndRecord::kKind, sizeof(record), 0);
  if (writer) writer.append(record);
}

std::uint64_t add_callbacks(TorchLevel level) {
  static constinit bool s_turn = false;
  s_turn = !s_turn;
  OperatorCallback callback{.start = s_turn ? on_begin<1> : on_begin<0>, .end = on_end};
  std::memcpy(callback.scopes, scopes_of(level), sizeof(callback.scopes));
  callback.needs_inputs = has_inputs(level) && !inputs_are_refused();
  return s_torch.add_callback(callback);
}

// Adds the new callbacks first, so that no operator is missed. Operators that are open meanwhile keep the callbacks
// with which they began.
void set_level(TorchLevel level) {
  const std::uint64_t before = s_callback;
  s_level.store(level, std::memory_order_relaxed);
  s_callback = level == TorchLevel::off ? 0 : add_callbacks(level);
  if (before != 0) s_torch.remove_callback(before);
}

// Called before the first operator or allocation if its stack is requested, otherwise when something can be recorded.
void look_for_python() {
  const bool with_stacks = has_python_stacks(settings().torch) || has_allocations(settings().torch);
  if (with_stacks || recording() == Recording::open) watch_python(with_stacks || settings().hang_stacks_s != 0);
}

}  // namespace

const void* new_operator_context(std::uint32_t thread) noexcept {
  Context* context = nullptr;
  for (std::uint32_t i = 0; i < kParts && context == nullptr; ++i) context = take((thread + i) % kParts);
  if (context != nullptr) context->functions = &kContextTable.destroy;
  return context;
}

void free_operator_context(const void* context) noexcept { give_back(const_cast<void*>(context)); }

std::uint32_t number_of_context(const void* context) noexcept {
  return static_cast<std::uint32_t>(static_cast<const Context*>(context) - s_contexts);
}

void watch_torch() noexcept {
  static constinit bool s_done = false;
  if (s_unknown.load(std::memory_order_relaxed) != nullptr) {
    const Guard guard;
    if (guard) note_unknown(guard);
  }
  if (s_is_found) {
    look_for_python();
    // Stops PyTorch from collecting inputs that the agent no longer reads.
    static constinit bool s_collects_inputs = true;
    if (s_collects_inputs && inputs_are_refused()) {
      s_collects_inputs = false;
      set_level(s_level.load(std::memory_order_relaxed));
    }
  }
  if (s_done || settings().torch == TorchLevel::off || !kIsTried) return;
  const TorchFound found = find_torch(s_torch);
  if (found == TorchFound::absent) return;
  s_done = true;
  if (found == TorchFound::unfit) {
    s_unknown.store(kUnfit);
    return say("%s", kUnfit);
  }
  s_alone.store(is_set_by_hand(), std::memory_order_relaxed);
  know_undefined_tensor(s_torch.undefined_tensor);
  look_for_python();
  s_is_found = true;
  set_level(settings().torch);
  say_verbose("PyTorch events are recorded");
}

bool wants_torch_alone() noexcept {
  if (!kIsTried || !is_set_by_hand()) return false;
  // Python, or a program linked with PyTorch.
  ObjectPaths found{};
  objects_named("libtorch_cpu.so", found);
  return found.count > 0 || symbol_in(handle_of(nullptr), "Py_IsInitialized") != nullptr;
}

// watch_torch() writes it.
void note_torch_unknown(const char* text) noexcept { s_unknown.store(text); }

std::uint64_t operators_begun() noexcept {
  std::uint64_t begun = 0;
  for (const Count& each : s_begun) begun += each.begun.load(std::memory_order_relaxed);
  return begun;
}

bool torch_has_operators() noexcept { return s_level.load(std::memory_order_relaxed) > TorchLevel::steps; }

bool torch_has_allocations() noexcept { return has_allocations(s_level.load(std::memory_order_relaxed)); }

void change_torch_level(TorchLevel level) noexcept {
  if (s_is_found && level != s_level.load(std::memory_order_relaxed)) set_level(level);
}

void reduce_torch() noexcept {
  if (torch_has_operators()) change_torch_level(TorchLevel::steps);
}

}  // namespace agent
