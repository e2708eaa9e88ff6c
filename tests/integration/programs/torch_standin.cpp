// A stand-in for libtorch_cpu.so: PyTorch's observers of operators, with the objects that they are shown laid out as in the version
// that TORCH_LAYOUT names (2.1, 2.5, 2.9, 2.15), or shifted as in none; with TORCH_MOVED the inputs alone are as in none. Programs enter and leave operators by the C functions below.
// The layouts were compiled from the headers of these versions: ATen/record_function.h, ATen/core/ivalue.h, c10/core/TensorImpl.h.
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

struct Layout {
  const char* version;
  std::size_t thread, scope, sequence, forward_thread, named_inputs;  // named_inputs: 0: there are none
  std::size_t sizes;                                                  // of a tensor
  std::size_t list;                                                   // of a list's values
  std::uint32_t boolean;                                              // tag
};
constexpr Layout kLayouts[] = {
    {"2.1", 88, 96, 176, 224, 0, 72, 24, 9},          {"2.5", 88, 96, 176, 280, 200, 64, 24, 9},
    {"2.9", 88, 96, 200, 304, 224, 64, 16, 10},       {"2.15", 88, 96, 200, 304, 224, 56, 16, 10},
    {"shifted", 104, 112, 216, 320, 240, 80, 16, 11},
};
const Layout& layout() {
  static const Layout& chosen = [&]() -> const Layout& {
    const char* version = std::getenv("TORCH_LAYOUT");
    for (const Layout& each : kLayouts) {
      if (version != nullptr && std::strcmp(version, each.version) == 0) return each;
    }
    return kLayouts[3];
  }();
  return chosen;
}

bool is_moved(const char* what) {
  static const char* const moved = std::getenv("TORCH_MOVED");
  return moved != nullptr && std::strcmp(moved, what) == 0;
}

// An address that looks like an object's, and cannot be read.
std::byte* nowhere() {
  static auto* const page = static_cast<std::byte*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  return page + 64;
}

template <typename T>
void put(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

}  // namespace

#define TORCH_API __attribute__((visibility("default")))

namespace at {

struct TORCH_API RecordFunction {
  const char* name() const;
  std::size_t num_inputs() const;
  static std::uint64_t currentThreadId();
};

struct ObserverContext {
  virtual ~ObserverContext() = default;
};

class RecordFunctionCallback {
 public:
  std::unique_ptr<ObserverContext> (*start)(const RecordFunction&);
  void (*end)(const RecordFunction&, ObserverContext*);
  double sampling_probability;
  bool scopes[10];
  bool needs_inputs, needs_outputs, needs_ids;
};
static_assert(sizeof(RecordFunctionCallback) == 40);

TORCH_API std::uint64_t addGlobalCallback(RecordFunctionCallback callback);
TORCH_API void removeCallback(std::uint64_t handle);

namespace sequence_number {
TORCH_API std::uint64_t peek();
}

}  // namespace at

namespace {

struct Entry {
  std::uint64_t handle;
  at::RecordFunctionCallback callback;
};
std::mutex s_mutex;
std::vector<Entry>& s_callbacks = *new std::vector<Entry>;  // for threads that go on when the process ends
std::uint64_t s_handles = 0;
std::atomic<std::uint64_t> s_threads{0};
thread_local std::uint64_t t_sequence = 0;

// An object of PyTorch's: bytes, and garbage where nothing is put.
struct Object {
  explicit Object(std::size_t size) : bytes(size, std::byte{0xa5}) {}
  std::vector<std::byte> bytes;
  std::byte* at(std::size_t offset) { return bytes.data() + offset; }
};

struct Open {
  Open() { std::memset(function, 0xa5, sizeof(function)); }
  alignas(16) std::byte function[512];
  std::string name;
  std::size_t input_count = 0;
  std::vector<std::byte> values;  // 16 bytes each
  std::deque<Object> objects;
  std::vector<std::pair<Entry, std::unique_ptr<at::ObserverContext>>> started;
};

}  // namespace

std::uint64_t at::RecordFunction::currentThreadId() {
  thread_local std::uint64_t t_thread = ++s_threads;
  return t_thread;
}
std::uint64_t at::sequence_number::peek() { return t_sequence; }

const char* at::RecordFunction::name() const {
  const auto* open = reinterpret_cast<Open* const*>(reinterpret_cast<const std::byte*>(this) + 504);
  return (*open)->name.c_str();
}

std::size_t at::RecordFunction::num_inputs() const {
  const auto* open = reinterpret_cast<Open* const*>(reinterpret_cast<const std::byte*>(this) + 504);
  return (*open)->input_count;
}

std::uint64_t at::addGlobalCallback(RecordFunctionCallback callback) {
  const std::lock_guard lock(s_mutex);
  s_callbacks.push_back({++s_handles, callback});
  return s_handles;
}

void at::removeCallback(std::uint64_t handle) {
  const std::lock_guard lock(s_mutex);
  std::erase_if(s_callbacks, [&](const Entry& each) { return each.handle == handle; });
}

// What a program says of an input; the same kinds as in a recording.
struct Input {
  std::int32_t kind, type;
  std::int64_t count;
  const std::int64_t* numbers;  // sizes and strides, or the values of a list
  double real;
  const Input* elements;
};

namespace {

std::uint64_t tensor(Open& open, const Input& input) {
  Object& object = open.objects.emplace_back(Object(256));
  std::byte* sizes = object.at(layout().sizes);
  put<std::uint64_t>(sizes, static_cast<std::uint64_t>(input.count));
  std::byte* numbers = sizes + 8;
  const std::size_t room = input.count <= 5 ? 5 : static_cast<std::size_t>(input.count);
  if (input.count > 5) {
    numbers = open.objects.emplace_back(Object(16 * room)).at(0);
    put(sizes + 8, numbers);
  }
  std::int64_t elements = 1;
  for (std::int64_t i = 0; i < input.count; ++i) {
    put(numbers + 8 * i, input.numbers[i]);
    put(numbers + 8 * (room + static_cast<std::size_t>(i)), input.numbers[input.count + i]);
    elements *= input.numbers[i];
  }
  put(sizes + 96, elements);
  put(sizes + 104, static_cast<std::uint16_t>(input.type));
  return reinterpret_cast<std::uintptr_t>(sizes - layout().sizes);
}

void put_value(Open& open, std::byte* at, const Input& input);

std::uint64_t list(Open& open, const Input& input) {
  std::byte* values = open.objects.emplace_back(Object(16 * static_cast<std::size_t>(input.count) + 16)).at(0);
  for (std::int64_t i = 0; i < input.count; ++i) {
    if (input.elements != nullptr) {
      put_value(open, values + 16 * i, input.elements[i]);
    } else {
      put<std::int64_t>(values + 16 * i, input.numbers[i]);
      put<std::uint32_t>(values + 16 * i + 8, 5);
    }
  }
  std::byte* object = open.objects.emplace_back(Object(64)).at(0);
  put<std::uint64_t>(object + 8, 1);
  if (layout().list == 24) put<std::uint64_t>(object + 16, 1);  // a count of weak references
  put(object + layout().list, values);
  put(object + layout().list + 8, values + 16 * input.count);
  put(object + layout().list + 16, values + 16 * input.count);
  return reinterpret_cast<std::uintptr_t>(object);
}

void put_value(Open& open, std::byte* at, const Input& input) {
  std::uint64_t payload = 0xa5a5a5a5a5a5a5a5;
  std::uint32_t tag = 0;
  switch (input.kind) {
    case 1:
      payload = is_moved("tensors") ? reinterpret_cast<std::uintptr_t>(nowhere()) : tensor(open, input), tag = 1;
      break;
    case 2:
    case 6:
      payload = is_moved("lists") ? reinterpret_cast<std::uintptr_t>(nowhere()) : list(open, input),
      tag = layout().boolean + 4;
      break;
    case 3:
      std::memcpy(&payload, input.numbers, 8), tag = 5;
      break;
    case 4:
      std::memcpy(&payload, &input.real, 8), tag = 3;
      break;
    case 5:
      payload = (payload & ~std::uint64_t{0xff}) | static_cast<std::uint64_t>(input.count), tag = layout().boolean;
      break;
    case 7:
      payload = reinterpret_cast<std::uintptr_t>(open.objects.emplace_back(Object(64)).at(0)),
      tag = layout().boolean + 2;
      break;
    default:
      break;
  }
  put(at, payload);
  put(at + 8, is_moved("tags") ? 0xa5a5a5a5 : tag);
}

void put_inputs(Open& open, std::byte* at) {
  const std::uint64_t count = open.values.size() / 16;
  const auto values = reinterpret_cast<std::uintptr_t>(is_moved("away") ? nowhere() : open.values.data());
  if (is_moved("behind")) {  // another pointer
    put(at, open.function);
    put(at + 8, values);
    put(at + 16, count);
  } else {
    put(at, is_moved("exchanged") ? count : values);
    put(at + 8, is_moved("exchanged") ? values : is_moved("count") ? count + 1 : count);
  }
}

void lay_out(Open& open, int scope, std::int64_t sequence, std::uint64_t forward_thread) {
  std::byte* const function = open.function;
  put(function + layout().thread, at::RecordFunction::currentThreadId());
  put(function + layout().scope, static_cast<std::uint8_t>(scope));
  put(function + layout().sequence, sequence);
  put_inputs(open, function + layout().sequence + 8);
  if (layout().named_inputs != 0) put(function + layout().named_inputs, function + layout().named_inputs + 48);
  for (std::size_t at = layout().forward_thread - 24; at < layout().forward_thread; at += 8)
    put<std::uint64_t>(function + at, 0);  // outputs
  put(function + layout().forward_thread, forward_thread);
  put(function + 504, &open);
}

// `sequence`: -1: autograd does not number it; -2: it gets the number that comes next, and uses it up.
void begin(Open& open, const char* name, int scope, std::int64_t sequence, std::uint64_t forward_thread,
           const Input* inputs, int count) {
  open.name = name;
  std::vector<Entry> callbacks;
  {
    const std::lock_guard lock(s_mutex);
    callbacks = s_callbacks;
  }
  std::erase_if(callbacks, [&](const Entry& each) { return !each.callback.scopes[scope]; });
  bool needs_inputs = false;
  for (const Entry& each : callbacks) needs_inputs = needs_inputs || each.callback.needs_inputs;
  if (needs_inputs) {
    open.input_count = static_cast<std::size_t>(count);
    open.values.resize(16 * open.input_count);
    for (int i = 0; i < count; ++i) put_value(open, open.values.data() + 16 * i, inputs[i]);
  }
  lay_out(open, scope, sequence == -2 ? static_cast<std::int64_t>(t_sequence) : sequence, forward_thread);
  const auto& function = *reinterpret_cast<const at::RecordFunction*>(open.function);
  for (const Entry& each : callbacks) open.started.push_back({each, each.callback.start(function)});
  if (sequence == -2) ++t_sequence;
}

void end(Open& open) {
  const auto& function = *reinterpret_cast<const at::RecordFunction*>(open.function);
  for (auto& [entry, context] : open.started) entry.callback.end(function, context.get());
}

std::int64_t mono_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace

// An operator or range that Python enters and leaves: it lies on the heap.
extern "C" TORCH_API Open* standin_enter(const char* name, int scope, std::int64_t sequence,
                                         std::uint64_t forward_thread, const Input* inputs, int count) {
  auto* open = new Open;
  begin(*open, name, scope, sequence, forward_thread, inputs, count);
  return open;
}

extern "C" TORCH_API void standin_leave(Open* open) {
  end(*open);
  delete open;
}

// An operator that lies on the stack, as those that PyTorch's dispatcher calls.
struct Call {
  const char* name;
  int inside;                // how many of those that follow are called by it, those that they call included
  void (*python)();          // called by it before these; null: none
  std::int64_t times_ns[4];  // before and after its begin, and its end
};

// Calls the first one; how many calls that were.
extern "C" TORCH_API int standin_call(Call* calls) {
  Open open;
  calls->times_ns[0] = mono_ns();
  begin(open, calls->name, 0, -1, 0, nullptr, 0);
  calls->times_ns[1] = mono_ns();
  if (calls->python != nullptr) calls->python();
  int count = 1;
  while (count <= calls->inside) count += standin_call(calls + count);
  calls->times_ns[2] = mono_ns();
  end(open);
  calls->times_ns[3] = mono_ns();
  return count;
}

extern "C" TORCH_API int standin_callbacks() {
  const std::lock_guard lock(s_mutex);
  return static_cast<int>(s_callbacks.size());
}
extern "C" TORCH_API std::uint64_t standin_thread() { return at::RecordFunction::currentThreadId(); }
extern "C" TORCH_API std::uint64_t standin_sequence() { return t_sequence; }
