// Texts of ranges that PyTorch's emit_nvtx() writes, and others that look alike.
#include "cli/formats/nsys/torch_ranges.h"
#include "tests/unit/catch.h"

using cli::nsys::parse_torch_range;

TEST_CASE("nsys: ranges of emit_nvtx()") {
  const auto forward =
      parse_torch_range("aten::mm, seq = 7, op_id = 12, sizes = [[2, 3], [3, 4]], input_op_ids = [(11,0)]");
  REQUIRE(forward);
  CHECK(forward->name == "aten::mm");
  CHECK(forward->sequence_number == 7);
  CHECK(forward->op_id == 12);
  CHECK(forward->rest == "sizes = [[2, 3], [3, 4]], input_op_ids = [(11,0)]");
  CHECK(forward->is_operator());
  const auto function = parse_torch_range("AllToAll4D, seq = 46850");  // of older versions: no op_id
  REQUIRE(function);
  CHECK(function->is_operator());
  CHECK_FALSE(function->op_id);
  const auto plain = parse_torch_range("c10d::allreduce_, op_id = 3");
  REQUIRE(plain);
  CHECK(plain->is_operator());
  const auto named = parse_torch_range("FSDP::pre_forward (blocks.15), op_id = 997166");
  REQUIRE(named);
  CHECK(named->name == "FSDP::pre_forward (blocks.15)");
  CHECK_FALSE(named->is_operator());
  CHECK_FALSE(parse_torch_range("Optimizer.step#Adam.step, op_id = 5")->is_operator());
}

TEST_CASE("nsys: other ranges are not of emit_nvtx()") {
  for (const char* const text :
       {"", "step 3", "aten::mm", ", seq = 7", "batch, seq = many", "batch, seq = 7 of 9", "load, op_id = 3, then more",
        "x, seq = 99999999999999999999999", "x, op_id = 3, seq = 4"})
    CHECK_FALSE(parse_torch_range(text));
}
