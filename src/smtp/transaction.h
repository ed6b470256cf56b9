// One message over a session: the envelope, the message, and what the server said to each of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smtp/capabilities.h"
#include "smtp/client.h"
#include "smtp/connection.h"

namespace postino::smtp {

// What stays from one transaction to the next.
struct SessionState {
  const Options& options;
  Connection& connection;
  const Capabilities& capabilities;
  bool needs_reset = false;  // the last transaction was begun and not ended: RSET comes before the next
  std::string output;        // kept for its memory alone
};

class Transaction {
 public:
  Transaction(SessionState& session, const Envelope& envelope, std::string_view message);

  // See Session::send; once.
  SendResult run(const Session::BeforeEnd& before_end);

 private:
  enum class Acceptance { waiting, accepted, refused };
  enum class Command { reset, mail, recipient, data };
  struct Awaited {
    Command command;
    std::size_t recipient = 0;
  };
  static Stage stage_of(Command command);

  struct Fault {
    Reply reply;
    bool is_of_server = false;  // another one may take it
  };
  // What can be told without asking the server.
  std::optional<Fault> find_fault_of_message() const;
  std::optional<Fault> find_fault_of_recipient(const std::string& address) const;
  void refuse_hopeless();

  void send_envelope();
  // Makes room for one more command: false when there is no sense in sending more.
  bool prepare_next();
  void append(Awaited awaited);
  void collect_replies();
  void take_reply(const Awaited& awaited, Reply reply);
  // After an answer to something that was not asked no other can be trusted. Returns what to say instead of it.
  Reply lose_step(const Reply& reply);
  void cancel_data();
  void settle_refused_envelope();

  void send_message(const Session::BeforeEnd& before_end);
  void finish_message(bool end_sent, Reply reply);
  void give_up_before_end(const base::Error& reason);

  void refuse(std::size_t recipient, Classification meaning, const Reply& reply);
  // For all recipients that have not been refused yet.
  void settle_others(Classification meaning, const Reply& reply);
  bool any(Acceptance acceptance) const;
  SendResult conclude();

  SessionState& session_;
  Connection& connection_;
  const Envelope& envelope_;
  const std::string_view message_;
  const bool eight_bit_;
  const bool international_;  // an address in the header is not ASCII
  // As the server is told them: domains that are not ASCII in their ASCII form, where the local part allows it.
  const std::string sender_;
  std::vector<std::string> addresses_;

  std::vector<Acceptance> acceptances_;  // of the recipients
  std::vector<Awaited> awaited_;         // commands without a reply, in their order
  Reply mail_reply_;
  Reply data_reply_;
  bool mail_accepted_ = false;
  bool data_accepted_ = false;  // the server waits for the message
  bool recipient_taken_ = false;
  std::size_t settling_ = 0;  // the recipient whose result is the whole message's
  SendResult result_;
};

}  // namespace postino::smtp
