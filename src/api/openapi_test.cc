#include "api/openapi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "api/protocol/schemas.h"
#include "api/route_list.h"
#include "base/text.h"
#include "json/pointer_testing.h"

namespace postino::api {
namespace {

using json::Element;
using testing::IsSupersetOf;

class OpenApi : public testing::Test {
 protected:
  OpenApi() : text_(openapi_document(all_routes())) {
    json::FieldErrors errors;
    EXPECT_TRUE(document_.parse(text_, errors));
  }

  std::optional<Element> find(std::string_view pointer) const { return json::find_at(document_.root(), pointer); }
  Element at(std::string_view pointer) const { return find(pointer).value(); }

  static std::map<std::string, Element> members(Element object) {
    std::map<std::string, Element> members;
    EXPECT_TRUE(object.is_object());
    for (const auto& [name, value] : object.members())
      EXPECT_TRUE(members.emplace(name, value).second) << name << " twice";
    return members;
  }

  // Every "$ref" below the element.
  static void collect_references(Element element, std::set<std::string>& references) {
    for (const Element each : element.elements()) collect_references(each, references);
    if (!element.is_object()) return;
    for (const auto& [name, value] : members(element)) {
      if (name == "$ref") references.emplace(value.text().value());
      collect_references(value, references);
    }
  }

  const std::string text_;
  json::Document document_;
};

TEST_F(OpenApi, DescribesEveryRouteAndNothingElse) {
  std::set<std::string> described;
  for (const auto& [path, operations] : members(at("/paths")))
    for (const auto& [method, operation] : members(operations)) described.insert(base::upper_case(method) + " " + path);
  std::set<std::string> routed;
  for (const Route& route : all_routes())
    for (const std::string_view path : {route.operation.path, route.operation.former_path})
      if (!path.empty())
        EXPECT_TRUE(routed.insert(std::string(route.operation.method) + " " + std::string(path)).second) << path;
  EXPECT_EQ(described, routed);
}

TEST_F(OpenApi, FormerPathsAreDeprecated) {
  EXPECT_EQ(at("/paths/~1stale-emails/get/deprecated").boolean(), true);
  EXPECT_EQ(at("/paths/~1stale-emails/get/operationId").text(), "listStaleEmailsByFormerPath");
  EXPECT_EQ(at("/paths/~1emails~1stale/get/operationId").text(), "listStaleEmails");
}

TEST_F(OpenApi, EveryReferenceLeadsSomewhere) {
  std::set<std::string> references;
  collect_references(document_.root(), references);
  EXPECT_FALSE(references.empty());
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with("#/")) << reference;
    EXPECT_TRUE(find(reference.substr(1))) << reference;
  }
  for (const NamedSchema& schema : all_schemas())
    EXPECT_TRUE(references.contains("#/components/schemas/" + std::string(schema.name)))
        << schema.name << " is not used";
}

TEST_F(OpenApi, ParametersOfThePathAreThoseOfThePattern) {
  for (const Route& route : all_routes()) {
    std::set<std::string> named;
    for (std::string_view rest = route.operation.path; rest.find('{') != std::string_view::npos;) {
      rest.remove_prefix(rest.find('{') + 1);
      named.emplace(rest.substr(0, rest.find('}')));
    }
    std::set<std::string> described;
    for (const Parameter& parameter : route.operation.parameters)
      if (parameter.place == ParameterPlace::path) described.emplace(parameter.name);
    EXPECT_EQ(described, named) << route.operation.path;
  }
}

TEST_F(OpenApi, OperationsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const Route& route : all_routes()) {
    EXPECT_TRUE(names.insert(route.operation.id).second) << route.operation.id;
    EXPECT_FALSE(route.operation.summary.empty()) << route.operation.id;
    EXPECT_NE(route.handle, nullptr) << route.operation.id;
  }
}

TEST_F(OpenApi, RoutesPromiseWhatComesWithTheirRoleAndBody) {
  for (const Route& route : all_routes()) {
    std::vector<int> statuses;
    for (const AnswerDescription& answer : route.operation.answers) statuses.push_back(answer.status);
    EXPECT_EQ(std::set(statuses.begin(), statuses.end()).size(), statuses.size()) << route.operation.id;
    EXPECT_LT(statuses.front(), 300) << route.operation.id;
    std::vector<int> promised{400, 500};
    if (route.operation.right != Right::none) promised.insert(promised.end(), {401, 403, 503});
    if (!route.operation.body.contents.empty()) promised.insert(promised.end(), {413, 415});
    if (route.operation.path.find("{id}") != std::string_view::npos) promised.push_back(404);
    EXPECT_THAT(statuses, IsSupersetOf(promised)) << route.operation.id;
  }
}

TEST_F(OpenApi, OnlyHealthDescriptionAndSigningInNeedNoKey) {
  std::set<std::string_view> open;
  for (const Route& route : all_routes())
    if (route.operation.right == Right::none) open.insert(route.operation.id);
  EXPECT_EQ(open, (std::set<std::string_view>{"checkHealth", "describeApi", "signIn"}));
  EXPECT_EQ(at("/paths/~1health-check/get/security").elements().size(), 0U);
  EXPECT_FALSE(find("/paths/~1emails/get/security"));
}

bool is_for_every_caller(Right right) { return right == Right::none || right == Right::own_sessions; }

// What a role may call that changes something.
std::set<std::string_view> changes_by(Role role) {
  std::set<std::string_view> changes;
  for (const Route& route : all_routes())
    if (route.operation.method != "GET" && !is_for_every_caller(route.operation.right) &&
        has_right(role, route.operation.right))
      changes.insert(route.operation.id);
  return changes;
}

TEST_F(OpenApi, RolesChangeNothingButWhatIsTheirs) {
  using Names = std::set<std::string_view>;
  const std::string_view harmless = "previewTemplate";                 // writes nothing
  const Names calculations{"planCapacity", "planCapacityAsFormerly"};  // the same
  EXPECT_EQ(changes_by(Role::readers), calculations);
  Names of_senders{"acceptEmails", "cancelEmail", "produceMessages", "consumeMessages"};
  of_senders.insert(calculations.begin(), calculations.end());
  EXPECT_EQ(changes_by(Role::senders), of_senders);
  EXPECT_EQ(changes_by(Role::drafters), (Names{"draftReminder", "draftReminders", "reviseDraft", harmless}));
  EXPECT_EQ(changes_by(Role::approvers), (Names{"approveDraft", "approveAndSend", "rejectDraft", harmless}));
  EXPECT_EQ(changes_by(Role::auditors), Names{harmless});
  const Names of_customers{"createTicket", "addFeedback", "receiveTicketAnswer", "addAttachment"};
  EXPECT_EQ(changes_by(Role::customers), of_customers);
  Names of_agents{"moveTicket",     "escalateTicket",       "deescalateTicket", "sendTicketEmail",
                  "addTicketEvent", "changeTicketPriority", "removeAttachment", "putCachedResult"};
  of_agents.insert(of_customers.begin(), of_customers.end());
  EXPECT_EQ(changes_by(Role::agents), of_agents);
}

TEST_F(OpenApi, RolesReadNothingButWhatIsTheirs) {
  for (const Route& route : all_routes()) {
    const Operation& operation = route.operation;
    if (operation.method != "GET" || is_for_every_caller(operation.right)) continue;
    const bool of_reminders = operation.group == "Reminders";
    if (operation.group == "Tickets") {
      for (const Role role : all_roles)
        EXPECT_EQ(has_right(role, operation.right),
                  role == Role::customers || role == Role::agents || role == Role::operators)
            << operation.id;
      continue;
    }
    if (operation.group == "Audit") {
      for (const Role role : all_roles)
        EXPECT_EQ(has_right(role, operation.right), role == Role::auditors || role == Role::operators) << operation.id;
      continue;
    }
    const bool of_nobody = std::set<std::string_view>{"listRules", "getSummary"}.contains(operation.id);
    // They show keys of any table, where users are, or what is about all tenants.
    const bool of_operators =
        std::set<std::string_view>{"getObservedTraffic", "listFollowers", "listSetAside",   "listSessions",
                                   "listKeys",           "listBackups",   "showBackupState"}
            .contains(operation.id);
    const bool of_figures = operation.group == "Metrics" && !of_operators;
    const bool of_audit = std::set<std::string_view>{"listAuditEvents", "exportCustomer"}.contains(operation.id);
    for (const Role role : {Role::readers, Role::senders})
      EXPECT_EQ(has_right(role, operation.right), (!of_reminders || of_nobody) && !of_operators) << operation.id;
    for (const Role role : {Role::drafters, Role::approvers})
      EXPECT_EQ(has_right(role, operation.right), (of_reminders && !of_audit) || of_figures) << operation.id;
    EXPECT_EQ(has_right(Role::auditors, operation.right), of_reminders || of_figures) << operation.id;
  }
}

TEST_F(OpenApi, OperatorsMayDoEverything) {
  for (const Route& route : all_routes())
    EXPECT_TRUE(has_right(Role::operators, route.operation.right)) << route.operation.id;
}

TEST_F(OpenApi, SaysWhichRolesMayCall) {
  const auto description = [this](const std::string& path) {
    return std::string(at(path + "/description").text().value());
  };
  EXPECT_TRUE(description("/paths/~1emails~1counts/get").ends_with("Roles: reader, sender, operator."));
  EXPECT_TRUE(description("/paths/~1reminders~1drafts~1{id}~1approve/post").ends_with("Roles: approver, operator."));
}

TEST_F(OpenApi, EveryPostTakesAnIdempotencyKey) {
  for (const Route& route : all_routes()) {
    std::set<std::string_view> headers;
    for (const Parameter& parameter : route.operation.parameters) {
      if (parameter.place != ParameterPlace::header) continue;
      EXPECT_TRUE(headers.insert(parameter.name).second) << route.operation.id;
    }
    std::vector<int> statuses;
    for (const AnswerDescription& answer : route.operation.answers) statuses.push_back(answer.status);
    const bool takes_key = headers == std::set<std::string_view>{"Idempotency-Key", "Idempotency-Expiry-Seconds"};
    // A secret is told once, and kept nowhere.
    const bool tells_secret =
        std::set<std::string_view>{"signIn", "createKey", "rotateKey", "beginKeySession"}.contains(route.operation.id);
    EXPECT_EQ(takes_key, route.operation.method == "POST" && !tells_secret) << route.operation.id;
    if (!takes_key) continue;
    EXPECT_THAT(statuses, IsSupersetOf({409, 422})) << route.operation.id;
  }
}

}  // namespace
}  // namespace postino::api
