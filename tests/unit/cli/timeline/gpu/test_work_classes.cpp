// What GPU work is for, by its name: of libraries of collectives, of others, and by the user's rules.
#include "cli/timeline/gpu/name_rules.h"
#include "cli/timeline/gpu/work_classes.h"
#include "tests/unit/catch.h"

using namespace cli;

namespace {

Catalog kineto_process() {
  Catalog catalog;
  catalog.processes.emplace_back();
  catalog.processes[0].format = SourceFormat::kineto;
  catalog.tracks.emplace_back();
  return catalog;
}

WorkClass class_of_work(Catalog& catalog, WorkClasses& classes, std::string_view name, Kind kind = Kind::kernel) {
  Event event;
  event.kind = kind;
  event.name = catalog.strings.intern(name);
  return classes.of(event, Facts());
}

}  // namespace

TEST_CASE("work classes: by the table of names") {
  Catalog catalog = kineto_process();
  WorkClasses classes(catalog);
  CHECK(class_of_work(catalog, classes, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)") ==
        WorkClass::comm);
  CHECK(class_of_work(catalog, classes, "void dpsk::ep::internode::dispatch<false, 8, true, 8>(int4*, float*)") ==
        WorkClass::comm);
  CHECK(class_of_work(catalog, classes, "EpCombineIntraNodeKernel_bf16_nop2p") == WorkClass::comm);
  CHECK(class_of_work(catalog, classes, "flash_fwd_splitkv_combine_kernel") == WorkClass::compute);
  CHECK(class_of_work(catalog, classes, "my_a2a") == WorkClass::compute);
  CHECK(class_of_work(catalog, classes, "Memcpy PtoP (Device -> Device)", Kind::memcpy) == WorkClass::memory);
  // The name of a copy is not one of the table's kernels.
  CHECK(class_of_work(catalog, classes, "nvshmem_put", Kind::memcpy) == WorkClass::memory);
}

TEST_CASE("work classes: the user's rules of the class communication") {
  Catalog catalog = kineto_process();
  const NameRules own("mine *nccl*\ncommunication {my_a2a*,Memcpy PtoP*}\nother_class *gemm*\n", "own.txt");
  WorkClasses classes(catalog, &own);
  CHECK(class_of_work(catalog, classes, "my_a2a<int>(int*)") == WorkClass::comm);
  CHECK(class_of_work(catalog, classes, "Memcpy PtoP (Device -> Device)", Kind::memcpy) == WorkClass::comm);
  CHECK(class_of_work(catalog, classes, "Memcpy DtoD (Device -> Device)", Kind::memcpy) == WorkClass::memory);
  CHECK(class_of_work(catalog, classes, "sgemm") == WorkClass::compute);
  // A class of another name is what `classes` shows; the time split stays as the table has it.
  CHECK(class_of_work(catalog, classes, "ncclDevKernel_Foo") == WorkClass::comm);
  CHECK((own.has_class("communication") && !own.has_class("matmul")));
}
