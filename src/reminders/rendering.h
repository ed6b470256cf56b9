// Templates become texts: what templates and texts must satisfy, and how variables come into them. Pure code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reminders/record/draft.h"
#include "reminders/record/template.h"
#include "reminders/refusal.h"

namespace postino::reminders {

// A text and where it came from.
struct Rendered {
  DraftText text;
  std::string template_id;
  int template_version = 0;  // 0: an override for one customer
  std::string branding;
  std::string from;  // of the branding; empty: the configured one
  std::string reply_to;
};

inline constexpr std::size_t most_variables = 100;
inline constexpr std::size_t longest_variable = 10'000;  // a value, in bytes

// Values for all variables that Postino knows.
const Variables& sample_variables();
// Does Postino know a value, perhaps not for every customer?
bool is_known_variable(std::string_view name);

// Is a template for reminders of this type? Its type is that of a reminder, "first" or "first_reminder", or empty: any.
bool fits_type(const TemplateVersion& version, std::string_view reminder_type);

// Which fields break a rule; none: it is good. Template ids and names of brandings are part of keys.
std::vector<FieldFault> faults_of(const TemplateVersion& version);
std::vector<FieldFault> faults_of(const Branding& branding);
// Fields are those of DraftText, after `prefix`.
std::vector<FieldFault> faults_of(const DraftText& text, const std::string& prefix);
// Why a draft can never become an e-mail to this address, whatever its customer and the rules say: another program may
// have written anything into it. Fields are the attributes of its item.
std::vector<FieldFault> faults_of(const Draft& draft, const std::string& address);
std::vector<FieldFault> faults_of(const Variables& given);
OrRefusal<void> refuse_faults(std::vector<FieldFault> faults);

// Does one of its texts have {{company_name}}, without being given it by drafts?
bool needs_company(const TemplateVersion& version);

// What is known of a customer is true, and a draft may not say otherwise. Samples stand for anything.
enum class KnownValues { of_customer, samples };

// invalid, with all faults, when variables have no value, when given ones are in no text or would replace what is known
// of the customer, or when a text breaks a rule of drafts once it is complete.
OrRefusal<Rendered> render_text(const TemplateVersion& version, const std::optional<Branding>& branding,
                                const Variables& known, const Variables& given,
                                KnownValues kind = KnownValues::of_customer);

}  // namespace postino::reminders
