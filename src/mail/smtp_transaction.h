// One message over a session: the envelope, the message, and what the server said to each of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mail/smtp_capabilities.h"
#include "mail/smtp_client.h"
#include "mail/smtp_connection.h"

namespace postino::mail {

// What stays from one transaction to the next.
struct SmtpSessionState {
  const SmtpOptions& options;
  SmtpConnection& connection;
  const SmtpCapabilities& capabilities;
  bool needs_reset = false;  // the last transaction was begun and not ended: RSET comes before the next
  std::string output;        // kept for its memory alone
};

class SmtpTransaction {
 public:
  SmtpTransaction(SmtpSessionState& session, const Envelope& envelope, std::string_view message);

  // See SmtpSession::send; once.
  SendResult run(const SmtpSession::BeforeEnd& before_end);

 private:
  enum class Standing { waiting, accepted, refused };
  enum class Command { reset, mail, recipient, data };
  struct Awaited {
    Command command;
    std::size_t recipient = 0;
  };
  static SmtpStage stage_of(Command command);

  // What can be told without asking the server.
  std::optional<SmtpReply> find_fault_of_message() const;
  std::optional<SmtpReply> find_fault_of_recipient(const std::string& address) const;
  void refuse_hopeless();

  void send_envelope();
  // Makes room for one more command: false when there is no sense in sending more.
  bool prepare_next();
  void append(Awaited awaited);
  void collect_replies();
  void take_reply(const Awaited& awaited, SmtpReply reply);
  // After an answer to something that was not asked no other can be trusted. Returns what to say instead of it.
  SmtpReply lose_step(const SmtpReply& reply);
  void cancel_data();
  void settle_refused_envelope();

  void send_message(const SmtpSession::BeforeEnd& before_end);
  void finish_message(bool end_sent, SmtpReply reply);
  void give_up_before_end(const base::Error& reason);

  void refuse(std::size_t recipient, Classification meaning, const SmtpReply& reply);
  // For all recipients that have not been refused yet.
  void settle_others(Classification meaning, const SmtpReply& reply);
  bool any(Standing standing) const;
  SendResult conclude();

  SmtpSessionState& session_;
  SmtpConnection& connection_;
  const Envelope& envelope_;
  const std::string_view message_;
  const bool eight_bit_;

  std::vector<Standing> standings_;  // of the recipients
  std::vector<Awaited> awaited_;     // commands without a reply, in their order
  SmtpReply mail_reply_;
  SmtpReply data_reply_;
  bool mail_accepted_ = false;
  bool data_accepted_ = false;  // the server waits for the message
  bool recipient_taken_ = false;
  std::size_t settling_ = 0;  // the recipient whose result is the whole message's
  SendResult result_;
};

}  // namespace postino::mail
