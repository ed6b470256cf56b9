// Templates of reminders, overrides for single customers, and branding.
#include <charconv>

#include "api/routes/reminder_json.h"
#include "api/routes/reminder_parameters.h"
#include "api/routes/reminder_requests.h"
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

constexpr int most_version = 1'000'000;

Outcome list_templates(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(const auto templates, answered(service->templates().list(page, call.caller.tenant)));
  return json_reply(page_json(templates));
}

Outcome show_template(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const std::optional<int> version, call.number("version", most_version));
  TRY(const auto found,
      answered(service->templates().find(call.path_parameter("template"), version, call.caller.tenant)));
  return json_reply(thing_json(found));
}

Outcome list_versions(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(const auto versions,
      answered(service->templates().versions(call.path_parameter("template"), page, call.caller.tenant)));
  return json_reply(page_json(versions));
}

Outcome add_version(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto wanted, read_template(call.request.body, call.path_parameter("template")));
  TRY(const auto version,
      answered_in(template_fields, service->templates().add_version(wanted, actor_of(call, wanted.created_by))));
  Reply reply = json_reply(thing_json(version), 201);
  reply.told_of = std::to_string(version.version);
  return reply;
}

Outcome version_again(Call& call, const std::string& told_of) {
  TRY(auto* service, reminders_of(call));
  int number = 0;
  std::from_chars(told_of.data(), told_of.data() + told_of.size(), number);
  TRY(const auto version,
      answered(service->templates().find(call.path_parameter("template"), number, call.caller.tenant)));
  return json_reply(thing_json(version));
}

Outcome activate_version(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const int version, read_version(call.request.body));
  TRY(const auto active,
      answered(service->templates().activate(call.path_parameter("template"), version, actor_of(call))));
  return json_reply(thing_json(active));
}

Outcome preview_template(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const PreviewRequest request, read_preview(call.request.body));
  const std::string& id = call.path_parameter("template");
  if (request.customer_id.empty()) {
    TRY(const auto rendered,
        answered_in(draft_fields,
                    service->templates().preview(id, request.version, request.variables, call.caller.tenant)));
    return json_reply(thing_json(rendered));
  }
  reminders::NewDraft draft;
  draft.customer_id = request.customer_id;
  draft.reminder_type = request.reminder_type;
  draft.template_id = id;
  draft.variables = request.variables;
  TRY(const auto rendered,
      answered_in(draft_fields, service->drafts().preview(draft, call.caller.tenant), named_customer));
  return json_reply(thing_json(rendered));
}

// It has changed nothing.
Outcome preview_again(Call& call, const std::string& /*told_of*/) { return preview_template(call); }

Outcome show_override(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto used, answered(service->templates().in_use(call.path_parameter("template"), call.path_parameter("id"),
                                                            call.caller.tenant)));
  return json_reply(thing_json(used));
}

Outcome put_override(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(auto wanted, read_template(call.request.body, call.path_parameter("template")));
  wanted.customer_id = call.path_parameter("id");
  TRY(const auto version,
      answered_in(template_fields, service->templates().put_override(wanted, actor_of(call, wanted.created_by))));
  return json_reply(thing_json(version));
}

Outcome remove_override(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY_VOID(answered(service->templates().remove_override(call.path_parameter("id"), call.path_parameter("template"),
                                                         actor_of(call))));
  return no_content();
}

Outcome list_brandings(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const reminders::PageRequest page, reminder_page(call));
  TRY(const auto brandings, answered(service->templates().brandings(page, call.caller.tenant)));
  return json_reply(page_json(brandings));
}

Outcome show_branding(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto branding,
      answered(service->templates().find_branding(call.path_parameter("branding"), call.caller.tenant)));
  return json_reply(thing_json(branding));
}

Outcome put_branding(Call& call) {
  TRY(auto* service, reminders_of(call));
  TRY(const auto wanted, read_branding(call.request.body, call.path_parameter("branding")));
  TRY(const auto branding, answered(service->templates().put_branding(wanted, actor_of(call))));
  return json_reply(thing_json(branding));
}

Parameter template_parameter() {
  return {"template",
          ParameterPlace::path,
          {.type = "string", .description = "The id of the template.", .example = R"("reminder_first")"}};
}

Operation template_operation(std::string_view id, std::string_view method, std::string_view path,
                             std::string_view summary, std::string_view description = "") {
  return reminder_operation(id, method, path, summary, description, {template_parameter()},
                            {{200, "The template.", {{json_content_type, "Template"}}},
                             {404, "No template has this id, or it has no such version."}});
}

std::vector<Route> version_routes() {
  Operation list = template_operation("listTemplates", "GET", "/reminders/templates", "List templates");
  list.parameters = {cursor_parameter(), limit_parameter()};
  list.answers = {{200, "A page of templates.", {{json_content_type, "TemplatePage"}}}};
  Operation show = template_operation("getTemplate", "GET", "/reminders/templates/{template}", "Show a template");
  show.parameters.push_back({"version",
                             ParameterPlace::query,
                             {.type = "integer",
                              .description = "The version; the active one by default.",
                              .least = 1,
                              .most = most_version}});
  Operation versions = template_operation("listTemplateVersions", "GET", "/reminders/templates/{template}/versions",
                                          "List the versions of a template, newest first");
  versions.parameters = {template_parameter(), cursor_parameter(), limit_parameter()};
  versions.answers = {{200, "A page of versions.", {{json_content_type, "TemplateVersionPage"}}},
                      {404, "No template has this id."}};
  Operation add = template_operation(
      "addTemplateVersion", "POST", "/reminders/templates/{template}/versions", "Add a version of a template",
      "Texts have {{placeholders}}. The first version of a template is active at once, later ones when they are "
      "activated.");
  add.body = {{{json_content_type, "TemplateDetails"}}, true};
  add.answers.front() = {201, "The new version.", {{json_content_type, "Template"}}};
  add.answers.back().description = "The branding that the body names does not exist.";
  Operation activate = template_operation("activateTemplate", "POST", "/reminders/templates/{template}/activate",
                                          "Activate a version of a template",
                                          "Also an earlier one. Drafts that were made before keep their text.");
  activate.body = {{{json_content_type, "VersionChoice"}}, true};
  Operation preview = template_operation("previewTemplate", "POST", "/reminders/templates/{template}/preview",
                                         "Show what a template would look like",
                                         "With sample values, or with those of a customer. Nothing is drafted.");
  preview.right = Right::read_reminders;
  preview.body = {{{json_content_type, "PreviewRequest"}}, false};
  preview.answers = {{200, "The texts.", {{json_content_type, "Preview"}}},
                     {404, "No template has this id, it has no such version, or there is no such customer."}};
  return {{.operation = std::move(list), .handle = list_templates, .large_answer = true},
          {.operation = std::move(show), .handle = show_template},
          {.operation = std::move(versions), .handle = list_versions, .large_answer = true},
          {.operation = std::move(add), .handle = add_version, .again = version_again},
          {.operation = std::move(activate), .handle = activate_version},
          {.operation = std::move(preview), .handle = preview_template, .again = preview_again}};
}

std::vector<Route> override_routes() {
  constexpr std::string_view path = "/reminders/customers/{id}/templates/{template}";
  const auto operation = [&](std::string_view id, std::string_view method, std::string_view summary) {
    Operation made = template_operation(id, method, path, summary);
    made.parameters = {customer_id_parameter(), template_parameter()};
    made.answers.back().description = "The customer or the template does not exist.";
    return made;
  };
  Operation put = operation("putTemplateOverride", "PUT", "Give a customer a template of its own");
  put.body = {{{json_content_type, "TemplateDetails"}}, true};
  Operation remove = operation("removeTemplateOverride", "DELETE", "Remove the template of a customer's own");
  remove.answers = {{204, "The customer has no template of its own any more."},
                    {404, "The customer had no template of its own under this id."}};
  return {
      {.operation = operation("getTemplateInUse", "GET", "Show the template that a customer's drafts are made from"),
       .handle = show_override},
      {.operation = std::move(put), .handle = put_override},
      {.operation = std::move(remove), .handle = remove_override}};
}

std::vector<Route> branding_routes() {
  const auto operation = [](std::string_view id, std::string_view method, std::string_view summary) {
    Operation made = template_operation(id, method, "/reminders/brandings/{branding}", summary);
    made.parameters = {{"branding",
                        ParameterPlace::path,
                        {.type = "string", .description = "The name of the branding.", .example = R"("innovate_ai")"}}};
    made.answers = {{200, "The branding.", {{json_content_type, "Branding"}}}, {404, "No branding has this name."}};
    return made;
  };
  Operation list = operation("listBrandings", "GET", "List brandings");
  list.path = "/reminders/brandings";
  list.parameters = {cursor_parameter(), limit_parameter()};
  list.answers = {{200, "A page of brandings.", {{json_content_type, "BrandingPage"}}}};
  Operation put = operation("putBranding", "PUT", "Add or change a branding");
  put.body = {{{json_content_type, "BrandingDetails"}}, true};
  put.answers = {{200, "The branding.", {{json_content_type, "Branding"}}}};
  return {{.operation = std::move(list), .handle = list_brandings, .large_answer = true},
          {.operation = operation("getBranding", "GET", "Show a branding"), .handle = show_branding},
          {.operation = std::move(put), .handle = put_branding}};
}

}  // namespace

std::vector<Route> reminder_template_routes() {
  std::vector<Route> routes = version_routes();
  std::ranges::move(override_routes(), std::back_inserter(routes));
  std::ranges::move(branding_routes(), std::back_inserter(routes));
  return with_reminder_answers(std::move(routes));
}

}  // namespace postino::api
