// E-mails that are accepted together: what that has in common on every ledger.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "outbox/ledger/accept_request.h"
#include "outbox/ledger/contents.h"

namespace postino::outbox {

// `Write` is what the ledger's commit has to write for an object of the spool.
template <class Write>
class AcceptBatch {
 public:
  AcceptBatch(const AcceptBatch&) = delete;
  AcceptBatch& operator=(const AcceptBatch&) = delete;

 protected:
  using Group = AcceptRequest::Group;

  // Both must outlive it.
  AcceptBatch(AcceptRequest& request, Spool& spool) : request_(request), contents_(request.size()), spool_(spool) {}
  // Contents that were written to the spool and are not kept are removed.
  ~AcceptBatch() {
    for (const SpooledContents<Write>& contents : contents_) contents.remove_written(spool_);
  }

  // Puts payloads and messages where the ledger keeps them; `spool` as in spool_contents(). An e-mail whose contents
  // cannot be written is refused.
  template <class SpoolObjects>
  base::Result<void> spool_all(const Policy& policy, const SpoolObjects& spool) {
    for (std::size_t i = 0; i < request_.size(); ++i) {
      if (request_.is_refused(i)) continue;
      NewEmail& email = request_[i];
      auto contents =
          spool_contents<Write>(request_.email(i), std::move(email.payload), std::move(email.change.message),
                                expiry_of(request_.email(i), policy), spool);
      if (contents)
        contents_[i] = *std::move(contents);
      else
        TRY_VOID(request_.refuse({i}, AcceptError::storage, contents.error()));
    }
    return {};
  }

  // These e-mails are there and name their contents; or that is not known.
  void keep_contents(const Group& group) {
    for (const std::size_t i : group) contents_[i].written.clear();
  }

  // How full a group is, as far as it is the same on every ledger.
  class Room {
   public:
    explicit Room(const AcceptRequest& request) : request_(&request) {}
    bool has_room_for(std::size_t i) const { return room_.has_room_for(request_->bytes(i)); }
    void add(std::size_t i) { room_.add(request_->bytes(i)); }

   private:
    const AcceptRequest* request_;
    CommitRoom room_;
  };

  // What is not refused, in groups that fit into one commit each. In the order of the ids, so that two requests for the
  // same e-mails wait for each other and do not block each other for good. With a key there is at least one group: its
  // answer is written even when all e-mails are refused.
  template <class RoomOfLedger>
  std::vector<Group> make_groups(const RoomOfLedger& empty) const {
    Group order;
    for (std::size_t i = 0; i < request_.size(); ++i)
      if (!request_.is_refused(i)) order.push_back(i);
    std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return request_.email(i).id; });
    std::vector<Group> groups;
    RoomOfLedger room = empty;
    for (const std::size_t i : order) {
      if (groups.empty() || !room.has_room_for(i)) {
        groups.emplace_back();
        room = empty;
      }
      groups.back().push_back(i);
      room.add(i);
    }
    if (groups.empty() && request_.key()) groups.emplace_back();
    return groups;
  }

  // E-mails whose ids are taken leave the group: refused, or accepted before by this very request. `token_of` gives
  // the acceptance token of the e-mail that has the id of this one; nullopt when there is none.
  template <class TokenOf>
  void drop_known_ones(Group& group, const TokenOf& token_of) {
    std::erase_if(group, [&](std::size_t i) {
      const std::optional<std::string> token = token_of(i);
      if (!token) return false;
      if (request_.has_accepted(i, *token))
        keep_contents({i});
      else
        request_.refuse_duplicate(i);
      return true;
    });
  }

  AcceptRequest& request_;
  std::vector<SpooledContents<Write>> contents_;  // of each e-mail

 private:
  Spool& spool_;
};

}  // namespace postino::outbox
