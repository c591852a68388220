#include <gtest/gtest.h>

#include "pipeline/byte_ledger.hpp"

namespace weir::test {
namespace {

TEST(Ledger, GrantsWithinTheBoundAloneOrToTheExempt) {
  detail::ByteLedger ledger;
  ledger.set_bound(1000);
  EXPECT_TRUE(ledger.reserve(900, false, false));
  EXPECT_FALSE(ledger.reserve(101, false, false));
  EXPECT_FALSE(ledger.reserve(1, true, false)) << "a source leaves room to what is under way";
  EXPECT_TRUE(ledger.reserve(100, false, false));
  EXPECT_TRUE(ledger.reserve(0, false, false));
  EXPECT_FALSE(ledger.has_room(1, false));
  EXPECT_TRUE(ledger.reserve(500, false, true));
  EXPECT_EQ(ledger.used(), 1500U);
  EXPECT_EQ(ledger.peak(), 1500U);
}

}  // namespace
}  // namespace weir::test
