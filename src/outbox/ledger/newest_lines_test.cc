#include "outbox/ledger/newest_lines.h"

#include <gtest/gtest.h>

namespace postino::outbox {
namespace {

HistoryEntry line(std::int64_t version, std::string reason = "") {
  return {"READY", base::from_epoch_milliseconds(version), std::move(reason), version};
}

TEST(NewestLines, AreInTheirOrderWhateverTheyCameIn) {
  NewestLines lines;
  for (const int version : {3, 1, 2}) lines.add(line(version));
  HistoryEntry bounced = line(2, "later");
  bounced.at += base::Milliseconds(5);
  lines.add(bounced);
  const std::vector<HistoryEntry> taken = std::move(lines).take();
  ASSERT_EQ(taken.size(), 4U);
  EXPECT_EQ(taken[0].version, 1);
  EXPECT_EQ(taken[2].reason, "later");
  EXPECT_EQ(taken[3].version, 3);
}

TEST(NewestLines, OlderOnesMakeRoom) {
  NewestLines lines;
  for (int version = 3'000; version > 0; --version) lines.add(line(version));
  const std::vector<HistoryEntry> taken = std::move(lines).take();
  ASSERT_EQ(taken.size(), most_history_lines);
  EXPECT_EQ(taken.front().version, 2'001);
  EXPECT_EQ(taken.back().version, 3'000);
}

TEST(NewestLines, LongOnesAreFewer) {
  NewestLines lines;
  for (int version = 1; version <= 100; ++version) lines.add(line(version, std::string(400 << 10, 'x')));
  const std::vector<HistoryEntry> taken = std::move(lines).take();
  EXPECT_LE(taken.size(), 20U);
  EXPECT_EQ(taken.back().version, 100);
  NewestLines one;
  one.add(line(1, std::string(2 * most_history_bytes, 'x')));
  EXPECT_EQ(std::move(one).take().size(), 1U) << "the newest one is always there";
}

}  // namespace
}  // namespace postino::outbox
