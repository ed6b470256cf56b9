// Templates, overrides for single customers, and branding. Safe to call from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reminders/actor.h"
#include "reminders/page.h"
#include "reminders/record/template.h"
#include "reminders/refusal.h"
#include "reminders/rendering.h"

namespace postino::reminders {

class Keys;
class ReminderStore;
struct TemplateNumbers;

struct TemplateSummary {
  std::string template_id;
  int active_version = 0;  // 0: none
  int latest_version = 0;
  std::string name;  // of the active one, or of the latest
  std::string type;
};

class Templates {
 public:
  explicit Templates(ReminderStore& store) : store_(store) {}

  // The next version, whatever number is given. It is not active, unless it is the first one. invalid for texts that
  // cannot be parsed.
  OrRefusal<TemplateVersion> add_version(const TemplateVersion& version, const Actor& actor);
  // Also back to an earlier one.
  OrRefusal<TemplateVersion> activate(const std::string& template_id, int version, const Actor& actor);
  // The active one, when no version is named: wrong_state when none is.
  OrRefusal<TemplateVersion> find(const std::string& template_id, std::optional<int> version,
                                  const std::string& tenant);
  OrRefusal<Page<TemplateVersion>> versions(const std::string& template_id, const PageRequest& page,
                                            const std::string& tenant);  // newest first
  // Those that have an active version, the newest first.
  OrRefusal<Page<TemplateSummary>> list(const PageRequest& page, const std::string& tenant);

  OrRefusal<TemplateVersion> put_override(const TemplateVersion& version, const Actor& actor);  // for its customer_id
  OrRefusal<void> remove_override(const std::string& customer_id, const std::string& template_id, const Actor& actor);
  // The override of the customer, or the active version.
  OrRefusal<TemplateVersion> in_use(const std::string& template_id, const std::string& customer_id,
                                    const std::string& tenant);

  OrRefusal<Branding> put_branding(const Branding& branding, const Actor& actor);
  OrRefusal<Branding> find_branding(const std::string& name, const std::string& tenant);
  OrRefusal<Page<Branding>> brandings(const PageRequest& page, const std::string& tenant);

  // With the branding of the template, and render_text(). Variables that Postino knows: customer_name, customer_email,
  // customer_id, invoice_id (the oldest overdue one), invoice_ids, overdue_amount, due_date, days_overdue, company_name
  // (of the branding), reminder_type.
  OrRefusal<Rendered> render(const TemplateVersion& version, const Variables& known, const Variables& given,
                             const std::string& tenant, KnownValues kind = KnownValues::of_customer);
  // The active version, or this one, with sample values for all that are known and not given.
  OrRefusal<Rendered> preview(const std::string& template_id, std::optional<int> version, const Variables& given,
                              const std::string& tenant);

 private:
  struct KnownVersions;
  OrRefusal<TemplateNumbers> stored_numbers(const Keys& keys, const std::string& template_id);
  OrRefusal<KnownVersions> look(const Keys& keys, const std::string& template_id);
  OrRefusal<KnownVersions> look_at_versions(const Keys& keys, const std::string& template_id);
  OrRefusal<std::optional<TemplateVersion>> get_version(const Keys& keys, const std::string& template_id, int version);
  // What is added: its fields, its type, and that its branding has what it needs.
  OrRefusal<void> check_new(const Keys& keys, const TemplateVersion& version);

  ReminderStore& store_;
};

}  // namespace postino::reminders
