// Preloaded: Python is of the version that PYTHON_VERSION_SAID names, as far as one can ask it.
#include <cstdlib>

extern "C" __attribute__((visibility("default"))) const char* Py_GetVersion() {
  return std::getenv("PYTHON_VERSION_SAID");
}
