// Intake: from the payload to the message that will be sent.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "mail/dkim.h"
#include "objects/enclosed_file.h"
#include "outbox/email/event.h"
#include "outbox/email/payload.h"
#include "outbox/ledger/message_memory.h"
#include "outbox/ledger/missing_contents.h"
#include "outbox/ledger/spool.h"

namespace postino::outbox {

struct IntakeOptions {
  std::string attachment_path;    // directory that attachments by path are read from; empty: there are none
  std::string message_id_domain;  // empty: the domain of the sender
  std::size_t max_message_bytes = 50 << 20;
};

class Intake {
 public:
  // `signer` and `missing` may be null. Fails when the attachments' directory cannot be opened.
  static base::Result<std::unique_ptr<Intake>> create(Spool& spool, const mail::DkimSigner* signer,
                                                      IntakeOptions options, MissingContents* missing = nullptr);

  // MessageBuilt, PayloadRejected or IntakeFailed; nothing when it must wait for room. The room is taken before payload
  // and attachments are read. Afterwards it is what the message takes until it is written. Safe to call from any
  // thread.
  std::optional<Event> work(const Email& email, MessageRoom& room) const;

  // The message, from a payload without attachments that was read before. invalid when there cannot be one.
  base::Result<std::string> build(const Email& email, Payload payload) const {
    return compose(email, std::move(payload), {});
  }
  // Is building so quick that a caller can wait for it? Signing is not.
  bool is_quick() const { return signer_ == nullptr; }

 private:
  Intake(Spool& spool, const mail::DkimSigner* signer, IntakeOptions options, base::Descriptor attachments,
         MissingContents* missing)
      : spool_(spool),
        signer_(signer),
        options_(std::move(options)),
        attachments_(std::move(attachments)),
        missing_(missing) {}
  using Files = std::vector<objects::EnclosedFile>;  // of the attachments by path, in their order

  base::Result<std::string> build(const Email& email, MessageRoom& room) const;
  base::Result<Payload> read_payload_of(const Email& email, MessageRoom& room, std::size_t& bytes) const;
  base::Result<Files> open_files(const Payload& payload) const;
  base::Result<std::string> compose(const Email& email, Payload payload, Files files) const;
  base::Result<std::vector<mail::Attachment>> read_attachments(Payload& payload, Files files) const;
  tl::unexpected<base::Error> too_large() const;

  Spool& spool_;
  const mail::DkimSigner* const signer_;
  const IntakeOptions options_;
  const base::Descriptor attachments_;  // the directory, if there is one
  MissingContents* const missing_;      // may be null
};

}  // namespace postino::outbox
