#include "smtp/reply.h"

#include <algorithm>
#include <array>

namespace postino::smtp {

namespace {

using enum Stage;
using enum Severity;

constexpr unsigned at(Stage stage) { return 1U << static_cast<unsigned>(stage); }
constexpr unsigned anywhere = ~0U;
constexpr int any_code = 0;
constexpr std::optional<std::string_view> any_status = std::nullopt;
constexpr std::string_view no_status;

constexpr Classification session_later{temporary, Scope::session};
constexpr Classification recipient_later{temporary, Scope::recipient};

struct Rule {
  int code;
  std::optional<std::string_view> status;
  unsigned stages;
  Classification meaning;
};

// Where a reply means something else than its first digit and its stage say. The first rule that fits counts.
constexpr std::array rules = {
    // The server closes the connection, whatever it was asked.
    Rule{421, any_status, anywhere, session_later},

    // Who we are or how we are connected does not suffice: an operator must change the settings, not the message. It
    // comes at any command, when the server asks for AUTH or STARTTLS.
    Rule{530, any_status, anywhere, session_later},
    Rule{534, any_status, anywhere, session_later},
    Rule{535, any_status, anywhere, session_later},
    Rule{538, any_status, anywhere, session_later},
    Rule{any_code, "5.7.8", anywhere, session_later},   // credentials invalid
    Rule{any_code, "5.7.9", anywhere, session_later},   // mechanism too weak
    Rule{any_code, "5.7.10", anywhere, session_later},  // encryption needed
    Rule{any_code, "5.7.11", anywhere, session_later},  // encryption needed for this mechanism
    Rule{any_code, "5.7.13", anywhere, session_later},  // account disabled

    // Every server knows our commands, in our order. One that says otherwise is out of step, or says in this way that
    // it
    // wants AUTH or EHLO first.
    Rule{502, any_status, anywhere, session_later},
    Rule{503, any_status, anywhere, session_later},

    // The server takes no mail from anyone, or has no room for any.
    Rule{521, any_status, at(mail_from), session_later},
    Rule{any_code, "5.3.2", at(mail_from), session_later},
    Rule{any_code, "4.3.2", anywhere, session_later},
    Rule{any_code, "4.3.1", anywhere, session_later},

    // Too many recipients at once: those who are left over get their turn with the next attempt. RFC 5321, 4.5.3.1.10,
    // wants the same for a 552 that does not say more; with a status, as 5.2.2 for a full mailbox, it says what it
    // means.
    Rule{any_code, "5.5.3", at(recipient), recipient_later},
    Rule{552, no_status, at(recipient), recipient_later},
};

// Before the first message nothing can be a message's fault: not even "554 no mail from you" in the greeting, which
// another relay, or this one without us on its list, would not say.
constexpr Scope scope_at(Stage stage) {
  switch (stage) {
    case recipient:
      return Scope::recipient;
    case mail_from:
    case data:
    case end_of_data:
      return Scope::message;
    case connect:
    case hello:
    case start_tls:
    case authenticate:
    case quit:
      break;
  }
  return Scope::session;
}

// The status of a reply, unless it contradicts the code: the code is what the server acts by.
std::string_view enhanced_status_of(const Reply& reply) {
  const bool agrees = !reply.enhanced.empty() && reply.enhanced.front() - '0' == reply.code / 100;
  return agrees ? std::string_view(reply.enhanced) : no_status;
}

}  // namespace

Classification classify(const Reply& reply, Stage stage) {
  const Scope scope = scope_at(stage);
  // The message has been taken, or refused, long before.
  if (stage == quit) return {success, scope};

  const int kind = reply.code / 100;
  if (kind == (stage == data ? 3 : 2)) return {success, scope};
  // A broken connection; or an answer to something we did not ask, after which no other can be trusted.
  if (kind != 4 && kind != 5) return session_later;

  const std::string_view status = enhanced_status_of(reply);
  for (const Rule& rule : rules) {
    const bool fits = (rule.code == any_code || rule.code == reply.code) && (!rule.status || *rule.status == status) &&
                      (rule.stages & at(stage)) != 0;
    if (fits) return rule.meaning;
  }
  if (kind == 4 || scope == Scope::session) return {temporary, scope};
  return {permanent, scope};
}

bool is_reply(std::string_view text) {
  const auto is_digit = [&](std::size_t place) { return text[place] >= '0' && text[place] <= '9'; };
  if (text.size() < 3 || (text[0] != '2' && text[0] != '4' && text[0] != '5') || !is_digit(1) || !is_digit(2))
    return false;
  return text.size() == 3 || text[3] == ' ' || text[3] == '-';
}

bool means_bad_address(std::string_view enhanced_status) {
  static constexpr std::array<std::string_view, 6> bad = {
      "5.1.1",   // no such mailbox
      "5.1.2",   // no such domain
      "5.1.3",   // not an address
      "5.1.6",   // moved, without a new address
      "5.1.10",  // the domain takes no mail (null MX)
      "5.2.1",   // the mailbox is disabled
  };
  return std::find(bad.begin(), bad.end(), enhanced_status) != bad.end();
}

}  // namespace postino::smtp
