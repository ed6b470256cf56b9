// The contract of the ledger, continued: claims by those who do not want all that is due.
#include <gmock/gmock.h>

#include <set>

#include "ledger_conformance.h"

namespace postino::outbox {

using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAreArray;

namespace {

// Wants e-mails of tenants that are not closed, and of each as many as there is room for.
class TenantChoice {
 public:
  void close(const std::string& tenant) { room_[tenant] = 0; }
  void open(const std::string& tenant, int room) { room_[tenant] = room; }

  // Until there is nothing more to look at.
  std::vector<Email> claim_all(Ledger& ledger, int limit) {
    const Choice choice{[this](const Email& email) -> std::optional<std::string> {
                          const auto room = room_.find(email.tenant);
                          if (room != room_.end() && room->second-- <= 0) return email.tenant;
                          return std::nullopt;
                        },
                        [this](const std::string& tenant) { return room_.at(tenant) > 0; }};
    std::vector<Email> claimed;
    for (bool more = true; more;) {
      auto claim = ledger.claim(Pipeline::intake, limit, "me", choice);
      EXPECT_TRUE(claim) << claim.error().message;
      if (!claim) return claimed;
      EXPECT_LE(claim->emails.size(), static_cast<std::size_t>(limit));
      for (Email& email : claim->emails) claimed.push_back(std::move(email));
      more = claim->more;
    }
    return claimed;
  }

 private:
  std::map<std::string, int> room_;
};

}  // namespace

TEST_P(LedgerConformance, WhatIsNotWantedStaysAsItIsAndOthersAreFoundBehindIt) {
  const std::vector<std::string> slow = accept_some(400, "acme");
  clock().advance(std::chrono::seconds(1));
  const std::vector<std::string> fast = accept_some(5, "globex");
  TenantChoice choice;
  choice.close("acme");
  const std::vector<Email> claimed = choice.claim_all(ledger(), 25);
  EXPECT_THAT(ids_of(claimed), UnorderedElementsAreArray(fast));
  EXPECT_THAT(claimed, Each(AllOf(Field(&Email::state, State::intaking), Field(&Email::owner, "me"))));
  EXPECT_EQ(find(slow[0]).version, 1) << "nothing was written";
  EXPECT_EQ(ledger().oldest_due(Pipeline::intake).value(), find(slow[0]).due_at) << "it is still waiting";

  choice.open("acme", 30);
  EXPECT_THAT(choice.claim_all(ledger(), 25), SizeIs(30));
  choice.close("acme");
  clock().advance(std::chrono::seconds(1));
  const std::vector<std::string> next = accept_some(3, "globex");
  EXPECT_THAT(ids_of(choice.claim_all(ledger(), 25)), UnorderedElementsAreArray(next));
  choice.open("acme", 1'000);
  EXPECT_THAT(choice.claim_all(ledger(), 25), SizeIs(370)) << "none is forgotten, and none is claimed twice";
  EXPECT_THAT(choice.claim_all(ledger(), 25), IsEmpty());
  expect_counts_right();
}

TEST_P(LedgerConformance, WithoutAWishAChoiceIsForAll) {
  const std::vector<std::string> ids = accept_some(61);
  TenantChoice all;
  EXPECT_THAT(ids_of(all.claim_all(ledger(), 7)), UnorderedElementsAreArray(ids));
  const std::string later = accept_some(1)[0];
  EXPECT_THAT(ids_of(all.claim_all(ledger(), 7)), UnorderedElementsAreArray({later}));
}

}  // namespace postino::outbox
