#include "mail/delivery_report.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "mail/address_syntax.h"
#include "mail/mime_part.h"
#include "mail/report_values.h"

namespace postino::mail {

namespace {

using base::invalid;
using base::Result;

constexpr std::size_t recipients_limit = 1'000;
constexpr std::size_t text_limit = 512;
constexpr int depth_limit = 3;

// Some systems wrap the report once more, to add a footer.
std::optional<MimePart> find_report(const MimePart& part, int depth) {
  if (part.type() == "multipart/report") return part;
  if (depth == depth_limit) return std::nullopt;
  for (const MimePart& child : part.parts())
    if (auto found = find_report(child, depth + 1)) return found;
  return std::nullopt;
}

// What the first part of one of the types says; empty when there is none.
std::string content_of(const std::vector<MimePart>& parts, std::initializer_list<std::string_view> types) {
  const auto found =
      std::ranges::find_if(parts, [&](const MimePart& part) { return std::ranges::count(types, part.type()) > 0; });
  return found == parts.end() ? std::string() : found->content();
}

// "<id@example.com>" without the brackets.
std::string bare_message_id(std::string_view value) {
  const std::size_t open = value.find('<');
  if (open != std::string_view::npos) value.remove_prefix(open + 1);
  return printable(value.substr(0, value.find('>')), text_limit);
}

// Of the message that the report returns, whole or its headers alone.
std::string returned_message_id(const std::vector<MimePart>& parts) {
  const std::string content =
      content_of(parts, {"message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers"});
  std::string_view rest = content;
  return bare_message_id(HeaderFields::take(rest).value("Message-ID"));
}

// The address in "rfc822; <ann@example.com>"; empty when there is none.
std::string reported_address(std::string_view value, bool may_be_xtext) {
  value = without_type(value);
  if (value.starts_with('<') && value.ends_with('>')) value = value.substr(1, value.size() - 2);
  if (may_be_xtext)
    if (std::string decoded = decode_xtext(value); check_address(decoded)) return decoded;
  return check_address(value) ? std::string(value) : std::string();
}

// The first word in lower case: comments may follow.
std::string first_word(std::string_view value) {
  return base::lower_case(value.substr(0, value.find_first_of(" \t(;")));
}

bool is_action(std::string_view word) {
  constexpr std::string_view actions[] = {"failed", "delayed", "delivered", "relayed", "expanded"};
  return std::ranges::find(actions, word) != std::end(actions);
}

// class.subject.detail (RFC 3463), or empty.
std::string enhanced_status_of(std::string_view value) {
  std::string word = first_word(value);
  const bool well_formed = word.size() >= 5 && word.size() <= 9 &&
                           std::string_view("245").find(word[0]) != std::string_view::npos && word[1] == '.' &&
                           word.find_first_not_of("0123456789.") == std::string::npos &&
                           std::ranges::count(word, '.') == 2 && word[2] != '.' && word.back() != '.';
  return well_formed ? word : std::string();
}

std::string diagnostic_of(const HeaderFields& fields) {
  if (const auto words = without_type(fields.value("Diagnostic-Code")); !words.empty())
    return printable(words, text_limit);
  // Not the server's words, but the little that is known.
  std::string instead(fields.value("Status"));
  if (const auto server = without_type(fields.value("Remote-MTA")); !server.empty())
    instead.append(instead.empty() ? "" : " ").append("from ").append(server);
  return printable(instead, text_limit);
}

// None when the fields are not about a recipient, or not understood.
std::optional<ReportedRecipient> recipient_of(const HeaderFields& fields) {
  ReportedRecipient recipient;
  recipient.address = reported_address(fields.value("Original-Recipient"), true);
  if (recipient.address.empty()) recipient.address = reported_address(fields.value("Final-Recipient"), false);
  recipient.action = first_word(fields.value("Action"));
  if (recipient.address.empty() || !is_action(recipient.action)) return std::nullopt;
  recipient.status = enhanced_status_of(fields.value("Status"));
  recipient.diagnostic = diagnostic_of(fields);
  return recipient;
}

Result<DeliveryReport> read_report(const MimePart& part) {
  if (!part.report_type().empty() && part.report_type() != "delivery-status")
    return invalid("must be a report of the type delivery-status");
  const std::vector<MimePart> parts = part.parts();
  const std::string status = content_of(parts, {"message/delivery-status", "message/global-delivery-status"});
  if (status.empty()) return invalid("must have a part of the type message/delivery-status");

  DeliveryReport report;
  for (std::string_view rest = status; !rest.empty();) {
    const HeaderFields fields = HeaderFields::take(rest);
    if (report.envelope_id.empty())
      report.envelope_id = printable(decode_xtext(fields.value("Original-Envelope-Id")), text_limit);
    auto recipient = recipient_of(fields);
    if (!recipient) continue;
    if (report.recipients.size() == recipients_limit) return invalid("must be about at most 1,000 recipients");
    report.recipients.push_back(*std::move(recipient));
  }
  if (report.recipients.empty()) return invalid("must report the status of at least one recipient");
  report.message_id = returned_message_id(parts);
  return report;
}

}  // namespace

Result<DeliveryReport> parse_delivery_report(std::string_view message) {
  const auto report = find_report(MimePart(message), 0);
  if (!report) return invalid("must be of the type multipart/report");
  return read_report(*report);
}

}  // namespace postino::mail
