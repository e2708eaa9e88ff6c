#include "cli/formats/kineto/exporter.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/base/error.h"
#include "cli/formats/export/args_text.h"
#include "cli/formats/export/exporter.h"
#include "cli/formats/export/flows.h"
#include "cli/formats/kineto/frames.h"
#include "cli/formats/kineto/header.h"
#include "cli/formats/kineto/text.h"
#include "cli/trace/event.h"

namespace cli::kineto {
namespace {

constexpr std::string_view kLaunchFlow = "ac2g", kBackwardFlow = "fwdbwd";

FlowStart call_role(Kind kind) { return kind == Kind::runtime ? FlowStart::runtime : FlowStart::driver; }

bool has_id(char phase) { return std::string_view("XiIRCM").find(phase) == std::string_view::npos; }

class ProfileExporter : public Exporter {
 public:
  explicit ProfileExporter(const FormatOptions& options) : options_(options) {}

  // Only recordings need a first pass, for their flows.
  bool needs_two_passes() const override {
    if (catalog_ == nullptr) return true;
    for (const Process& p : catalog_->processes) {
      if (p.format != SourceFormat::kineto) return true;
    }
    return false;
  }
  void begin(const Catalog& catalog, ByteSink& sink) override {
    catalog_ = &catalog;
    text_.emplace(sink);
    args_.emplace(catalog);
  }
  void prepare(const Event& event, const Facts& facts) override;
  void steps(const Steps& steps) override { steps_ = &steps; }
  void event(const Event& event, const Facts& facts) override;
  void left_out(const Event& event, const Facts& facts) override;
  ExportSummary finish() override;
  std::uint64_t pending_bytes() const override { return text_->pending_bytes(); }

 private:
  void start(ProcessId process);
  Recording& recording(ProcessId process);
  void write_steps(ProcessId process);
  void write(const Event& event, const Facts& facts);
  Line line_of(const Event& event, std::string_view args);
  void flows(const Event& event, std::string_view ids);
  void backward_flow(const Event& event, const Facts& facts, std::string_view ids);
  void frames(const Event& event, const Facts& facts, std::string_view ids);
  void begin_steps(TrackId track, std::int64_t now_ns);
  void write_call(const Frames::Call& call);
  void flow_end(char phase, std::string_view kind, std::uint64_t id, std::int64_t at_ns, std::string_view ids);
  void count(const Event& event);
  std::string_view ids(const Event& event);
  bool by_correlation(const Event& event) const { return event.correlation != 0 && !event.json.args_complete; }

  FormatOptions options_;
  const Catalog* catalog_ = nullptr;
  const Process* process_ = nullptr;
  std::optional<EventText> text_;
  std::optional<ArgsText> args_;
  std::optional<Tracks> tracks_;
  std::optional<Recording> recording_;
  std::optional<Frames> frames_;  // for a recording with stacks
  FlowTable flows_;
  const Steps* steps_ = nullptr;
  ExportSummary summary_;
  std::uint64_t backward_flows_ = 0;
  std::string metadata_;
  Contents contents_;
  std::optional<TrackId> step_track_;                 // track for steps
  const std::vector<Step>* written_steps_ = nullptr;  // steps not begun yet, from next_step_ on
  std::size_t next_step_ = 0;
  bool names_steps_ = false;  // the recording contains its own ranges ProfilerStep#N
};

void ProfileExporter::prepare(const Event& event, const Facts&) {
  const ProcessId id = catalog_->tracks[event.track].process;
  contents_.operators |= event.kind == Kind::cpu_op;
  contents_.ranges |= event.kind == Kind::cpu_op || event.kind == Kind::user_annotation;
  names_steps_ |= event.kind == Kind::nvtx && catalog_->strings[event.name].starts_with("ProfilerStep#");
  if (!by_correlation(event)) return;
  if (is_api_call(event.kind)) flows_.note_start(id, event.correlation, call_role(event.kind));
  if (is_gpu_work(event.kind)) flows_.note_end(id, event.correlation);
}

void ProfileExporter::event(const Event& event, const Facts& facts) {
  const ProcessId id = catalog_->tracks[event.track].process;
  if (process_ == nullptr) start(id);
  if (process_ != &catalog_->processes[id])
    throw Error(Exit::usage, "a Kineto file contains one process; give a directory");
  ++summary_.events_in;
  count(event);
  write(event, facts);
  text_->flush_if_full();
}

void ProfileExporter::left_out(const Event& event, const Facts& facts) {
  if (event.json.args_complete) return;
  recording(catalog_->tracks[event.track].process).note(event, facts);
  frames(event, facts, {});
}

Recording& ProfileExporter::recording(ProcessId id) {
  if (!recording_) {
    recording_.emplace(*catalog_, catalog_->processes[id], contents_);
    if (options_.computed && contents_.operators && catalog_->stacks.size() > 1)
      frames_.emplace(*catalog_, [this](const Frames::Call& call) { write_call(call); });
  }
  return *recording_;
}

ExportSummary ProfileExporter::finish() {
  if (process_ == nullptr && !catalog_->processes.empty()) start(0);
  if (frames_) frames_->finish();
  if (process_ != nullptr) text_->raw(kineto_tail(*process_));
  text_->flush();
  return summary_;
}

void ProfileExporter::start(ProcessId id) {
  process_ = &catalog_->processes[id];
  tracks_.emplace(*catalog_, id);
  text_->set_base(kineto_base_ns(*catalog_, *process_));
  text_->raw(kineto_head(*catalog_, *process_));
  text_->lines(process_->kineto_metadata);
  if (process_->format != SourceFormat::kineto && !names_steps_ && steps_ != nullptr && id < steps_->size())
    write_steps(id);
}

void ProfileExporter::write_steps(ProcessId id) {
  const std::vector<Step>& steps = (*steps_)[id];
  if (steps.empty()) return;
  step_track_ = tracks_->main_track();
  written_steps_ = &steps;
  const std::string where = tracks_->main_thread(metadata_);
  text_->lines(metadata_);
  for (const Step& step : steps) {
    const std::string name = fmt::format("ProfilerStep#{}", step.number);
    Line line;
    line.category = cli::info(Kind::user_annotation).category;
    line.name = name;
    line.ids = where;
    line.start_ns = step.start_ns;
    line.duration_ns = step.end_ns - step.start_ns;
    text_->line(line);
    ++summary_.derived_slices;
  }
}

void ProfileExporter::write(const Event& event, const Facts& facts) {
  Line line = line_of(event, (*args_)(event, facts));
  if (event.json.args_complete) return text_->line(line);
  recording(catalog_->tracks[event.track].process).complete(event, facts, line);
  text_->line(line);
  flows(event, line.ids);
  backward_flow(event, facts, line.ids);
  frames(event, facts, line.ids);
}

Line ProfileExporter::line_of(const Event& event, std::string_view args) {
  Line line;
  line.phase = event.phase;
  if (!event.json.no_category)
    line.category = event.category != 0 ? catalog_->strings[event.category] : cli::info(event.kind).category;
  line.name = catalog_->strings[event.name];
  line.ids = ids(event);
  line.start_ns = event.start_ns;
  if (event.phase == 'X') line.duration_ns = slice_end(event, process_->last_ns) - event.start_ns;
  if (event.json.args_complete && has_id(event.phase)) line.id = event.correlation;
  line.scope = event.json.scope;
  line.encloses = event.json.encloses;
  line.args = args;
  return line;
}

std::string_view ProfileExporter::ids(const Event& event) {
  metadata_.clear();
  const std::string_view where = tracks_->where(event, metadata_);
  text_->lines(metadata_);
  return where;
}

// From the outermost call with the correlation to each piece of its work; a graph launch has many.
void ProfileExporter::flows(const Event& event, std::string_view ids) {
  if (!by_correlation(event)) return;
  const ProcessId id = catalog_->tracks[event.track].process;
  if (is_api_call(event.kind) && flows_.start(id, event.correlation, call_role(event.kind)) != 0)
    flow_end('s', kLaunchFlow, event.correlation, event.start_ns, ids);
  if (!is_gpu_work(event.kind)) return;
  if (flows_.end(id, event.correlation).flow_id == 0) {
    ++summary_.works_without_launch;
    return;
  }
  flow_end('f', kLaunchFlow, event.correlation, event.start_ns, ids);
  ++summary_.flows_out;
}

// Both endpoints are written when the second is known.
void ProfileExporter::backward_flow(const Event& event, const Facts& facts, std::string_view ids) {
  const auto forward = recording_->forward_of(event, facts, ids);
  if (!forward) return;
  ++backward_flows_;
  flow_end('s', kBackwardFlow, backward_flows_, forward->start_ns, forward->ids);
  flow_end('f', kBackwardFlow, backward_flows_, event.start_ns, ids);
  ++summary_.flows_out;
}

void ProfileExporter::frames(const Event& event, const Facts& facts, std::string_view ids) {
  if (!frames_ || !is_slice(event)) return;
  const Process& process = catalog_->processes[catalog_->tracks[event.track].process];
  if (const auto* op = facts.get<OperatorFacts>()) {
    begin_steps(event.track, event.start_ns);
    frames_->operation(event, *op, slice_end(event, process.last_ns), ids);
  } else if (event.kind == Kind::nvtx && !ids.empty()) {
    frames_->range(event.track, event.start_ns, slice_end(event, process.last_ns));
  }
}

void ProfileExporter::begin_steps(TrackId track, std::int64_t now_ns) {
  if (written_steps_ == nullptr || step_track_ != track) return;
  for (; next_step_ < written_steps_->size() && (*written_steps_)[next_step_].start_ns <= now_ns; ++next_step_) {
    const Step& step = (*written_steps_)[next_step_];
    frames_->range(track, step.start_ns, step.end_ns);
  }
}

void ProfileExporter::write_call(const Frames::Call& call) {
  std::string args = fmt::format("\"Python id\": {}", call.id);
  args += call.parent_id ? fmt::format(", \"Python parent id\": {}", *call.parent_id) : ", \"Python parent id\": null";
  if (call.module_id) args += fmt::format(", \"Python module id\": {}", *call.module_id);
  Line line;
  line.category = cli::info(Kind::python_function).category;
  line.name = call.name;
  line.ids = call.ids;
  line.start_ns = call.start_ns;
  line.duration_ns = call.end_ns - call.start_ns;
  line.args = args;
  text_->line(line);
  ++summary_.derived_slices;
}

void ProfileExporter::flow_end(char phase, std::string_view kind, std::uint64_t id, std::int64_t at_ns,
                               std::string_view ids) {
  Line line;
  line.phase = phase;
  line.category = kind;
  line.name = kind;
  line.ids = ids;
  line.start_ns = at_ns;
  line.id = id;
  line.encloses = phase == 'f';
  text_->line(line);
}

void ProfileExporter::count(const Event& event) {
  if (event.kind == Kind::flow) {
    ++summary_.flow_events_in;
    ++summary_.flow_events_drawn;
    summary_.flows_out += event.phase == 'f';
  } else if (event.kind == Kind::counter) {
    ++summary_.counters_out;
  } else if (is_slice(event)) {
    ++summary_.slices_out;
    summary_.unfinished += event.duration_ns < 0;
  } else {
    ++summary_.instants_out;
  }
}

}  // namespace

std::unique_ptr<Exporter> make_exporter(const FormatOptions& options) {
  return std::make_unique<ProfileExporter>(options);
}

}  // namespace cli::kineto
