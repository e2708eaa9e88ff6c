// Each nanosecond of a device is in one account.
#include "cli/timeline/collectives/gpu_ledger.h"
#include "tests/unit/catch.h"

using namespace cli;

TEST_CASE("ledger: compute before communication before copies before nothing") {
  GpuLedger ledger;
  using Use = GpuLedger::Use;
  CHECK(ledger.work(Use::compute, 100, 150).to_ns == 0);
  ledger.work(Use::communication, 120, 200);  // alone from 150
  ledger.work(Use::copy, 180, 260);           // alone from 200
  ledger.work(Use::compute, 240, 250);
  const GpuLedger::Gap gap = ledger.work(Use::copy, 300, 310);  // idle from 260
  CHECK((gap.from_ns == 260 && gap.to_ns == 300));
  ledger.launched_late(15);
  ledger.work(Use::compute, 310, 310);
  const GpuAccounts& accounts = ledger.accounts();
  CHECK(accounts.compute_ns == 50 + 10);
  CHECK(accounts.communication_ns == 50);
  CHECK(accounts.copy_ns == 40 + 10 + 10);
  CHECK(accounts.idle_ns == 40);
  CHECK(accounts.late_launch_ns == 15);
  CHECK(accounts.compute_ns + accounts.communication_ns + accounts.copy_ns + accounts.idle_ns == 310 - 100);
}
