// The limits that the OpenAPI document states of requests about tickets are those that they are held to.
#include "stated_limits.h"
#include "tickets_fixture.h"

namespace postino::api {
namespace {

class StatedTicketLimits : public RestTickets {
 protected:
  // What is wrong with the body, if it is the body that is wrong.
  std::string faults(const std::string& path, const std::string& body) {
    const Received answer = call("POST", path, body);
    return answer.status() == 400 ? answer.response.body : "";
  }
  // The same for a ticket that is worked on.
  std::string faults_of_change(const std::string& call_name, const std::string& body) {
    const std::string id = open();
    EXPECT_EQ(move(id, R"({"status":"PROCESSING"})").status(), 200);
    return faults("/tickets/" + id + call_name, body);
  }
};

// `around` is the body, with a percent sign where the members of the letter stand.
LimitCases letter_cases(const std::string& path, const std::string& around) {
  const auto with = [&](const std::string& members) {
    std::string body = around;
    return body.replace(body.find('%'), 1, members);
  };
  return {
      {path + "kind:string", {with(R"("subject":"s","text":"t","kind":$)"), text()}},
      {path + "subject:string", {with(R"("text":"t","subject":$)"), words}},
      {path + "text:string", {with(R"("subject":"s","text":$)"), text()}},
      {path + "html:string", {with(R"("subject":"s","html":$)"), text()}},
      {path + "to:array", {with(R"("subject":"s","text":"t","to":$)"), array_of(R"("b@example.com")")}},
      {path + "to[]:string", {with(R"("subject":"s","text":"t","to":[$])"), padded_address, shortest_address, false}},
  };
}

LimitCases change_cases(const std::string& required) {
  const std::string begin = "{" + required;
  LimitCases cases = letter_cases("letter.", begin + R"("letter":{%}})");
  cases["letter.key:string"] = {begin + R"("letter":{"subject":"s","text":"t","key":$}})", text()};
  cases["reason:string"] = {begin + R"("reason":$})", text()};
  cases["version:integer"] = {begin + R"("version":$})", number};
  cases["by:string"] = {begin + R"("by":$})", text()};
  return cases;
}

TEST_F(StatedTicketLimits, OfNewTicketsAreThoseOfTheCode) {
  const std::string begin = R"({"customer":{"id":"c","contact_email":"a@example.com"},"symptom_text":"long enough",)";
  const auto customer = [](const std::string& members) {
    return R"({"symptom_text":"long enough","customer":{)" + members + "}}";
  };
  LimitCases cases = letter_cases("letter.", begin + R"("letter":{%}})");
  cases.merge(LimitCases{
      {"letter.key:string", {begin + R"("letter":{"subject":"s","text":"t","key":$}})", text()}},
      {"customer.id:string", {customer(R"("id":$)"), text()}},
      {"customer.name:string", {customer(R"("id":"c","name":$)"), text()}},
      {"customer.contact_email:string",
       {customer(R"("id":"c","contact_email":$)"), padded_address, shortest_address, false}},
      {"customer.account_tier:string", {customer(R"("id":"c","account_tier":$)"), text()}},
      {"symptom_text:string", {R"({"customer":{"id":"c"},"symptom_text":$})", text()}},
      {"error_code:string", {begin + R"("error_code":$})", text()}},
      {"lang:string", {begin + R"("lang":$})", text()}},
  });
  for (const std::string name : {"product_type", "model", "serial", "firmware"})
    cases["asset." + name + ":string"] = {begin + R"("asset":{")" + name + R"(":$}})", text()};
  expect_limits("NewTicket", cases, [this](const std::string& body) { return faults("/tickets", body); });
}

TEST_F(StatedTicketLimits, OfChangesAreThoseOfTheCode) {
  LimitCases moves = change_cases(R"("status":"FAILED",)");
  moves["engineer:string"] = {R"({"status":"ESCALATED","engineer":$})", text()};
  expect_limits("TicketMove", moves, [this](const std::string& body) { return faults_of_change("/status", body); });
  LimitCases escalation = change_cases(R"("engineer":"e",)");
  escalation["engineer:string"] = {R"({"engineer":$})", text()};
  expect_limits("TicketEscalation", escalation,
                [this](const std::string& body) { return faults_of_change("/escalate", body); });
  expect_limits("TicketPriority",
                {{"version:integer", {R"({"priority":"P1","version":$})", number}},
                 {"by:string", {R"({"priority":"P1","by":$})", text()}}},
                [this](const std::string& body) { return faults_of_change("/priority", body); });
}

TEST_F(StatedTicketLimits, OfWhatBelongsToTicketsAreThoseOfTheCode) {
  const std::string path = "/tickets/" + open();
  const std::string feedback = R"({"operator_id":"o","rating":1,)";
  expect_limits("NewFeedback",
                {{"operator_id:string", {R"({"rating":1,"operator_id":$})", text()}},
                 {"rating:integer", {R"({"operator_id":"o","rating":$})", number}},
                 {"comments:string", {feedback + R"("comments":$})", text()}}},
                [&](const std::string& body) { return faults(path + "/feedback", body); });
  expect_limits(
      "NewTicketEvent",
      {{"event_type:string", {R"({"event_type":$})", text()}}, {"by:string", {R"({"event_type":"e","by":$})", text()}}},
      [&](const std::string& body) { return faults(path + "/events", body); });
  LimitCases letter = letter_cases("", "{%}");
  letter["by:string"] = {R"({"subject":"s","text":"t","by":$})", text()};
  expect_limits("NewTicketEmail", letter, [&](const std::string& body) { return faults(path + "/emails", body); });
  expect_limits("ReceivedMessage",
                {{"headers:string", {R"({"headers":$})", text()}},
                 {"text:string", {R"({"headers":"a","text":$})", text()}},
                 // A header and an empty line, so that the rest is no header.
                 {"message_base64:string", {R"({"message_base64":$})", text("YTpiDQoNCnh4")}}},
                [&](const std::string& body) { return faults("/tickets/answers", body); });
}

}  // namespace
}  // namespace postino::api
