#include "agent/python/python_objects.h"

#include <atomic>
#include <charconv>
#include <cstring>

#include "agent/base/loaded_objects.h"
#include "common/hash.h"

namespace agent {

int python_minor() noexcept {
  void* process = handle_of(nullptr);
  const char* (*get_version)() = nullptr;
  if (process == nullptr || !find_in(process, "Py_GetVersion", get_version)) return 0;
  const char* version = get_version();
  int minor = 0;
  if (version == nullptr || std::strncmp(version, "3.", 2) != 0) return 0;
  const auto number = std::from_chars(version + 2, version + std::strlen(version), minor);
  const bool has_gil = std::strstr(version, "free-threading") == nullptr;
  return number.ec == std::errc() && has_gil ? minor : 0;
}

bool find_python_objects(PythonObjects& python) noexcept {
  constexpr int kFirstMinor = 9;
  if (python_minor() < kFirstMinor) return false;
  void* process = handle_of(nullptr);
  return find_in(process, "Py_IsInitialized", python.is_initialized) &&
         find_in(process, "PyGILState_Ensure", python.gil_ensure) &&
         find_in(process, "PyGILState_Release", python.gil_release) && find_in(process, "Py_IncRef", python.keep) &&
         find_in(process, "Py_DecRef", python.release) && find_in(process, "PyErr_Clear", python.clear_error) &&
         find_in(process, "PyImport_ImportModule", python.import) &&
         find_in(process, "PyObject_GetAttrString", python.attribute) &&
         find_in(process, "PyList_Append", python.append) && find_in(process, "PyTuple_GetItem", python.element) &&
         find_in(process, "PyDict_GetItemString", python.value_of) && find_in(process, "PyDict_Next", python.next) &&
         find_in(process, "PyUnicode_AsUTF8AndSize", python.text) && find_in(process, "PyLong_AsLong", python.number) &&
         find_in(process, "PyLong_FromLong", python.from_number) &&
         find_in(process, "PyWeakref_NewRef", python.weak_reference) &&
         find_in(process, "PyErr_Occurred", python.occurred) && find_in(process, "PyObject_Type", python.type) &&
         find_in(process, "PyType_GetFlags", python.type_flags) &&
         find_in(process, "PyCFunction_NewEx", python.function) &&
         find_in(process, "PyObject_CallFunctionObjArgs", python.call) &&
         (python.none = symbol_in(process, "_Py_NoneStruct")) != nullptr;
}

std::string_view text_of(const PythonObjects& python, void* object) noexcept {
  std::intptr_t size = 0;
  const char* text = object != nullptr ? python.text(object, &size) : nullptr;
  if (text != nullptr) return {text, static_cast<std::size_t>(size)};
  python.clear_error();
  return {};
}

bool number_of(const PythonObjects& python, void* object, long& number) noexcept {
  if (object == nullptr) return false;
  number = python.number(object);
  if (number != -1 || python.occurred() == nullptr) return true;
  python.clear_error();
  return false;
}

bool is_dict(const PythonObjects& python, void* object) noexcept {
  constexpr unsigned long kDictSubclass = 1ul << 29;  // Py_TPFLAGS_DICT_SUBCLASS
  const PythonReference type(python, object != nullptr ? python.type(object) : nullptr);
  return type && (python.type_flags(type.get()) & kDictSubclass) != 0;
}

namespace {

// Written under the GIL: `object` is set last and cleared first.
struct KnownObject {
  std::atomic<const void*> object;  // null if free
  std::atomic<std::uint64_t> number;
  std::atomic<bool> is_root;
};

constexpr std::size_t kObjectPlaces = 1 << 17, kObjectTries = 16;
constinit KnownObject s_known_objects[kObjectPlaces]{};
constinit std::atomic<std::uint64_t> s_last_number{0};
constinit std::atomic<std::uint64_t> s_proof{1};

std::size_t place_of(const void* object, std::size_t attempt) {
  return (trace::hash_bytes(&object, sizeof(object), 5) + attempt) % kObjectPlaces;
}

// Returns null if the object is not in the table.
KnownObject* find_known(const void* object) {
  for (std::size_t i = 0; i < kObjectTries; ++i) {
    KnownObject& known = s_known_objects[place_of(object, i)];
    if (known.object.load(std::memory_order_acquire) == object) return &known;
  }
  return nullptr;
}

// Callback of a weak reference, called before its object is freed. `place` is the object's index in the table.
void* forget_object(void* place, void* reference);
PythonMethod s_forget_object{"tracetool_forget_object", forget_object, 0x8 /* METH_O */, nullptr};
constinit const PythonObjects* s_objects = nullptr;

void* forget_object(void* place, void* reference) {
  long at = 0;
  s_proof.fetch_add(1, std::memory_order_release);
  if (number_of(*s_objects, place, at)) s_known_objects[at].object.store(nullptr, std::memory_order_release);
  s_objects->release(reference);  // the agent's own reference; Python does not use it after this call
  s_objects->keep(s_objects->none);
  return s_objects->none;
}

// Makes the weak reference. Returns false if the object supports none.
bool watch_object(const PythonObjects& python, void* object, std::size_t at) {
  s_objects = &python;
  const PythonReference number(python, python.from_number(static_cast<long>(at)));
  if (!number) return false;
  const PythonReference forget(python, python.function(&s_forget_object, number.get(), nullptr));
  if (!forget) return false;
  void* reference = python.weak_reference(object, forget.get());  // released by forget_object()
  if (reference == nullptr) python.clear_error();
  return reference != nullptr;
}

}  // namespace

std::uint64_t number_of_object(const void* object) noexcept {
  const KnownObject* known = find_known(object);
  return known != nullptr ? known->number.load(std::memory_order_relaxed) : 0;
}

std::uint64_t known_objects_proof() noexcept { return s_proof.load(std::memory_order_acquire); }

bool is_known_root(const void* module) noexcept {
  const KnownObject* known = find_known(module);
  return known != nullptr && known->is_root.load(std::memory_order_relaxed);
}

std::uint64_t number_object(const PythonObjects& python, void* object, bool& is_new) noexcept {
  const std::uint64_t number = number_of_object(object);
  is_new = number == 0;
  if (!is_new) return number;
  for (std::size_t i = 0; i < kObjectTries; ++i) {
    const std::size_t at = place_of(object, i);
    KnownObject& known = s_known_objects[at];
    if (known.object.load(std::memory_order_relaxed) != nullptr) continue;
    if (!watch_object(python, object, at)) return 0;
    known.is_root.store(false, std::memory_order_relaxed);
    known.number.store(s_last_number.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    known.object.store(object, std::memory_order_release);
    return known.number.load(std::memory_order_relaxed);
  }
  return 0;
}

void know_root(const void* module) noexcept {
  if (KnownObject* known = find_known(module)) known->is_root.store(true, std::memory_order_relaxed);
}

}  // namespace agent
