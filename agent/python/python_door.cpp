#include "agent/python/python_door.h"

#include "agent/base/message.h"
#include "agent/python/garbage_collections.h"
#include "agent/python/python_objects.h"
#include "agent/python/python_stacks.h"
#include "agent/ring/worker.h"

namespace agent {
namespace {

constinit PythonObjects s_door_objects{};
constinit Worker s_door{};
constinit bool s_wants_stacks = false;

void run_door() {
  if (s_door_objects.is_initialized() == 0) return;
  const PythonLock lock(s_door_objects);
  if (!watch_garbage_collections(s_door_objects)) say_verbose("runs of Python's garbage collector are not recorded");
  if (s_wants_stacks) check_python_stacks();
}

}  // namespace

void watch_python(bool stacks) noexcept {
  static constinit bool s_done = false;
  if (s_done || !find_python_objects(s_door_objects)) return;
  s_done = true;
  s_wants_stacks = stacks && find_python_stacks();
  if (!s_door.start("tracetool-py", run_door)) say("cannot start a thread: what needs Python's lock is not recorded");
}

}  // namespace agent
