#include "smtp/command.h"

#include "mail/address.h"

namespace postino::smtp {

namespace {

constexpr std::size_t longest_address = 64 + 1 + 255;  // RFC 5321, 4.5.3.1
constexpr std::size_t longest_envelope_id = 100;       // RFC 3461, 4.4

// RFC 3461, section 4: everything that could be taken for something else becomes +XX.
std::string xtext(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 0x7F && c != '+' && c != '=') {
      out += c;
    } else {
      out += '+';
      out += digits[byte >> 4];
      out += digits[byte & 0xF];
    }
  }
  return out;
}

}  // namespace

bool fits_in_path(std::string_view address) {
  if (address.size() > longest_address) return false;
  bool quoted = false;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const auto byte = static_cast<unsigned char>(address[i]);
    if (byte < ' ' || byte == 0x7F) return false;
    if (byte == '"') quoted = !quoted;
    if (quoted && byte == '\\') {
      if (++i == address.size() || static_cast<unsigned char>(address[i]) < ' ') return false;
    } else if (!quoted && (byte == ' ' || byte == '<' || byte == '>')) {
      return false;
    }
  }
  return !quoted;
}

void append_mail_command(std::string& out, std::string_view sender, const MailParameters& parameters,
                         const Capabilities& server) {
  ((out += "MAIL FROM:<") += sender) += '>';
  if (server.size) (out += " SIZE=") += std::to_string(parameters.size);
  if (parameters.eight_bit && server.eight_bit_mime) out += " BODY=8BITMIME";
  if (parameters.utf8 && server.utf8) out += " SMTPUTF8";
  if (server.dsn) {
    out += " RET=HDRS";  // the headers tell which message it was
    const std::string id = xtext(parameters.envelope_id);
    if (!id.empty() && id.size() <= longest_envelope_id) (out += " ENVID=") += id;
  }
  out += "\r\n";
}

void append_recipient_command(std::string& out, std::string_view address, const Capabilities& server) {
  ((out += "RCPT TO:<") += address) += '>';
  // So that a report names the address that we know, whatever it was forwarded to. Without NOTIFY failures are
  // reported.
  if (server.dsn && mail::is_ascii(address)) (out += " ORCPT=rfc822;") += xtext(address);
  out += "\r\n";
}

}  // namespace postino::smtp
