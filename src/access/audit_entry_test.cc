// Entries as they are stored: their form is a promise, and so is what their digests are made of.
#include "access/audit_entry.h"

#include <gmock/gmock.h>

#include "item/json_codec.h"

namespace postino::access {
namespace {

constexpr base::TimePoint at = base::TimePoint(base::Milliseconds(1'767'323'045'678));

std::string repeated(std::string_view digits, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += digits;
  return text;
}

AuditEntry erasure() {
  AuditEntry entry;
  entry.event = {.actor = "anna",
                 .kind = AuditEvent::user,
                 .tenant = "north",
                 .from = "192.0.2.7",
                 .action = "eraseCustomer",
                 .subject = "C-1001",
                 .request_id = "r-1"};
  entry.chain = "c0ffee00";
  entry.number = 2;
  entry.at = at;
  entry.previous = repeated("ab", 32);
  entry.expires_at = 1'798'859'045;
  entry.earlier_gone_by = 1'798'859'040;
  entry.digest = digest_of(entry);
  return entry;
}

AuditEntry opening() {
  AuditEntry entry;
  entry.event = {.kind = AuditEvent::server, .action = std::string(audit_opened)};
  entry.chain = "c0ffee00";
  entry.number = 1;
  entry.at = at;
  entry.expires_at = 1'798'859'045;
  entry.others = {
      {"beef", 7, repeated("cd", 32), base::TimePoint(base::Milliseconds(1'767'323'040'000)), 1'798'859'000}};
  entry.digest = digest_of(entry);
  return entry;
}

// Computed by another program, from docs/access.md.
TEST(AuditEntry, DigestsStayAsTheyAre) {
  EXPECT_EQ(erasure().digest, "f66d8c0473b733c3cbbde9bdace05ebd86592fd9f3dc51fa8fdcbf65c919eed5");
  EXPECT_EQ(opening().digest, "ef48c85a3b1bdd1ef2dacd53f868e020b37683527953fef3bb5c993c3bc17d86");
}

TEST(AuditEntry, ItemsStayAsTheyAre) {
  EXPECT_EQ(
      item::to_json(item_of(erasure())),
      R"({"PK":{"S":"DAY#2026-01-02"},"SK":{"S":"2026-01-02T03:04:05.678Z#c0ffee00#000000000002"},)"
      R"("action":{"S":"eraseCustomer"},"actor":{"S":"anna"},"at":{"S":"2026-01-02T03:04:05.678Z"},)"
      R"("chain":{"S":"c0ffee00"},"digest":{"S":"f66d8c0473b733c3cbbde9bdace05ebd86592fd9f3dc51fa8fdcbf65c919eed5"},)"
      R"("earlier_gone_by":{"N":"1798859040"},"entity_type":{"S":"audit_entry"},"from":{"S":"192.0.2.7"},)"
      R"("kind":{"S":"user"},"number":{"N":"2"},"previous":{"S":")" +
          repeated("ab", 32) +
          R"("},"request_id":{"S":"r-1"},"result":{"S":"allowed"},"subject":{"S":"C-1001"},)"
          R"("tenant":{"S":"north"},"ttl":{"N":"1798859045"}})");
  const AuditChainRecord record{erasure().head(), "owner", at};
  EXPECT_EQ(item::to_json(item_of(record)),
            R"({"PK":{"S":"CHAINS"},"SK":{"S":"c0ffee00"},"at":{"S":"2026-01-02T03:04:05.678Z"},)"
            R"("begun_at":{"S":"2026-01-02T03:04:05.678Z"},)"
            R"("digest":{"S":"f66d8c0473b733c3cbbde9bdace05ebd86592fd9f3dc51fa8fdcbf65c919eed5"},)"
            R"("entity_type":{"S":"audit_chain"},"gone_by":{"N":"1798859045"},"number":{"N":"2"},)"
            R"("owner":{"S":"owner"},"ttl":{"N":"1798945445"}})");
}

TEST(AuditEntry, WhatIsWrittenIsRead) {
  for (const AuditEntry& entry : {erasure(), opening()}) {
    const auto read = read_audit_entry(item_of(entry));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(digest_of(*read), entry.digest);
    EXPECT_EQ(read->digest, entry.digest);
    EXPECT_EQ(read->others, entry.others);
  }
  const auto record = read_audit_chain(item_of(AuditChainRecord{erasure().head(), "", at}));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->head, erasure().head());
}

// Of no two entries that differ anywhere are the digests the same.
TEST(AuditEntry, EverythingCountsForTheDigest) {
  std::vector<AuditEntry> entries(15, erasure());
  entries[1].event.actor = "otto";
  entries[2].event.kind = AuditEvent::api_key;
  entries[3].event.tenant = "";
  entries[4].event.from = "";
  entries[5].event.action = "cancelEmail";
  entries[6].event.subject = "C-1002";
  entries[7].event.result = AuditEvent::refused;
  entries[8].event.detail = "more";
  entries[9].event.request_id = "r-2";
  entries[10].number = 3;
  entries[11].at += base::Milliseconds(1);
  entries[12].previous = "";
  entries[13].expires_at += 1;
  entries[14].others = opening().others;
  // Where one value ends and the next begins counts as well.
  entries.push_back(erasure());
  entries.back().event.actor = "ann";
  entries.back().event.tenant = "anorth";
  std::set<std::string> digests;
  for (const AuditEntry& entry : entries) digests.insert(digest_of(entry));
  EXPECT_EQ(digests.size(), entries.size());
}

TEST(AuditEntry, TextsAreCutAndHaveNoControls) {
  const AuditEvent event = within_limits({.actor = repeated("a", 600), .action = "a\nb\x1b", .subject = "\xff"});
  EXPECT_EQ(event.actor.size(), 512U);
  EXPECT_EQ(event.action, "a b ");
  EXPECT_EQ(event.subject, "?");
}

}  // namespace
}  // namespace postino::access
