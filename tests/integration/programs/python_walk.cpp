// The agent's walk over Python frames (agent/python), for a Python that loads this by ctypes: as it stands there, with the GIL or without.
#include <cstdio>
#include <cstring>

#include "agent/python/python_frames.h"

namespace {

agent::PythonFunctions s_python;

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

// The minor version, or 0.
EXPORTED int walk_begin() { return agent::find_python(s_python) ? s_python.minor : 0; }

// "function\tfile\tline\n" for each frame of this thread, the innermost first; how many. -1: one has no plain name.
EXPORTED int walk(char* text, std::size_t size) {
  agent::PythonPlace places[512];
  const std::size_t count = agent::python_places(s_python, places, 512);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    agent::PythonNames names;
    if (!agent::names_of(s_python, places[i], names)) return -1;
    at += static_cast<std::size_t>(std::snprintf(text + at, size - at, "%.*s\t%.*s\t%d\n",
                                                 static_cast<int>(names.function.size()), names.function.data(),
                                                 static_cast<int>(names.file.size()), names.file.data(), names.line));
  }
  return static_cast<int>(count);
}

// Under the GIL: frames compared, or -1 where they are not those of the C API.
EXPORTED int walk_check() {
  std::size_t compared = 0;
  return agent::check_python_frames(s_python, compared) ? static_cast<int>(compared) : -1;
}
