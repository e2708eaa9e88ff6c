#include "agent/python/python_objects.h"

#include <charconv>
#include <cstring>

#include "agent/base/loaded_objects.h"

namespace agent {
namespace {

template <typename Function>
bool find_function(void* process, const char* name, Function& function) {
  function = reinterpret_cast<Function>(symbol_in(process, name));
  return function != nullptr;
}

}  // namespace

int python_minor() noexcept {
  void* process = handle_of(nullptr);
  const char* (*get_version)() = nullptr;
  if (process == nullptr || !find_function(process, "Py_GetVersion", get_version)) return 0;
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
  return find_function(process, "Py_IsInitialized", python.is_initialized) && find_function(process, "PyGILState_Ensure", python.gil_ensure) &&
         find_function(process, "PyGILState_Release", python.gil_release) && find_function(process, "Py_IncRef", python.keep) &&
         find_function(process, "Py_DecRef", python.release) && find_function(process, "PyErr_Clear", python.clear_error) &&
         find_function(process, "PyImport_ImportModule", python.import) && find_function(process, "PyObject_GetAttrString", python.attribute) &&
         find_function(process, "PyList_Append", python.append) && find_function(process, "PyTuple_GetItem", python.element) &&
         find_function(process, "PyDict_GetItemString", python.value_of) && find_function(process, "PyDict_Next", python.next) &&
         find_function(process, "PyUnicode_AsUTF8AndSize", python.text) && find_function(process, "PyLong_AsLong", python.number) &&
         find_function(process, "PyLong_FromLong", python.from_number) && find_function(process, "PyWeakref_NewRef", python.weak_reference) &&
         find_function(process, "PyErr_Occurred", python.occurred) && find_function(process, "PyObject_Type", python.type) &&
         find_function(process, "PyType_GetFlags", python.type_flags) && find_function(process, "PyCFunction_NewEx", python.function) &&
         find_function(process, "PyObject_CallFunctionObjArgs", python.call) &&
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

}  // namespace agent
