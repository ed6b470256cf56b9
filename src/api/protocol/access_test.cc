#include "api/protocol/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/protocol/idempotency_headers.h"
#include "base/hash.h"

namespace postino::api {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

using Headers = std::vector<std::pair<std::string_view, std::string_view>>;

http::Request request_with(Headers headers) {
  http::Request request;
  request.method = "GET";
  request.target = "/emails";
  request.headers = std::move(headers);
  return request;
}

ApiKey key(std::string_view text) { return parse_api_key(text).value(); }

// The name of the caller, or the code of the problem.
std::string who(const Access& access, const http::Request& request, Right needed = Right::read, bool shared = false) {
  const auto caller = access.check(request, needed, shared);
  return caller ? "caller " + (*caller)->name : std::string(caller.error().type.code);
}

TEST(ApiKey, HasNameRoleAndDigestOfTheSecret) {
  const auto parsed = parse_api_key("shop.front-1_a:sender:0123456789abcdef");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->caller.name, "shop.front-1_a");
  EXPECT_EQ(parsed->caller.role, Role::senders);
  EXPECT_EQ(parsed->caller.tenant, "");
  EXPECT_EQ(parsed->digest, base::sha256("0123456789abcdef"));
}

TEST(ApiKey, MayBelongToATenant) {
  const auto parsed = parse_api_key("a:operator@acme:0123456789abcdef");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->caller.role, Role::operators);
  EXPECT_EQ(parsed->caller.tenant, "acme");
}

TEST(ApiKey, MayBelongToACustomer) {
  const ApiKey of_tenant = key("a:customer@acme/C-1:0123456789abcdef");
  EXPECT_EQ(of_tenant.caller.tenant, "acme");
  EXPECT_EQ(of_tenant.caller.customer, "C-1");
  const ApiKey of_none = key("a:agent/C-1:0123456789abcdef");
  EXPECT_EQ(of_none.caller.role, Role::agents);
  EXPECT_EQ(of_none.caller.tenant, "");
  EXPECT_EQ(of_none.caller.customer, "C-1");
}

TEST(ApiKey, SecretMayHaveColonsAndAtSigns) {
  const ApiKey parsed = key("a:reader:0123456789:@bcdef");
  EXPECT_EQ(parsed.caller.tenant, "");
  EXPECT_EQ(parsed.digest, base::sha256("0123456789:@bcdef"));
}

TEST(ApiKey, RefusalsDoNotTellTheSecret) {
  const std::string long_name(65, 'n');
  for (const std::string& text : std::vector<std::string>{
           "",
           "topsecrettopsecret",
           "a:topsecrettopsecret",
           ":reader:topsecrettopsecret",
           "a b:reader:topsecrettopsecret",
           long_name + ":reader:topsecrettopsecret",
           "a::topsecrettopsecret",
           "a:admin:topsecrettopsecret",
           "a:anyone:topsecrettopsecret",
           "a:Reader:topsecrettopsecret",
           "a:reader@:topsecrettopsecret",
           "a:reader@x/:topsecrettopsecret",
           "a:reader@x/y/z:topsecrettopsecret",
           "a:reader/y@x:topsecrettopsecret",
           "a:customer:topsecrettopsecret",
           "a:customer@x:topsecrettopsecret",
           "a:reader:topsecret",
           "a:reader:topsecret topsecret",
           "a:reader:topsecrettopsecret\n",
           "a:reader:topsecrettopsecr\xC3\xA9t",
       }) {
    const auto parsed = parse_api_key(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("topsecret")));
  }
}

TEST(ApiKey, SecretHasAtLeastSixteenCharacters) {
  EXPECT_TRUE(parse_api_key("a:reader:" + std::string(16, 's')));
  EXPECT_FALSE(parse_api_key("a:reader:" + std::string(15, 's')));
}

// Of the reference implementation, for "password".
constexpr std::string_view hash =
    "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";

TEST(User, HasNameRoleAndHashOfThePassword) {
  const auto parsed = parse_user("anna:agent@acme/C-1:" + std::string(hash));
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->caller.name, "anna");
  EXPECT_EQ(parsed->caller.role, Role::agents);
  EXPECT_EQ(parsed->caller.tenant, "acme");
  EXPECT_EQ(parsed->caller.customer, "C-1");
  EXPECT_TRUE(parsed->caller.is_user);
  EXPECT_EQ(parsed->password_hash, hash);
  EXPECT_EQ(credential_text(parsed->caller), "anna:agent@acme/C-1");
}

TEST(User, RefusalsNameTheRuleAndNotThePassword) {
  const auto plain = parse_user("anna:reader:topsecrettopsecret");
  ASSERT_FALSE(plain);
  EXPECT_THAT(plain.error().message, HasSubstr("the password of user anna must be an argon2id hash"));
  EXPECT_THAT(plain.error().message, Not(HasSubstr("topsecret")));
  const auto role = parse_user("anna:admin:" + std::string(hash));
  ASSERT_FALSE(role);
  EXPECT_THAT(role.error().message, HasSubstr("the role of user anna must be"));
  EXPECT_FALSE(parse_user("anna:" + std::string(hash)));
  EXPECT_FALSE(parse_user("anna b:reader:" + std::string(hash)));
}

TEST(Access, WithUsersAloneTheMachineItselfMustSignInToo) {
  const Access access({}, {}, {parse_user("anna:reader:" + std::string(hash)).value()});
  EXPECT_FALSE(access.is_open());
  EXPECT_EQ(who(access, request_with({{"Host", "localhost:8080"}})), "UNAUTHENTICATED");
  EXPECT_EQ(who(access, request_with({{"X-API-Key", "password"}})), "UNAUTHENTICATED") << "a password is no key";
}

TEST(Access, KeyIsTakenFromEitherHeader) {
  const Access access({key("one:reader:first-secret-0001"), key("two:reader:second-secret-002")});
  EXPECT_EQ(who(access, request_with({{"Authorization", "Bearer first-secret-0001"}})), "caller one");
  EXPECT_EQ(who(access, request_with({{"authorization", "bearer second-secret-002"}})), "caller two");
  EXPECT_EQ(who(access, request_with({{"X-API-Key", "second-secret-002"}})), "caller two");
  EXPECT_EQ(who(access, request_with({{"Authorization", "Basic eDp5"}, {"X-API-Key", "first-secret-0001"}})),
            "caller one");
}

TEST(Access, WrongOrMissingKeyIsToldHowToAuthenticate) {
  const Access access({key("one:operator:first-secret-0001")});
  for (const Headers& headers : std::vector<Headers>{{},
                                                     {{"Authorization", "Bearer first-secret-0002"}},
                                                     {{"Authorization", "Bearer first-secret-000"}},
                                                     {{"Authorization", "Bearer "}},
                                                     {{"Authorization", "first-secret-0001"}},
                                                     {{"X-API-Key", ""}}}) {
    const auto caller = access.check(request_with(headers), Right::read, false);
    ASSERT_FALSE(caller);
    EXPECT_EQ(caller.error().type.status, 401);
    EXPECT_THAT(caller.error().headers, UnorderedElementsAre(Pair("WWW-Authenticate", HasSubstr("Bearer"))));
  }
}

TEST(Access, RoleMayDoWhatLesserRolesMay) {
  const Access access(
      {key("r:reader:secret-of-reader"), key("s:sender:secret-of-sender"), key("o:operator:secret-of-operator")});
  const auto reader = request_with({{"X-API-Key", "secret-of-reader"}});
  const auto sender = request_with({{"X-API-Key", "secret-of-sender"}});
  const auto operating = request_with({{"X-API-Key", "secret-of-operator"}});
  EXPECT_EQ(who(access, reader, Right::read), "caller r");
  EXPECT_EQ(who(access, reader, Right::send), "FORBIDDEN");
  EXPECT_EQ(who(access, reader, Right::operate), "FORBIDDEN");
  EXPECT_EQ(who(access, sender, Right::read), "caller s");
  EXPECT_EQ(who(access, sender, Right::send), "caller s");
  EXPECT_EQ(who(access, sender, Right::operate), "FORBIDDEN");
  EXPECT_EQ(who(access, operating, Right::operate), "caller o");
}

TEST(Access, RolesOfRemindersHaveTheirRightsOnly) {
  const Access access({key("d:drafter:secret-of-drafter"), key("a:approver:secret-of-approver"),
                       key("u:auditor:secret-of-auditor"), key("s:sender:secret-of-sender")});
  const auto drafter = request_with({{"X-API-Key", "secret-of-drafter"}});
  const auto approver = request_with({{"X-API-Key", "secret-of-approver"}});
  const auto auditor = request_with({{"X-API-Key", "secret-of-auditor"}});
  const auto sender = request_with({{"X-API-Key", "secret-of-sender"}});
  EXPECT_EQ(who(access, drafter, Right::draft_reminders), "caller d");
  EXPECT_EQ(who(access, drafter, Right::approve_reminders), "FORBIDDEN");
  EXPECT_EQ(who(access, drafter, Right::operate), "FORBIDDEN");
  EXPECT_EQ(who(access, drafter, Right::read), "FORBIDDEN") << "e-mails of others";
  EXPECT_EQ(who(access, approver, Right::approve_reminders), "caller a");
  EXPECT_EQ(who(access, approver, Right::draft_reminders), "FORBIDDEN");
  EXPECT_EQ(who(access, auditor, Right::audit), "caller u");
  EXPECT_EQ(who(access, auditor, Right::approve_reminders), "FORBIDDEN");
  EXPECT_EQ(who(access, sender, Right::approve_reminders), "FORBIDDEN");
  EXPECT_EQ(who(access, sender, Right::read_reminders), "FORBIDDEN");
  EXPECT_EQ(who(access, sender, Right::see_figures), "caller s");
  const auto refused = access.check(drafter, Right::approve_reminders, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().detail,
            "This request needs the role approver or operator; the API key has the role drafter.");
}

TEST(Access, OfOneCustomerIsAboutTheTicketsOfThatCustomer) {
  const Access access({key("c:operator/C-1:secret-of-customer")});
  const http::Request request = request_with({{"X-API-Key", "secret-of-customer"}});
  for (const Right right : {Right::none, Right::own_sessions, Right::open_tickets, Right::read_tickets})
    EXPECT_EQ(who(access, request, right), "caller c");
  for (const Right right : {Right::read, Right::send, Right::operate, Right::see_figures, Right::read_reminders,
                            Right::draft_reminders, Right::approve_reminders, Right::audit, Right::work_on_tickets})
    EXPECT_EQ(who(access, request, right), "FORBIDDEN");
}

TEST(Access, KeyOfATenantMayNotTouchWhatAllShare) {
  const Access access({key("t:operator@acme:secret-of-tenant"), key("o:operator:secret-of-operator")});
  EXPECT_EQ(who(access, request_with({{"X-API-Key", "secret-of-tenant"}}), Right::operate, true), "FORBIDDEN");
  EXPECT_EQ(who(access, request_with({{"X-API-Key", "secret-of-operator"}}), Right::operate, true), "caller o");
}

TEST(Access, ARefusedKeyIsKnownIfItIsOne) {
  const Access access({key("r:reader:secret-of-reader")});
  const Caller* known = nullptr;
  EXPECT_FALSE(access.check(request_with({{"X-API-Key", "secret-of-nobody"}}), Right::read, false, &known));
  EXPECT_EQ(known, nullptr);
  EXPECT_FALSE(access.check(request_with({{"X-API-Key", "secret-of-reader"}}), Right::operate, false, &known));
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->name, "r");
}

TEST(Access, WithKeysTheMachineItselfNeedsOneToo) {
  const Access access({key("one:operator:first-secret-0001")});
  EXPECT_EQ(who(access, request_with({{"Host", "localhost:8080"}})), "UNAUTHENTICATED");
}

TEST(Access, WithoutKeysProgramsOnThisMachineMayDoEverything) {
  const Access access({});
  for (const std::string_view host :
       {"localhost:8080", "LOCALHOST", "127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "127.1.2.3:8080"})
    EXPECT_EQ(who(access, request_with({{"Host", host}}), Right::operate, true), "caller ") << host;
  EXPECT_EQ(who(access, request_with({}), Right::operate), "caller ") << "HTTP/1.0";
}

TEST(Access, WithoutKeysOtherMachinesMayDoNothing) {
  http::Request request = request_with({{"Host", "127.0.0.1:8080"}});
  request.from_loopback = false;
  EXPECT_EQ(who(Access({}), request), "LOOPBACK_ONLY");
}

TEST(Access, WithoutKeysNamesThatOthersMayOwnAreRefused) {
  for (const std::string_view host :
       {"example.com", "example.com:8080", "localhost.example.com:8080", "127.0.0.1.example.com", "::1",
        "localhost:", "localhost:8080:1", "[localhost]:8080", "127.0.0.1:80a"})
    EXPECT_EQ(who(Access({}), request_with({{"Host", host}})), "FOREIGN_HOST") << host;
}

TEST(Access, WithoutKeysPagesOfOtherOriginsAreRefused) {
  const Access access({});
  const auto from = [&](std::string_view origin, bool secure = false) {
    http::Request request = request_with({{"Host", "localhost:8080"}, {"Origin", origin}});
    request.secure = secure;
    return who(access, request);
  };
  EXPECT_EQ(from("http://localhost:8080"), "caller ");
  EXPECT_EQ(from("https://localhost:8080", true), "caller ");
  for (const std::string_view origin : {"http://localhost:3000", "http://example.com", "https://localhost:8080", "null",
                                        "", "http://localhost:8080.example.com", "file://"})
    EXPECT_EQ(from(origin), "FOREIGN_ORIGIN") << origin;
  EXPECT_EQ(from("http://localhost:8080", true), "FOREIGN_ORIGIN");
}

// The key, "none", or the field that is refused.
std::string idempotency_key(Headers headers) {
  const auto read = read_idempotency_headers(request_with(std::move(headers)));
  if (!read) return "refused " + read.error().errors.front().field;
  return *read ? (*read)->key : "none";
}

TEST(IdempotencyHeaders, KeyIsPlainOrAQuotedString) {
  EXPECT_EQ(idempotency_key({}), "none");
  EXPECT_EQ(idempotency_key({{"idempotency-key", "a-1"}}), "a-1");
  EXPECT_EQ(idempotency_key({{"Idempotency-Key", "\"a-1\""}}), "a-1");
  EXPECT_EQ(idempotency_key({{"Idempotency-Key", "\"a \\\"b\\\" \\\\\""}}), "a \"b\" \\");
  EXPECT_EQ(idempotency_key({{"Idempotency-Key", "a\"b"}}), "a\"b");
  const std::string longest(255, 'k');
  EXPECT_EQ(idempotency_key({{"Idempotency-Key", longest}}), longest);
}

TEST(IdempotencyHeaders, KeysOfOneCustomerAreNotThoseOfAnother) {
  EXPECT_EQ(owned_key({.name = "shop"}, "k"), "shop/k");
  EXPECT_EQ(owned_key({.name = "shop", .tenant = "north"}, "k"), "@north/k");
  EXPECT_EQ(owned_key({.name = "a", .tenant = "north", .customer = "C-1"}, "k"), "@north:C-1/k");
  EXPECT_EQ(owned_key({.name = "a", .customer = "C-1"}, "k"), "a:C-1/k");
}

TEST(IdempotencyHeaders, MalformedKeysAreRefused) {
  const std::string too_long(256, 'k');
  for (const std::string_view value :
       {std::string_view(""), std::string_view("\"\""), std::string_view("\""), std::string_view("\"a"),
        std::string_view("\"a\"b\""), std::string_view("\"a\\"), std::string_view("\"a\\\""),
        std::string_view("\"a\\n\""), std::string_view("\"a\";p=1"), std::string_view("k\xC3\xA9y"),
        std::string_view("a\tb"), std::string_view(too_long)})
    EXPECT_EQ(idempotency_key({{"Idempotency-Key", value}}), "refused Idempotency-Key") << value;
  EXPECT_EQ(idempotency_key({{"Idempotency-Key", "a"}, {"idempotency-key", "a"}}), "refused Idempotency-Key");
}

TEST(IdempotencyHeaders, LifeIsASecondToThirtyDays) {
  const auto life = [](std::string_view text) {
    const auto read =
        read_idempotency_headers(request_with({{"Idempotency-Key", "a"}, {"Idempotency-Expiry-Seconds", text}}));
    return read ? (*read)->life.value().count() : -1;
  };
  EXPECT_EQ(life("1"), 1'000);
  EXPECT_EQ(life("2592000"), 2'592'000'000);
  for (const std::string_view text : {"0", "2592001", "", "-60", "+60", "60.0", "6e1", " 60", "99999999999999999999"})
    EXPECT_EQ(life(text), -1) << text;
  EXPECT_EQ(idempotency_key({{"Idempotency-Expiry-Seconds", "60"}}), "refused Idempotency-Key") << "a life of nothing";
}

}  // namespace
}  // namespace postino::api
