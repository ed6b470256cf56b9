// Intake: from the payload to the message that will be sent.
#pragma once

#include <string>

#include "mail/dkim.h"
#include "outbox/email/event.h"
#include "outbox/email/payload.h"
#include "outbox/ledger/spool.h"

namespace postino::outbox {

struct IntakeOptions {
  std::string attachment_path;    // directory that attachments by path are read from; empty: there are none
  std::string message_id_domain;  // empty: the domain of the sender
  std::size_t max_message_bytes = 50 << 20;
};

class Intake {
 public:
  // `signer` may be null. Fails when the attachments' directory cannot be opened.
  static base::Result<std::unique_ptr<Intake>> create(Spool& spool, const mail::DkimSigner* signer,
                                                      IntakeOptions options);
  ~Intake();

  // MessageBuilt, PayloadRejected or IntakeFailed. Safe to call from any thread.
  Event work(const Email& email) const;

  // The message, from a payload that was read before. invalid when there cannot be one.
  base::Result<std::string> build(const Email& email, Payload payload) const;
  // Is building so quick that a caller can wait for it? Signing is not.
  bool is_quick() const { return signer_ == nullptr; }

 private:
  Intake(Spool& spool, const mail::DkimSigner* signer, IntakeOptions options, int attachments)
      : spool_(spool), signer_(signer), options_(std::move(options)), attachments_(attachments) {}
  base::Result<std::string> build(const Email& email) const;
  base::Result<mail::Attachment> read_attachment(const PayloadAttachment& attachment) const;

  Spool& spool_;
  const mail::DkimSigner* const signer_;
  const IntakeOptions options_;
  const int attachments_;  // descriptor of the directory; -1: there is none
};

}  // namespace postino::outbox
