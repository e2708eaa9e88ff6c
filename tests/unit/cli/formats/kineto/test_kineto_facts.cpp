// What analyses compute with comes as numbers beside a profile's own arguments: of shapes, and of texts that are alone.
#include <set>

#include "cli/formats/export/shared_json.h"
#include "cli/formats/kineto/facts.h"
#include "cli/trace/operator_inputs.h"
#include "cli/trace/words.h"
#include "tests/unit/catch.h"
#include "tests/unit/cli/formats/reading/read_helpers.h"

using namespace cli;
using namespace cli::kineto;

namespace {

const std::string kKernel =
    R"("queued": 0, "device": 5, "context": 2, "stream": 21, "correlation": 35999, "registers per thread": 32, "shared memory": 64, )"
    R"("blocks per SM": 0.75, "warps per SM": 12, "grid": [1, 2, 3], "block": [
  512,	1
  , 4 ], "est. achieved occupancy %": 7, )"
    R"("graph id": 3, "graph node id": 12884901890, "External id": 358)";
const std::string kMessage =
    R"("Collective name": "_allgather_base", "In msg nelems": 12, "Out msg nelems": 96, "Group size": 8, "dtype": "BFloat16", )"
    R"("In split size": "[1, 2]", "Out split size": "[3]", "Global rank start": 4, "Global rank stride": 2, )"
    R"("Process Group Name": "0", "Process Group Description": "default\u005fpg", "Process Group Ranks": "[4, 6]", "Seq": 17)";

// The facts of this event with its arguments, three times: alone, and as one of a shape that is known.
std::vector<KeptFacts> facts_of(const std::string& category, const std::string& args, Catalog& catalog,
                                const std::string& name = "n", char phase = 'X') {
  struct Keep : EventSink {
    void event(const Event&, const Facts& facts) override { all.push_back(facts); }
    std::vector<KeptFacts> all;
  } keep;
  std::string events;
  for (int i = 0; i < 2; ++i) {
    events += std::string(i == 0 ? "" : ",") + R"({"ph":")" + phase + R"(","cat":")" + category + R"(","name":")" +
              name + R"(","pid":1,"tid":1,"ts":1,"dur":1,"args":{)" + args + "}}";
  }
  const TestFolder folder;
  kineto::open(folder.write("a.json", "{\"traceEvents\":[" + events + "]}"))->read(catalog, keep);
  std::string scratch(kMostShapeText, 'x');  // too long for a shape
  kineto::open(folder.write("b.json", R"({"traceEvents":[{"ph":")" + std::string(1, phase) + R"(","cat":")" + category +
                                          R"(","name":")" + name +
                                          R"(","pid":1,"tid":1,"ts":1,"dur":1,"args":{"long":")" + scratch + "\", " +
                                          args + "}}]}"))
      ->read(catalog, keep);
  REQUIRE(keep.all.size() == 3);
  return keep.all;
}

}  // namespace

TEST_CASE("a kernel of a profile has what a recording's has, and its operator and collective") {
  Catalog catalog;
  for (const KeptFacts& facts : facts_of("kernel", kKernel + ", " + kMessage, catalog)) {
    const auto* kernel = facts.get<KernelFacts>();
    REQUIRE(kernel != nullptr);
    const Launch& launch = catalog.launches[kernel->launch];
    CHECK((launch.grid[0] == 1 && launch.grid[1] == 2 && launch.grid[2] == 3));
    CHECK((launch.block[0] == 512 && launch.block[1] == 1 && launch.block[2] == 4));
    CHECK((launch.registers_per_thread == 32 && launch.shared_bytes == 64 && launch.estimated));
    CHECK((launch.blocks_per_multiprocessor == 0.75f && launch.warps_per_multiprocessor == 12 &&
           launch.occupancy_percent == 7));
    CHECK((kernel->context == 2 && kernel->graph.graph == 3 && kernel->graph.node == 12884901890));
    const auto* profiled = facts.get<ProfiledKernelFacts>();
    REQUIRE(profiled != nullptr);
    CHECK((profiled->external_id == 358 && profiled->sequence == 17));
    const CollectiveOp& op = catalog.collective_ops[profiled->collective_op];
    CHECK(catalog.strings[op.name] == "_allgather_base");
    CHECK((op.in_elements == 12 && op.out_elements == 96 && op.group_size == 8 && op.group_first_rank == 4 &&
           op.group_rank_stride == 2));
    CHECK(catalog.strings[op.data_type] == "BFloat16");
    CHECK((catalog.strings[op.group_name] == "0" && catalog.strings[op.group_description] == "default_pg"));
    CHECK(catalog.strings[op.group_ranks] == "[4, 6]");
  }
  CHECK(catalog.launches.size() == 2);
  CHECK(catalog.collective_ops.size() == 2);
}

TEST_CASE("texts of arguments are interned as far as they are short and few") {
  Catalog catalog;
  const std::size_t before = catalog.strings.size();
  for (const KeptFacts& facts :
       facts_of("cpu_op", R"("Collective name": ")" + std::string(2000, 'x') + R"(", "In msg nelems": 2)", catalog)) {
    CHECK(catalog.collective_ops[facts.get<OperatorFacts>()->collective_op].name == 0);
  }
  CHECK(catalog.strings.size() < before + 10);
  auto facts = make_facts(catalog);
  Event event;
  event.kind = Kind::cpu_op;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = std::to_string(i) + std::string(900, 'x');
    facts->find(event, R"("Collective name": ")" + name + "\"", nullptr, nullptr);
  }
  CHECK(catalog.strings.size() < before + 5'000);
}

TEST_CASE("groups of one name differ where their ranks do, however many these are") {
  Catalog catalog;
  const auto ranks = [&](int first) {
    std::string list = "[";
    for (int i = 0; i < 600; ++i) list += (i > 0 ? ", " : "") + std::to_string(i < 300 ? i : first + i);
    return facts_of("kernel", kKernel + R"(, "Process Group Name": "2", "Process Group Ranks": ")" + list + "]\"",
                    catalog);
  };
  std::set<StringId> found;
  for (const int first : {0, 1000, 0}) {
    for (const KeptFacts& facts : ranks(first))
      found.insert(catalog.collective_ops[facts.get<ProfiledKernelFacts>()->collective_op].group_ranks);
  }
  REQUIRE(found.size() == 2);
  for (const StringId each : found)
    CHECK_THAT(std::string(catalog.strings[each]), contains_text("[0, 1, 2, 3") && contains_text("... digest "));
}

TEST_CASE("what a kernel's arguments do not say is unknown") {
  Catalog catalog;
  for (const KeptFacts& facts : facts_of(
           "kernel", R"("kind": "Dispatch Kernel", "grid": [1, 2], "block": "x", "context": -1, "shared memory": 1.5)",
           catalog)) {
    const auto* profiled = facts.get<ProfiledKernelFacts>();
    REQUIRE(profiled != nullptr);
    CHECK((profiled->launch == 0 && profiled->context == 0 && profiled->collective_op == 0 &&
           profiled->external_id == 0));
    CHECK((profiled->sequence == kNoOrdinal && !profiled->graph.any()));
  }
  CHECK(catalog.launches.size() == 1);
  for (const KeptFacts& facts : facts_of(
           "kernel", R"("grid": [1, 1, 1], "block": [1, 1, 1], "registers per thread": 4294967296, "warps per SM": 2)",
           catalog)) {
    const Launch& launch = catalog.launches[facts.get<KernelFacts>()->launch];
    CHECK((launch.registers_per_thread == 0 && !launch.estimated && launch.occupancy_percent == -1));
  }
}

TEST_CASE("operators and annotations: what joins them with others, and the collective that they record") {
  Catalog catalog;
  const std::string args =
      R"("External id": 9, "Record function id": 3, "Sequence number": 0, "Fwd thread id": 1, "Ev Idx": 5, )";
  for (const char* category : {"cpu_op", "user_annotation"}) {
    for (const KeptFacts& facts : facts_of(category, args + kMessage, catalog)) {
      const auto* op = facts.get<OperatorFacts>();
      REQUIRE(op != nullptr);
      CHECK((op->external_id == 9 && op->record_function == 3 && op->sequence_number == 0 && op->forward_thread == 1));
      CHECK((op->has ==
             (OperatorFacts::kSequenceNumber | OperatorFacts::kForwardThread | OperatorFacts::kRecordFunction)));
      CHECK(op->sequence == 17);
      CHECK(catalog.collective_ops[op->collective_op].in_elements == 12);
    }
  }
  for (const KeptFacts& facts : facts_of("cpu_op", R"("Sequence number": -1, "other": 7)", catalog))
    CHECK(facts.tag() == 0);
  for (const KeptFacts& facts :
       facts_of("cpu_op", R"("nested": {"Sequence number": 8}, "a,\"External id": 7)", catalog))
    CHECK(facts.tag() == 0);
}

TEST_CASE("a send or receive tells the other rank of its group") {
  Catalog catalog;
  for (const KeptFacts& facts :
       facts_of("kernel", kKernel + R"(, "Collective name": "recv", "Group size": 2, "Src Rank": 1)", catalog)) {
    const CollectiveOp& op = catalog.collective_ops[facts.get<ProfiledKernelFacts>()->collective_op];
    CHECK((op.source_rank == 1 && op.destination_rank == -1));
  }
  for (const KeptFacts& facts :
       facts_of("cpu_op", R"("Collective name": "send", "Group size": 2, "Dst Rank": 0)", catalog)) {
    const CollectiveOp& op = catalog.collective_ops[facts.get<OperatorFacts>()->collective_op];
    CHECK((op.source_rank == -1 && op.destination_rank == 0));
  }
}

TEST_CASE("the number of a collective is what its operator was called with, where nothing else tells it") {
  const auto number_of = [](const std::string& inputs) {
    Catalog catalog;
    std::set<std::uint64_t> found;
    for (const KeptFacts& facts : facts_of("cpu_op", R"("External id": 9, "Collective name": "allreduce", )" + inputs,
                                           catalog, "record_param_comms")) {
      found.insert(facts.get<OperatorFacts>()->sequence);
    }
    REQUIRE(found.size() == 1);
    return *found.begin();
  };
  // PyTorch 2.1 to 2.4: without tensors, and with them.
  CHECK(
      number_of(
          R"("Input type": ["Scalar","Scalar","Scalar","","ScalarList","ScalarList"], "Concrete Inputs": ["41","0","3","","[]","[]"])") ==
      41);
  CHECK(
      number_of(
          R"("Input type": ["TensorList","Scalar","","Scalar","","ScalarList","ScalarList","Scalar","Scalar","Scalar"],
                     "Concrete Inputs": ["","7","","3","","[]","[]","0","1","8"])") == 7);
  // Since then a pair, of which nothing is written. The first scalar is the rank.
  CHECK(number_of(R"("Input type": ["float","","","Scalar","","ScalarList","ScalarList","Scalar","Scalar","Scalar"],
                     "Concrete Inputs": ["","","","3","","[]","[]","0","1","8"])") == kNoOrdinal);
  CHECK(number_of(R"("Input type": ["","","Scalar","","ScalarList","ScalarList","Scalar","Scalar","Scalar"],
                     "Concrete Inputs": ["","","3","","[]","[]","0","1","8"])") == kNoOrdinal);
  CHECK(
      number_of(
          R"("Seq": 5, "Input type": ["Scalar","Scalar","Scalar","","ScalarList","ScalarList"], "Concrete Inputs": ["41","0","3","","[]","[]"])") ==
      5);
  CHECK(
      number_of(
          R"("Input type": ["Scalar","Scalar","Scalar","","ScalarList","ScalarList"], "Concrete Inputs": ["-1","0","3","","[]","[]"])") ==
      kNoOrdinal);
  CHECK(number_of(R"("Input type": ["Scalar","Scalar"], "Concrete Inputs": ["41","0"])") == kNoOrdinal);
}

TEST_CASE("a kernel has the number of the operator that launched it") {
  Catalog catalog;
  const auto facts = make_facts(catalog);
  Event op, kernel;
  op.kind = Kind::cpu_op, kernel.kind = Kind::kernel;
  const auto number_of = [&](const std::string& args) {
    return facts->find(kernel, R"("Collective name": "allreduce", )" + args, nullptr, nullptr)
        .get<ProfiledKernelFacts>()
        ->sequence;
  };
  CHECK(number_of(R"("External id": 9)") == kNoOrdinal);
  facts->find(op, R"("External id": 9, "Collective name": "allreduce", "Seq": 41)", nullptr, nullptr);
  facts->find(op, R"("External id": 10, "Seq": 42)", nullptr, nullptr);  // none of a collective
  CHECK(number_of(R"("External id": 9)") == 41);
  CHECK(number_of(R"("External id": 9, "Seq": 43)") == 43);
  CHECK(number_of(R"("External id": 10)") == kNoOrdinal);
  CHECK(facts->find(kernel, R"("External id": 9)", nullptr, nullptr).get<ProfiledKernelFacts>()->sequence ==
        kNoOrdinal);
}

TEST_CASE("frames of Python and calls of CUDA") {
  Catalog catalog;
  for (const KeptFacts& facts :
       facts_of("python_function", R"("Python parent id": 4, "Python id": 7, "Python module id": 2)", catalog)) {
    const auto* frame = facts.get<FrameFacts>();
    REQUIRE(frame != nullptr);
    CHECK((frame->id == 7 && frame->parent_id == 4 && frame->module_id == 2));
  }
  for (const KeptFacts& facts : facts_of("python_function", R"("Python parent id": null, "Python id": 1)", catalog)) {
    CHECK((facts.get<FrameFacts>()->parent_id == FrameFacts::kNone &&
           facts.get<FrameFacts>()->module_id == FrameFacts::kNone));
  }
  for (const char* category : {"cuda_runtime", "cuda_driver"}) {
    for (const KeptFacts& facts : facts_of(category, R"("cbid": 211, "correlation": 3)", catalog)) {
      REQUIRE(facts.get<CallFacts>() != nullptr);
      CHECK(facts.get<CallFacts>()->cbid == 211);
    }
    for (const KeptFacts& facts : facts_of(category, R"("cbid": -1)", catalog)) CHECK(facts.tag() == 0);
  }
}

TEST_CASE("a wait whose recording call is unknown, an allocation without a device type: no facts") {
  Catalog catalog;
  for (const KeptFacts& facts : facts_of(
           "cuda_sync", R"("wait_on_stream": -1, "wait_on_cuda_event_record_corr_id": 5, "wait_on_cuda_event_id": 2)",
           catalog)) {
    const auto* wait = facts.get<SyncFacts>();
    REQUIRE(wait != nullptr);
    CHECK((wait->producer_stream == kNoNumber && wait->producer_correlation == 5 && wait->event == 2 &&
           wait->producer_is_known));
  }
  for (const KeptFacts& facts : facts_of("cpu_instant_event", R"("Total Allocated": 5)", catalog, "[memory]", 'i'))
    CHECK(facts.tag() == 0);
  for (const KeptFacts& facts :
       facts_of("cpu_instant_event", R"("Device Type": 0, "Total Allocated": 5)", catalog, "[memory]", 'i')) {
    REQUIRE(facts.get<AllocatorFacts>() != nullptr);
    CHECK((facts.get<AllocatorFacts>()->allocated_bytes == 5 &&
           facts.get<AllocatorFacts>()->has == AllocatorFacts::kAllocated));
  }
  for (const char* name : {"[memory]", "[OutOfMemory]"}) {
    for (const KeptFacts& facts :
         facts_of("cpu_instant_event", R"("Device Type": 1, "Addr": 512, "Bytes": -7)", catalog, name, 'i')) {
      REQUIRE(facts.get<AllocatorFacts>() != nullptr);
      const AllocatorFacts& allocator = *facts.get<AllocatorFacts>();
      CHECK((allocator.address == 512 && allocator.bytes == -7));
      CHECK(allocator.is_failure() == (std::string_view(name) == "[OutOfMemory]"));
    }
  }
}

TEST_CASE("inputs of an operator are lists of numbers and words") {
  Catalog catalog;
  const std::string inputs =
      R"("Input Dims": [[128, 64], [], [[2, 3], [4]], [0]], "Input Strides": [[64, 1], [], [[3, 1], [1]], [1]], )"
      R"x("Input type": ["c10::BFloat16", "Scalar", "TensorList", "float"], "Concrete Inputs": ["", "0.5", "", ""], "Module Hierarchy": "TOP(A\u0042)")x";
  for (const KeptFacts& facts : facts_of("cpu_op", inputs, catalog)) {
    const auto* op = facts.get<OperatorFacts>();
    REQUIRE(op != nullptr);
    CHECK(catalog.strings[op->module] == "TOP(AB)");
    const auto said = inputs_of(catalog, op->inputs);
    REQUIRE(said.size() == 4);
    CHECK(catalog.strings[said[0].type] == "c10::BFloat16");
    CHECK(dims_of(catalog, said[0].dims) == std::vector<std::int64_t>{128, 64});
    CHECK(dims_of(catalog, said[0].strides) == std::vector<std::int64_t>{64, 1});
    CHECK((said[1].dims == 0 && said[1].elements == 0 && catalog.strings[said[1].value] == "0.5"));
    const auto tensors = inputs_of(catalog, said[2].elements);
    REQUIRE(tensors.size() == 2);
    CHECK(dims_of(catalog, tensors[0].dims) == std::vector<std::int64_t>{2, 3});
    CHECK(dims_of(catalog, tensors[1].strides) == std::vector<std::int64_t>{1});
    CHECK(dims_of(catalog, said[3].dims) == std::vector<std::int64_t>{0});
    const InputsText text(catalog, op->inputs);
    CHECK(text.dims == "[[128,64],[],[[2,3],[4]],[0]]");
    CHECK(text.strides == "[[64,1],[],[[3,1],[1]],[1]]");
    CHECK(text.types == R"(["c10::BFloat16","Scalar","TensorList","float"])");
    CHECK(text.values == R"(["","0.5","",""])");
  }
}

TEST_CASE("inputs that contradict each other, or are no lists, are unknown") {
  std::string dims;
  for (std::size_t i = 0; i <= kMostDims; ++i) dims += i == 0 ? "1" : ", 1";
  for (const std::string& inputs : {std::string(R"("Input Dims": [[1], [2]], "Input type": ["float"])"),
                                    std::string(R"("Input Dims": [1, 2])"), std::string(R"("Input Dims": [["a"]])"),
                                    std::string(R"("Input type": [7])"), std::string(R"("Input Dims": [[1.5]])"),
                                    std::string(R"("Input Dims": [[[[1]]]])"), std::string(R"("Input Dims": "[[1]]")"),
                                    std::string(R"("Input Dims": [])"), "\"Input Dims\": [[" + dims + "]]"}) {
    Catalog catalog;
    INFO(inputs);
    for (const KeptFacts& facts : facts_of("cpu_op", "\"External id\": 5, " + inputs, catalog)) {
      REQUIRE(facts.get<OperatorFacts>() != nullptr);
      CHECK((facts.get<OperatorFacts>()->inputs == 0 && facts.get<OperatorFacts>()->external_id == 5));
    }
  }
}

TEST_CASE("a copy's kinds are in its name, its ends in its arguments") {
  Catalog catalog;
  const std::string args =
      R"("device": 0, "context": 1, "stream": 7, "correlation": 5, "bytes": 24, "graph id": 3, "graph node id": 9)";
  for (const KeptFacts& facts : facts_of("gpu_memcpy", args, catalog, "Memcpy HtoD (Pinned -> Device)")) {
    const auto* copy = facts.get<CopyFacts>();
    REQUIRE(copy != nullptr);
    CHECK((copy->direction == 1 && copy->from_memory == 2 && copy->to_memory == 3 && copy->flags == kNoFlags));
    CHECK((copy->context == 1 && copy->graph.graph == 3 && copy->graph.node == 9 && !copy->between_devices));
  }
  const std::string peers =
      R"("fromDevice": 1, "inDevice": 0, "toDevice": 2, "fromContext": 3, "inContext": 4, "toContext": 5, "stream": 7)";
  for (const KeptFacts& facts : facts_of("gpu_memcpy", peers, catalog, "Memcpy PtoP (Device -> Device)")) {
    const auto* copy = facts.get<CopyFacts>();
    REQUIRE(copy != nullptr);
    CHECK((copy->direction == 10 && copy->between_devices && copy->from_device == 1 && copy->to_device == 2));
    CHECK((copy->from_context == 3 && copy->to_context == 5 && copy->context == 4));
  }
  for (const char* name : {"CopyHostToDevice", "Memcpy", "Memcpy XtoY", "Memcpy (Pinned -> Device)"}) {
    for (const KeptFacts& facts : facts_of("gpu_memcpy", args, catalog, name))
      CHECK(facts.get<CopyFacts>()->direction == 0);
  }
  for (const KeptFacts& facts : facts_of("gpu_memset", args, catalog, "Memset (Device)")) {
    const auto* set = facts.get<SetFacts>();
    REQUIRE(set != nullptr);
    CHECK((set->memory == 3 && set->context == 1 && set->graph.node == 9 && set->flags == kNoFlags &&
           !set->value_is_known));
  }
}

TEST_CASE("kinds of copies are read back from every name that we give") {
  for (std::uint8_t direction = 1; direction <= 10; ++direction) {
    for (std::uint8_t memory = 1; memory <= 7; ++memory) {
      Catalog catalog;
      const std::uint8_t other = memory % 7 + 1;
      for (const KeptFacts& facts :
           facts_of("gpu_memcpy", "\"stream\": 7", catalog, copy_name(direction, memory, other))) {
        const auto* copy = facts.get<CopyFacts>();
        REQUIRE(copy != nullptr);
        CHECK((copy->direction == direction && copy->from_memory == memory && copy->to_memory == other));
      }
    }
  }
}

TEST_CASE("a counter with one series is a number") {
  for (const auto& [args, value] :
       {std::pair<std::string, double>{R"("by\u0074es": 12)", 12}, {R"("bytes":   -1.25e3)", -1250}}) {
    Catalog catalog;
    Catalog* const of = &catalog;
    const auto counters = facts_of("counter", args, catalog, "memory", 'C');
    for (std::size_t i = 0; i < 2; ++i) {
      const auto* counter = counters[i].get<CounterFacts>();
      REQUIRE(counter != nullptr);
      CHECK((of->strings[counter->series] == "bytes" && counter->value == value));
    }
    CHECK(counters[2].get<CounterFacts>() == nullptr);  // it has another series
  }
  Catalog catalog;
  for (const char* args : {R"("a": 1, "b": 2)", R"("a": "1")", ""}) {
    for (const KeptFacts& facts : facts_of("counter", args[0] == 0 ? R"("a": {})" : args, catalog, "memory", 'C')) {
      CHECK(facts.get<CounterFacts>() == nullptr);
    }
  }
}
