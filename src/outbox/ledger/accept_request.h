// A request to accept e-mails, as every ledger carries it out: which e-mails are refused, and the answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "idempotency/guard.h"
#include "outbox/ledger/contents.h"

namespace postino::outbox {

class AcceptRequest {
 public:
  using Group = std::vector<std::size_t>;  // numbers of e-mails
  // What the ledger's key takes for one id.
  enum class Ids { exact, ignoring_case };

  // Of two e-mails with one id the first counts; the second one is refused. Everything given must outlive it.
  AcceptRequest(std::vector<NewEmail>& emails, const std::optional<AcceptKey>& key, const RenderAnswer& render,
                base::Random& random, Ids ids);

  std::size_t size() const { return emails_.size(); }
  NewEmail& operator[](std::size_t i) { return emails_[i]; }
  Email& email(std::size_t i) { return emails_[i].change.after; }
  const Email& email(std::size_t i) const { return emails_[i].change.after; }
  // Of payload and message, as they came.
  std::size_t bytes(std::size_t i) const { return bytes_[i]; }

  const std::optional<AcceptKey>& key() const { return key_; }
  AcceptAnswer& answer() { return answer_; }
  // What the key says. True when the request is to be carried out; otherwise the answer says why not, with the answer
  // that was stored if it was carried out before.
  bool take_key_state(idempotency::KeyState state, std::string stored_answer = "");
  // Under the key.
  void render_answer() { answer_.stored_answer = render_(answer_.outcomes); }

  bool is_refused(std::size_t i) const { return answer_.outcomes[i].error.has_value(); }
  // Did this request, when it was made before, accept the e-mail that has the id of this one and this token?
  bool has_accepted(std::size_t i, std::string_view token) const;
  void refuse_duplicate(std::size_t i);
  // The store or the spool does not take them now. With a key that is the answer to the whole request: the caller comes
  // again, and nothing is remembered. Without one the e-mails are refused for themselves.
  base::Result<void> refuse(const Group& group, AcceptError error, const base::Error& cause);
  // It is not known whether these are there: they were being written when the ledger failed. With a key that is the
  // answer to the whole request.
  void doubt(const Group& group, const base::Error& cause);

 private:
  std::vector<NewEmail>& emails_;
  const std::optional<AcceptKey>& key_;
  const RenderAnswer& render_;
  std::vector<std::size_t> bytes_;
  AcceptAnswer answer_;
};

}  // namespace postino::outbox
