#include "cli/read/kineto_category.h"

#include <array>
#include <utility>

namespace cli {
namespace {

enum class Place { stream, thread, any };

struct Row {
  std::string_view text;
  Kind kind;
  Place place;
};

constexpr std::array kRows{
    Row{"kernel", Kind::kernel, Place::stream},
    Row{"Kernel", Kind::kernel, Place::stream},
    Row{"gpu_memcpy", Kind::memcpy, Place::stream},
    Row{"Memcpy", Kind::memcpy, Place::stream},
    Row{"gpu_memset", Kind::memset, Place::stream},
    Row{"Memset", Kind::memset, Place::stream},
    Row{"cuda_runtime", Kind::runtime, Place::thread},
    Row{"Runtime", Kind::runtime, Place::thread},
    Row{"cuda_driver", Kind::driver, Place::thread},
    Row{"nvtx", Kind::nvtx, Place::thread},
    Row{"nccl", Kind::nccl, Place::thread},
    Row{"cuda_sync", Kind::sync, Place::stream},
    Row{"cuda_event", Kind::cuda_event, Place::stream},
    Row{"overhead", Kind::overhead, Place::thread},
    Row{"cuda_graph", Kind::graph, Place::stream},
    Row{"notice", Kind::notice, Place::any},
    Row{"cpu_op", Kind::cpu_op, Place::thread},
    Row{"Operator", Kind::cpu_op, Place::thread},
    Row{"user_annotation", Kind::user_annotation, Place::thread},
    Row{"gpu_user_annotation", Kind::gpu_annotation, Place::stream},
    Row{"python_function", Kind::python_function, Place::thread},
    Row{"cpu_instant_event", Kind::other, Place::thread},
};

// "async" is the word of 2020, before "async_cpu_to_gpu" and "ac2g".
bool is_launch_flow(std::string_view text) { return text == "ac2g" || text == "async_cpu_to_gpu" || text == "async"; }

}  // namespace

const KinetoCategory& KinetoCategories::find(std::string_view text) {
  for (const KinetoCategory* last : last_) {
    if (last != nullptr && last->text == text) return *last;
  }
  auto at = rows_.find(text);
  if (at == rows_.end()) {
    auto made = std::make_unique<KinetoCategory>();
    made->text = text;
    made->id = strings_.intern(text);
    for (const Row& row : kRows) {
      if (row.text != text) continue;
      made->kind = row.kind;
      made->on_stream = row.place == Place::stream;
      made->on_thread = row.place == Place::thread;
    }
    made->launch_flow = is_launch_flow(text);
    at = rows_.emplace(made->text, made.get()).first;
    owned_.push_back(std::move(made));
  }
  last_[1] = std::exchange(last_[0], at->second);
  return *at->second;
}

}  // namespace cli
