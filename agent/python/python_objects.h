// Accesses Python's objects through functions of the limited API (the same in all versions from 3.9 on), found in the
// process. All functions need the GIL, on a thread that may wait for it forever: never in a callback of CUDA or CUPTI.
// No function leaves a Python error set.
#pragma once
#include <cstdint>
#include <string_view>

namespace agent {

// PyMethodDef.
struct PythonMethod {
  const char* name;
  void* (*function)(void* self, void* arguments);
  int flags;
  const char* text;
};

struct PythonObjects {
  int (*is_initialized)();
  int (*gil_ensure)();
  void (*gil_release)(int state);
  void (*keep)(void* object);     // Py_IncRef
  void (*release)(void* object);  // Py_DecRef
  void (*clear_error)();
  void* (*import)(const char* module);                                   // a new reference
  void* (*attribute)(void* object, const char* name);                    // a new reference
  int (*append)(void* list, void* object);                               // 0 on success
  void* (*element)(void* tuple, std::intptr_t at);                       // borrowed
  void* (*value_of)(void* dict, const char* key);                        // borrowed
  int (*next)(void* dict, std::intptr_t* at, void** key, void** value);  // borrowed; returns 0 at the end
  const char* (*text)(void* object, std::intptr_t* size);                // UTF-8, valid as long as the object
  long (*number)(void* object);
  void* (*from_number)(long number);  // a new reference
  // A new reference, passed to the callback when the object is destroyed
  void* (*weak_reference)(void* object, void* callback);
  void* (*occurred)();          // PyErr_Occurred
  void* (*type)(void* object);  // a new reference
  unsigned long (*type_flags)(void* type);
  void* (*function)(PythonMethod* method, void* self, void* module);  // a new reference
  void* (*call)(void* function, ...);  // its arguments, followed by null; a new reference
  void* none;
};

// Returns the minor version x of 3.x with a GIL; 0 if this process has no such Python.
int python_minor() noexcept;
// Returns false if there is no Python, or one without these functions.
bool find_python_objects(PythonObjects& python) noexcept;

// Holds the GIL during its lifetime. Waits for it, possibly forever; if Python ends meanwhile, it ends the calling
// thread.
class PythonLock {
 public:
  explicit PythonLock(const PythonObjects& python) noexcept : python_(python), state_(python.gil_ensure()) {}
  ~PythonLock() { python_.gil_release(state_); }
  PythonLock(PythonLock&&) = delete;

 private:
  const PythonObjects& python_;
  int state_;
};

// Holds a new reference, or null; the error is cleared then.
class PythonReference {
 public:
  PythonReference(const PythonObjects& python, void* object) noexcept : python_(python), object_(object) {
    if (object_ == nullptr) python_.clear_error();
  }
  ~PythonReference() {
    if (object_ != nullptr) python_.release(object_);
  }
  PythonReference(PythonReference&&) = delete;
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void* get() const noexcept { return object_; }

 private:
  const PythonObjects& python_;
  void* object_;
};

// Returns "" if the object is no text.
std::string_view text_of(const PythonObjects& python, void* object) noexcept;
// Returns false if the object is no number, or does not fit.
bool number_of(const PythonObjects& python, void* object, long& number) noexcept;
bool is_dict(const PythonObjects& python, void* object) noexcept;

// Numbers for Python objects (torch.nn.Modules and code objects) that are unique in the process, unlike addresses. The
// callback of a weak reference removes an object from the table before its memory can be reused.

// Returns the object's number, or 0 if it has none. Lock-free, for any thread; a frame of the calling thread must hold
// the object.
std::uint64_t number_of_object(const void* object) noexcept;

// Returns true if the modules below this one were named with it as the outermost module.
bool is_known_root(const void* module) noexcept;

// Changes whenever a numbered object is about to be freed, and is never 0. While it stays the same, numbers read before
// are valid.
std::uint64_t known_objects_proof() noexcept;

// Both need the GIL. number_object() returns the object's number and sets `is_new` if it had none before. It returns 0 if the table is full or
// the object supports no weak references.
std::uint64_t number_object(const PythonObjects& python, void* object, bool& is_new) noexcept;
void know_root(const void* module) noexcept;

}  // namespace agent
