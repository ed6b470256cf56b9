#include "smtp/transaction.h"

#include <algorithm>

#include "mail/address.h"
#include "mail/address_syntax.h"
#include "smtp/body.h"
#include "smtp/command.h"

namespace postino::smtp {

namespace {

// Replies that may be on their way at once: as many as fit into the buffers of a socket that is not read meanwhile.
constexpr std::size_t most_awaited = 100;

constexpr Classification message_refused{Severity::permanent, Scope::message};
constexpr Classification recipient_refused{Severity::permanent, Scope::recipient};

bool is_success(const Reply& reply, Stage stage) { return classify(reply, stage).severity == Severity::success; }

// For what a server need not be asked, in our words.
Reply own_reply(std::string_view reason, std::string status = "") {
  return {0, std::move(status), "not sent: " + std::string(reason)};
}

// A domain beyond ASCII needs no SMTPUTF8.
std::string address_for_server(const std::string& address) {
  const auto ascii = mail::to_header_address(address);
  return ascii ? *ascii : address;
}

}  // namespace

Stage Transaction::stage_of(Command command) {
  switch (command) {
    case Command::reset:
    case Command::mail:
      return Stage::mail_from;
    case Command::recipient:
      return Stage::recipient;
    case Command::data:
      break;
  }
  return Stage::data;
}

Transaction::Transaction(SessionState& session, const Envelope& envelope, std::string_view message)
    : session_(session),
      connection_(session.connection),
      envelope_(envelope),
      message_(message),
      eight_bit_(has_eight_bit_bytes(message)),
      international_(eight_bit_ && mail::has_international_address(message)),
      sender_(address_for_server(envelope.sender)),
      acceptances_(envelope.recipients.size(), Acceptance::waiting) {
  result_.recipients.reserve(envelope.recipients.size());
  for (const std::string& address : envelope.recipients) {
    result_.recipients.push_back({address, {}, {}});
    addresses_.push_back(address_for_server(address));
  }
}

SendResult Transaction::run(const Session::BeforeEnd& before_end) {
  refuse_hopeless();
  if (!any(Acceptance::waiting)) return conclude();
  if (connection_.has_unread()) connection_.break_off(no_reply("the server sent a reply that was not expected"));

  send_envelope();
  const bool deliverable = mail_accepted_ && any(Acceptance::accepted) && !connection_.broken();
  if (data_accepted_ && deliverable) {
    send_message(before_end);
  } else {
    if (data_accepted_ && !connection_.broken()) cancel_data();
    settle_refused_envelope();
  }
  return conclude();
}

std::optional<Transaction::Fault> Transaction::find_fault_of_message() const {
  const Capabilities& server = session_.capabilities;
  const auto of_server = [](std::string_view reason) { return Fault{own_reply(reason), true}; };
  if (!fits_in_path(sender_)) return Fault{own_reply("the sender is not an address", "5.1.7")};
  if (!has_proper_line_ends(message_)) return Fault{own_reply("the message has a line end that is not CRLF")};
  if (!server.utf8 && !mail::is_ascii(sender_))
    return of_server("the sender is not ASCII, and the mail server does not offer SMTPUTF8");
  if (!server.utf8 && international_)
    return of_server("the message has an address that is not ASCII, and the mail server does not offer SMTPUTF8");
  if (server.size_limit > 0 && transferred_size(message_) > server.size_limit)
    return of_server("the message is larger than the mail server's limit of " + std::to_string(server.size_limit) +
                     " bytes");
  if (eight_bit_ && !server.eight_bit_mime)
    return of_server("the message is not ASCII, and the mail server does not offer 8BITMIME");
  return {};
}

std::optional<Transaction::Fault> Transaction::find_fault_of_recipient(const std::string& address) const {
  if (address.empty() || !fits_in_path(address)) return Fault{own_reply("the recipient is not an address", "5.1.3")};
  if (!session_.capabilities.utf8 && !mail::is_ascii(address))
    return Fault{own_reply("the address is not ASCII, and the mail server does not offer SMTPUTF8"), true};
  return {};
}

void Transaction::refuse_hopeless() {
  if (const auto fault = find_fault_of_message()) {
    result_.is_server_unfit = fault->is_of_server;
    return settle_others(message_refused, fault->reply);
  }
  for (std::size_t i = 0; i < acceptances_.size(); ++i) {
    const auto fault = find_fault_of_recipient(addresses_[i]);
    if (!fault) continue;
    if (fault->is_of_server && envelope_.only_whole) {
      result_.is_server_unfit = true;
      return settle_others(message_refused, fault->reply);
    }
    refuse(i, recipient_refused, fault->reply);
  }
}

void Transaction::send_envelope() {
  session_.output.clear();
  if (session_.needs_reset) append({Command::reset});
  if (!prepare_next()) return;
  append({Command::mail});
  for (std::size_t i = 0; i < acceptances_.size(); ++i) {
    if (acceptances_[i] == Acceptance::refused) continue;
    if (!prepare_next()) return;
    append({Command::recipient, i});
  }
  if (!prepare_next()) return;
  // What is still on its way may be good news.
  if (awaited_.empty() && !any(Acceptance::accepted)) return;
  append({Command::data});
  collect_replies();
}

bool Transaction::prepare_next() {
  if (awaited_.size() < (session_.capabilities.pipelining ? most_awaited : 1)) return true;
  const bool mail_asked = awaited_.back().command != Command::reset;
  collect_replies();
  return !connection_.broken() && (mail_accepted_ || !mail_asked);
}

void Transaction::append(Awaited awaited) {
  std::string& out = session_.output;
  switch (awaited.command) {
    case Command::reset:
      out += "RSET\r\n";
      break;
    case Command::mail: {
      const auto needs_utf8 = [](const std::string& address) { return !mail::is_ascii(address); };
      MailParameters parameters{transferred_size(message_), eight_bit_, international_ || needs_utf8(sender_),
                                envelope_.envelope_id};
      for (std::size_t i = 0; i < acceptances_.size(); ++i)
        parameters.utf8 |= acceptances_[i] != Acceptance::refused && needs_utf8(addresses_[i]);
      append_mail_command(out, sender_, parameters, session_.capabilities);
      break;
    }
    case Command::recipient:
      append_recipient_command(out, addresses_[awaited.recipient], session_.capabilities);
      break;
    case Command::data:
      out += "DATA\r\n";
      break;
  }
  awaited_.push_back(awaited);
}

void Transaction::collect_replies() {
  const Options& options = session_.options;
  connection_.write(session_.output, options.command_timeout);
  session_.output.clear();
  for (const Awaited& awaited : awaited_) {
    const bool data = awaited.command == Command::data;
    take_reply(awaited, connection_.read_reply(data ? options.data_timeout : options.command_timeout));
  }
  awaited_.clear();
}

Reply Transaction::lose_step(const Reply& reply) {
  connection_.break_off(no_reply("the server sent replies out of order: " + reply.text));
  return connection_.last_reply();
}

void Transaction::take_reply(const Awaited& awaited, Reply reply) {
  const Stage stage = stage_of(awaited.command);
  const bool accepted = is_success(reply, stage);
  if (reply.positive() && !accepted) reply = lose_step(reply);
  switch (awaited.command) {
    case Command::reset:
      session_.needs_reset = false;
      // Without it the client does not know which recipients the server means.
      if (!accepted) lose_step(reply);
      break;
    case Command::mail:
      mail_accepted_ = accepted;
      session_.needs_reset = accepted;
      mail_reply_ = std::move(reply);
      break;
    case Command::recipient:
      recipient_taken_ |= accepted;
      if (!mail_accepted_) break;  // what was said about MAIL counts
      if (accepted)
        acceptances_[awaited.recipient] = Acceptance::accepted;
      else
        refuse(awaited.recipient, classify(reply, stage), reply);
      break;
    case Command::data:
      data_accepted_ = accepted;
      data_reply_ = std::move(reply);
      break;
  }
}

// The server waits for a message without recipients. An empty one ends that, unless a recipient would get it.
void Transaction::cancel_data() {
  if (recipient_taken_) {
    lose_step(data_reply_);
    return;
  }
  connection_.write(".\r\n", session_.options.command_timeout);
  connection_.read_reply(session_.options.command_timeout);
  session_.needs_reset = false;
}

void Transaction::settle_refused_envelope() {
  const bool mail_refused = !mail_accepted_ && mail_reply_.code != 0;
  if (mail_refused)
    settle_others(classify(mail_reply_, Stage::mail_from), mail_reply_);
  else if (connection_.broken())
    settle_others(classify(connection_.last_reply(), Stage::data), connection_.last_reply());
  else
    settle_others(classify(data_reply_, Stage::data), data_reply_);
}

void Transaction::send_message(const Session::BeforeEnd& before_end) {
  Body body(message_, session_.output);
  bool written = true;
  while (written && !body.finished()) {
    // As late as possible: a process that was suspended in the middle of a message must not end it unasked.
    if (before_end && body.is_next_last())
      if (const auto allowed = before_end(); !allowed) return give_up_before_end(allowed.error());
    written = connection_.write(body.next(), session_.options.data_timeout);
  }
  finish_message(body.finished(), connection_.read_reply(session_.options.end_timeout));
}

void Transaction::finish_message(bool end_sent, Reply reply) {
  session_.needs_reset = false;
  // A server cannot have taken a message that has no end; what another positive reply means for it is not known.
  const bool accepted = end_sent && is_success(reply, Stage::end_of_data);
  if (reply.positive() && !accepted) reply = lose_step(reply);
  result_.outcome_unknown = end_sent && reply.code == 0;
  settle_others(classify(reply, Stage::end_of_data), reply);
}

// DATA cannot be taken back: whatever is sent now would be the message. Only going away ends it.
void Transaction::give_up_before_end(const base::Error& reason) {
  const Reply reply = no_reply("not sent: " + reason.message);
  connection_.break_off(reply);
  result_.not_begun = true;
  settle_others({Severity::temporary, Scope::message}, reply);
}

void Transaction::refuse(std::size_t recipient, Classification meaning, const Reply& reply) {
  acceptances_[recipient] = Acceptance::refused;
  result_.recipients[recipient].severity = meaning.severity;
  result_.recipients[recipient].reply = reply;
  result_.session_failed |= meaning.scope == Scope::session;
}

void Transaction::settle_others(Classification meaning, const Reply& reply) {
  for (std::size_t i = 0; i < acceptances_.size(); ++i) {
    if (acceptances_[i] == Acceptance::refused) continue;
    settling_ = i;
    if (meaning.severity != Severity::success) {
      refuse(i, meaning, reply);
      continue;
    }
    result_.recipients[i].severity = Severity::success;
    result_.recipients[i].reply = reply;
  }
}

bool Transaction::any(Acceptance acceptance) const {
  return std::find(acceptances_.begin(), acceptances_.end(), acceptance) != acceptances_.end();
}

// The best that happened to anyone: delivered, or else to be tried again. Where it happened to many, what came last.
SendResult Transaction::conclude() {
  for (std::size_t i = 0; i < acceptances_.size(); ++i)
    if (result_.recipients[i].severity < result_.recipients[settling_].severity) settling_ = i;
  if (!acceptances_.empty()) {
    result_.severity = result_.recipients[settling_].severity;
    result_.reply = result_.recipients[settling_].reply;
  }
  if (result_.severity == Severity::success) result_.session_failed = false;
  // It would fare no better with the next message.
  if (result_.session_failed) connection_.break_off(result_.reply);
  return std::move(result_);
}

}  // namespace postino::smtp
