#include "capacity/units.h"

#include <gtest/gtest.h>

namespace postino::capacity {
namespace {

using enum Consistency;

constexpr std::int64_t kilobyte = 1'024;

std::string read_text(std::int64_t bytes, Consistency consistency) { return read_units(bytes, consistency).text(); }

// --- Examples that AWS publishes: DynamoDB Developer Guide, "read and write operations" and "provisioned capacity
// mode", and the pages with the prices. Sizes in kilobytes there are multiples of 1,024 bytes here.

TEST(PublishedExamples, ReadsOfOneItem) {
  const struct {
    std::int64_t bytes;
    std::string strong_units, eventual_units, transactional_units;
  } examples[] = {
      {4 * kilobyte, "1", "0.5", "2"},       {3'500, "1", "0.5", "2"},  // "the same throughput as reading a 4 KB item"
      {3 * kilobyte + 512, "1", "0.5", "2"},                            // 3.5 KB is rounded to 4 KB
      {8 * kilobyte, "2", "1", "4"},                                    // "an 8 KB item": 2, 1 and 4 units
      {10 * kilobyte, "3", "1.5", "6"},                                 // 10 KB is rounded to 12 KB
      {7 * kilobyte + 512, "2", "1", "4"},                              // 7.5 KB: 2 units of consistent reads
      {400 * kilobyte, "100", "50", "200"},
  };
  for (const auto& example : examples) {
    EXPECT_EQ(read_text(example.bytes, strong), example.strong_units) << example.bytes;
    EXPECT_EQ(read_text(example.bytes, eventual), example.eventual_units) << example.bytes;
    EXPECT_EQ(read_text(example.bytes, transactional), example.transactional_units) << example.bytes;
  }
}

TEST(PublishedExamples, Writes) {
  EXPECT_EQ(write_units(0, 500), 1);
  EXPECT_EQ(write_units(0, 1 * kilobyte), 1);
  EXPECT_EQ(write_units(0, 2 * kilobyte), 2);
  EXPECT_EQ(write_units(0, 3 * kilobyte), 3);
  EXPECT_EQ(write_units(0, 3 * kilobyte, true), 6);  // "a transactional write request of a 3 KB item"
  EXPECT_EQ(write_units(0, 7 * kilobyte + 512), 8);  // 7.5 KB: 8 units
  EXPECT_EQ(write_units(0, 1 * kilobyte, true), 2);
}

// A batch counts each item by itself: items of 1.5 KB and 6.5 KB are 12 KB, not 8; writes of 500 bytes and 3.5 KB
// are 5.
TEST(PublishedExamples, Batches) {
  const Decimal reads = read_units(kilobyte + 512, strong) + read_units(6 * kilobyte + 512, strong);
  EXPECT_EQ(reads.text(), "3");
  EXPECT_EQ(write_units(0, 500) + write_units(0, 3 * kilobyte + 512), 5);
}

// A query adds the sizes up first: ten items of 40.8 KB together are 44 KB; 1,500 items of 64 bytes are 96 KB at most.
TEST(PublishedExamples, Queries) {
  EXPECT_EQ(page_units(40 * kilobyte + 820, strong).text(), "11");
  EXPECT_EQ(page_units(40 * kilobyte + 820, eventual).text(), "5.5");
  EXPECT_EQ(page_units(std::int64_t{1'500} * 64, strong).text(), "24");
}

// A table with 6 read and 6 write units: 24 KB of consistent reads a second, 48 of eventual ones, 12 in transactions;
// 6 KB of writes, 3 in transactions.
TEST(PublishedExamples, WhatSixUnitsGive) {
  EXPECT_EQ((read_units(4 * kilobyte, strong) * 6).text(), "6");
  EXPECT_EQ((read_units(4 * kilobyte, eventual) * 12).text(), "6");
  EXPECT_EQ((read_units(4 * kilobyte, transactional) * 3).text(), "6");
  EXPECT_EQ(write_units(0, kilobyte) * 6, 6);
  EXPECT_EQ(write_units(0, kilobyte, true) * 3, 6);
}

// --- Every block edge

TEST(BlockEdges, OfReads) {
  for (std::int64_t block = 1; block <= 100; ++block) {
    const std::int64_t edge = block * read_block_bytes;
    EXPECT_EQ(read_units(edge - 1, strong), Decimal(block)) << edge;
    EXPECT_EQ(read_units(edge, strong), Decimal(block)) << edge;
    EXPECT_EQ(read_units(edge + 1, strong), Decimal(block + 1)) << edge;
    EXPECT_EQ(read_units(edge, eventual) * 2, Decimal(block)) << edge;
    EXPECT_EQ(read_units(edge + 1, eventual) * 2, Decimal(block + 1)) << edge;
    EXPECT_EQ(read_units(edge, transactional), Decimal(2 * block)) << edge;
    EXPECT_EQ(read_units(edge + 1, transactional), Decimal(2 * block + 2)) << edge;
    EXPECT_EQ(page_units(edge - 1, strong), Decimal(block)) << edge;
    EXPECT_EQ(page_units(edge + 1, strong), Decimal(block + 1)) << edge;
  }
}

TEST(BlockEdges, OfWrites) {
  for (std::int64_t block = 1; block <= 400; ++block) {
    const std::int64_t edge = block * write_block_bytes;
    EXPECT_EQ(write_units(0, edge - 1), block) << edge;
    EXPECT_EQ(write_units(0, edge), block) << edge;
    EXPECT_EQ(write_units(0, edge + 1), block + 1) << edge;
    EXPECT_EQ(write_units(0, edge, true), 2 * block) << edge;
    EXPECT_EQ(write_units(0, edge + 1, true), 2 * block + 2) << edge;
    EXPECT_EQ(index_write_units({.after_bytes = edge}), block) << edge;
    EXPECT_EQ(index_write_units({.after_bytes = edge + 1}), block + 1) << edge;
  }
}

TEST(BlockEdges, NothingCountsAsOneBlock) {
  EXPECT_EQ(read_text(0, strong), "1");
  EXPECT_EQ(read_text(0, eventual), "0.5");
  EXPECT_EQ(write_units(0, 0), 1);  // a delete of what is not there
  EXPECT_EQ(page_units(0, eventual).text(), "0.5");
}

// --- Writes by what they do

TEST(Writes, CountTheLargerOfBeforeAndAfter) {
  EXPECT_EQ(write_units(5 * kilobyte, 100), 5);
  EXPECT_EQ(write_units(100, 5 * kilobyte), 5);
  EXPECT_EQ(write_units(5 * kilobyte, 0), 5);  // a delete, or a condition that fails on it
}

TEST(Writes, CountInIndexesByWhatTheyChange) {
  const std::optional<std::int64_t> none, small = 100, large = 2 * kilobyte;
  EXPECT_EQ(index_write_units({none, none}), 0);          // it is not in the index
  EXPECT_EQ(index_write_units({none, large}), 2);         // it enters
  EXPECT_EQ(index_write_units({large, none}), 2);         // it leaves
  EXPECT_EQ(index_write_units({small, large}), 2);        // it is changed
  EXPECT_EQ(index_write_units({small, large, true}), 3);  // it gets another key
  EXPECT_EQ(index_write_units({.before_bytes = small, .after_bytes = small, .entry_changed = false}), 0);
}

TEST(Storage, HasOverheadForEachItem) {
  EXPECT_EQ(stored_bytes(0, 1'000), 0);
  EXPECT_EQ(stored_bytes(10, 1'000), 11'000);
}

}  // namespace
}  // namespace postino::capacity
