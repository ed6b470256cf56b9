// Signing in, and what a session opens.
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "access/password.h"
#include "base/log_file.h"
#include "base/temporary_directory.h"
#include "rest_fixture.h"
#include "store/table_setup.h"

namespace postino::api {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr auto sessions_table = "prod-tickets-unified";

// Hashing takes a while, so it is done once.
const std::string& hash_of_password() {
  static const std::string hash = access::hash_password("correct horse battery").value();
  return hash;
}
const std::string& hash_of_another() {
  static const std::string hash = access::hash_password("another password").value();
  return hash;
}

int lines_with(const std::string& words, const std::filesystem::path& log) {
  std::ifstream lines(log);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find(words) != std::string::npos ? 1 : 0;
  return count;
}

class SessionRoutes : public Rest {
 protected:
  SessionRoutes() : sessions_(store(), options(), clock(), random_, retry_) {
    start_with({"anna:reader", "otto:operator", "nora:operator@north", "nils:reader@north", "cora:customer@north/C-1"});
  }
  ~SessionRoutes() override { start({}); }  // the API goes before its sessions

  access::SessionOptions options() {
    access::SessionOptions options;
    options.prepare = [this] {
      ++preparations_;
      store::CreateTableRequest request =
          store::table_request(sessions_table, {{"PK", item::Type::string}, {"SK", item::Type::string}});
      request.attribute_definitions.push_back({"GSI1PK", item::Type::string});
      request.attribute_definitions.push_back({"GSI1SK", item::Type::string});
      request.global_indexes = {{.name = "GSI1-customer-index",
                                 .key_schema = {{"GSI1PK", store::KeyRole::hash}, {"GSI1SK", store::KeyRole::range}},
                                 .projection = {.type = store::ProjectionType::all, .non_key_attributes = {}}}};
      return store::prepare_table(store(), request, "ttl");
    };
    return options;
  }
  static std::vector<User> users(const std::vector<std::string>& names, const std::string& hash) {
    std::vector<User> parsed;
    for (const std::string& name : names) parsed.push_back(parse_user(name + ":" + hash).value());
    return parsed;
  }
  std::unique_ptr<Api> new_api(ApiOptions options) {
    options.threads = 2;
    return std::make_unique<Api>(*outbox_, &mailbox_, *messages_, guard_, clock(), random_, std::move(options));
  }
  void start_with(const std::vector<std::string>& names, metrics::Metrics* metrics = nullptr) {
    ApiOptions options;
    options.metrics = metrics;
    options.keys = {parse_api_key("shop:sender:secret-of-the-shop").value()};
    options.users = users(names, hash_of_password());
    options.sessions = &sessions_;
    options.sign_ins.proxies = {"192.0.2.99"};
    api_.reset();
    api_ = new_api(std::move(options));
  }

  Received sign_in(const std::string& user, const std::string& password = "correct horse battery") {
    return call("POST", "/sessions", R"({"user":")" + user + R"(","password":")" + password + R"("})");
  }
  std::string token_of(const std::string& user) {
    const Received answer = sign_in(user);
    EXPECT_EQ(answer.status(), 201) << answer.response.body;
    return answer.text("/token");
  }
  static Headers bearer(const std::string& token) { return {{"Authorization", "Bearer " + token}}; }
  int status(const std::string& method, const std::string& target, const std::string& token) {
    return call(method, target, "", bearer(token)).status();
  }

  int preparations_ = 0;
  access::Sessions sessions_;
};

TEST_F(SessionRoutes, ATokenOpensWhatTheUserMayDo) {
  const Received answer = sign_in("anna");
  ASSERT_EQ(answer.status(), 201) << answer.response.body;
  EXPECT_EQ(answer.text("/name"), "anna");
  EXPECT_EQ(answer.text("/kind"), "user");
  EXPECT_EQ(answer.text("/role"), "reader");
  const Headers headers = bearer(answer.text("/token"));
  EXPECT_EQ(get("/emails", headers).status(), 200);
  EXPECT_EQ(get("/emails", {{"X-API-Key", answer.text("/token")}}).status(), 200);
  const Received refused = call("PUT", "/suppressions/a@example.com", "", headers);
  EXPECT_EQ(refused.status(), 403);
  EXPECT_THAT(refused.text("/detail"), HasSubstr("the user has the role reader"));
  EXPECT_EQ(get("/emails", bearer(answer.text("/id"))).status(), 401) << "the id alone opens nothing";
  EXPECT_EQ(preparations_, 1);
}

TEST_F(SessionRoutes, AnApiKeyBeginsASessionToo) {
  const Received answer = call("POST", "/sessions", R"({"api_key":"secret-of-the-shop"})");
  ASSERT_EQ(answer.status(), 201) << answer.response.body;
  EXPECT_EQ(answer.text("/kind"), "api_key");
  EXPECT_EQ(answer.text("/role"), "sender");
  const std::string token = answer.text("/token");
  EXPECT_EQ(call("POST", "/emails", batch(payload()), bearer(token)).status(), 201);
  EXPECT_EQ(call("POST", "/sessions", R"({"api_key":")" + token + R"("})").status(), 401)
      << "a session does not begin another one";
  EXPECT_EQ(call("POST", "/sessions", R"({"api_key":"secret-of-another"})").status(), 401);
}

TEST_F(SessionRoutes, WrongPasswordsAndUnknownUsersAreAnsweredAlike) {
  const Headers id{{"X-Request-Id", "same"}};
  const auto answer = [&](const std::string& body) {
    const Received received = call("POST", "/sessions", body, id);
    EXPECT_EQ(received.status(), 401);
    EXPECT_EQ(received.code(), "SIGN_IN_REFUSED");
    return received.response.body;
  };
  const std::string wrong = answer(R"({"user":"anna","password":"wrong horse battery"})");
  EXPECT_EQ(answer(R"({"user":"berta","password":"correct horse battery"})"), wrong);
  EXPECT_EQ(answer(R"({"user":"shop","password":"secret-of-the-shop"})"), wrong);
  EXPECT_EQ(answer(R"({"api_key":"no key of anyone"})"), wrong);
  EXPECT_THAT(wrong, Not(HasSubstr("anna")));
}

TEST_F(SessionRoutes, WhatIsGivenMustBeOneOfBoth) {
  for (const std::string body :
       {R"({})", R"({"user":"anna"})", R"({"password":"x"})", R"({"user":"anna","password":"x","api_key":"y"})",
        R"({"user":"anna","password":"x","remember":true})", R"([])"}) {
    const Received answer = call("POST", "/sessions", body);
    EXPECT_EQ(answer.status(), 400) << body;
  }
}

TEST_F(SessionRoutes, EmptyFieldsOfTheOtherWayAreAsIfAbsent) {
  for (const std::string body : {R"({"user":"anna","password":"correct horse battery","api_key":""})",
                                 R"({"user":"","password":"","api_key":"secret-of-the-shop"})"})
    EXPECT_EQ(call("POST", "/sessions", body).status(), 201) << body;
}

TEST_F(SessionRoutes, GuessingIsSlowedDown) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(sign_in("anna", "guess " + std::to_string(i)).status(), 401);
  const Received slowed = sign_in("anna");
  EXPECT_EQ(slowed.status(), 429) << "even with the right password";
  EXPECT_EQ(slowed.header("Retry-After"), "1");
  EXPECT_EQ(sign_in("otto").status(), 201) << "others are not kept out";
  clock().advance(seconds(1));
  EXPECT_EQ(sign_in("anna").status(), 201);
  std::string metrics;
  api_->append_metrics(metrics);
  EXPECT_THAT(metrics, HasSubstr("postino_sign_ins_total{outcome=\"succeeded\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("postino_sign_ins_total{outcome=\"failed\"} 5\n"));
  EXPECT_THAT(metrics, HasSubstr("postino_sign_ins_total{outcome=\"slowed\"} 1\n"));
  EXPECT_EQ(sign_in("anna", "guess").status(), 401) << "the success has ended the pauses";
}

// A user who does not exist is slowed down like one who does.
TEST_F(SessionRoutes, PausesDoNotTellWhoExists) {
  for (int i = 0; i < 5; ++i) ASSERT_EQ(sign_in("berta", "guess").status(), 401);
  EXPECT_EQ(sign_in("berta", "guess").status(), 429);
}

TEST_F(SessionRoutes, EndsAfterADay) {
  const std::string token = token_of("anna");
  clock().advance(hours(24) - seconds(1));
  EXPECT_EQ(status("GET", "/emails", token), 200);
  clock().advance(seconds(1));
  const Received ended = get("/emails", bearer(token));
  EXPECT_EQ(ended.status(), 401);
  EXPECT_EQ(ended.code(), "SESSION_ENDED") << "which is told from a wrong key: a caller signs in again";
  EXPECT_THAT(ended.header("WWW-Authenticate"), HasSubstr("invalid_token"));
}

TEST_F(SessionRoutes, HasTheRightsThatTheSettingsGiveNow) {
  const std::string token = token_of("anna");
  api_->set_keys({}, users({"anna:operator"}, hash_of_password()));
  EXPECT_EQ(status("PUT", "/suppressions/a@example.com", token), 204);
  api_->set_keys({}, users({"anna:drafter"}, hash_of_password()));
  EXPECT_EQ(status("GET", "/emails", token), 403);
  api_->set_keys({}, users({"anna:reader@north"}, hash_of_password()));
  EXPECT_EQ(status("GET", "/emails", token), 401) << "of another tenant is another user";
  api_->set_keys({}, users({"anna:reader"}, hash_of_another()));
  EXPECT_EQ(status("GET", "/emails", token), 401) << "with another password";
  api_->set_keys({}, users({"otto:reader"}, hash_of_password()));
  EXPECT_EQ(status("GET", "/emails", token), 401) << "the user is gone";
}

TEST_F(SessionRoutes, OfAnApiKeyEndWithTheKey) {
  const std::string token = call("POST", "/sessions", R"({"api_key":"secret-of-the-shop"})").text("/token");
  EXPECT_EQ(status("GET", "/emails", token), 200);
  api_->set_keys({parse_api_key("shop:sender:new-secret-of-the-shop").value()});
  EXPECT_EQ(status("GET", "/emails", token), 401);
}

TEST_F(SessionRoutes, DoNotComeBackWithTheirOwner) {
  const std::string token = token_of("anna");
  api_->set_keys({}, users({"otto:reader"}, hash_of_password()));
  api_->set_keys({}, users({"anna:reader"}, hash_of_password()));
  EXPECT_EQ(status("GET", "/emails", token), 401) << "it was not used in between";
  const std::string used = token_of("anna");
  start_with({"otto:reader"});  // as after a start with other settings
  EXPECT_EQ(status("GET", "/emails", used), 401);
  start_with({"anna:reader"});
  EXPECT_EQ(status("GET", "/emails", used), 401);
}

TEST_F(SessionRoutes, OfAnotherKeyOfTheSameNameStay) {
  const ApiKey first = parse_api_key("shop:sender:secret-of-the-shop").value();
  const ApiKey second = parse_api_key("shop:sender:second-secret-of-the-shop").value();
  api_->set_keys({first, second});
  const std::string token = call("POST", "/sessions", R"({"api_key":"secret-of-the-shop"})").text("/token");
  const std::string kept = call("POST", "/sessions", R"({"api_key":"second-secret-of-the-shop"})").text("/token");
  api_->set_keys({second});
  api_->set_keys({first, second});
  EXPECT_EQ(status("GET", "/emails", token), 401);
  EXPECT_EQ(status("GET", "/emails", kept), 200);
}

class LiveStreams : public SessionRoutes {
 protected:
  LiveStreams() : metrics_(store(), {}, clock(), random_, retry_) {
    EXPECT_TRUE(metrics_.prepare());
    start_with({"anna:reader", "otto:operator"}, &metrics_);
  }
  ~LiveStreams() override { start({}); }  // the API goes before its metrics

  std::shared_ptr<http::BodyStream> watch(const std::string& token) {
    return get("/figures/live", bearer(token)).response.stream;
  }

  metrics::Metrics metrics_;
};

TEST_F(LiveStreams, EndWithTheSession) {
  const Received answer = sign_in("anna");
  const std::string token = answer.text("/token"), others = token_of("otto");
  const auto stream = watch(token), other = watch(others);
  ASSERT_TRUE(stream && other);
  EXPECT_FALSE(stream->next().is_last);
  ASSERT_EQ(status("DELETE", "/sessions/" + answer.text("/id"), token), 204);
  EXPECT_TRUE(stream->next().is_last) << "it was revoked";
  EXPECT_FALSE(other->next().is_last);
  clock().advance(hours(24));
  EXPECT_TRUE(other->next().is_last) << "its time is over";
}

TEST_F(LiveStreams, EndWithTheKeyOrItsRights) {
  const auto set = [&](const std::string& key, const std::string& user) {
    api_->set_keys({parse_api_key(key).value()}, users({user}, hash_of_password()));
  };
  set("board:reader:secret-of-the-board", "anna:reader");
  const auto by_key = watch("secret-of-the-board"), by_user = watch(token_of("anna"));
  ASSERT_TRUE(by_key && by_user);
  EXPECT_FALSE(by_key->next().is_last);
  EXPECT_FALSE(by_user->next().is_last);
  set("board:reader@north:secret-of-the-board", "anna:customer/c1");
  EXPECT_TRUE(by_key->next().is_last) << "it is of a tenant now";
  EXPECT_TRUE(by_user->next().is_last) << "a customer does not see figures";
  set("board:reader:another-secret-of-it", "anna:reader");
  EXPECT_TRUE(by_key->next().is_last) << "the key is not known any more";
}

TEST_F(LiveStreams, OneCallerHasFew) {
  const std::string token = token_of("anna");
  std::vector<std::shared_ptr<http::BodyStream>> streams;
  for (int i = 0; i < 10; ++i) streams.push_back(watch(token));
  EXPECT_NE(streams.back(), nullptr);
  const base::TemporaryDirectory folder;
  ASSERT_TRUE(base::open_log(folder.path() / "log"));
  EXPECT_EQ(get("/figures/live", bearer(token)).status(), 503);
  EXPECT_TRUE(base::open_log(""));
  EXPECT_EQ(lines_with("Too many clients watch the figures", folder.path() / "log"), 1);
  EXPECT_EQ(get("/figures/live", bearer(token_of("anna"))).status(), 503) << "another session of the same user";
  EXPECT_NE(watch(token_of("otto")), nullptr);
}

TEST_F(SessionRoutes, AreListedAndEndedByTheirOwner) {
  const std::string first = token_of("anna");
  clock().advance(seconds(1));
  const Received answer = sign_in("anna");
  const std::string second = answer.text("/token");
  const std::string others = token_of("otto");
  const Received list = get("/sessions", bearer(first));
  ASSERT_EQ(list.status(), 200);
  ASSERT_EQ(list.size("/data"), 2U);
  EXPECT_EQ(list.text("/data/0/id"), answer.text("/id"));
  EXPECT_THAT(list.response.body, Not(HasSubstr(second.substr(second.find('.') + 1)))) << "a token is told once";
  EXPECT_EQ(status("DELETE", "/sessions/" + answer.text("/id"), others), 404);
  EXPECT_EQ(status("DELETE", "/sessions/" + answer.text("/id"), first), 204);
  EXPECT_EQ(status("DELETE", "/sessions/" + answer.text("/id"), first), 404);
  EXPECT_EQ(status("GET", "/emails", second), 401);
  EXPECT_EQ(call("DELETE", "/sessions", "", bearer(first)).number("/removed"), 1);
  EXPECT_EQ(status("GET", "/sessions", first), 401);
  EXPECT_EQ(status("GET", "/sessions", others), 200);
}

TEST_F(SessionRoutes, OfOthersAreForOperatorsOfTheirTenant) {
  const std::string otto = token_of("otto");
  const std::string nora = token_of("nora");
  const Received nils = sign_in("nils");
  const std::string path = "/users/nils/sessions";
  EXPECT_EQ(status("GET", path, nils.text("/token")), 403) << "a reader's own are at /sessions";
  ASSERT_EQ(get(path, bearer(nora)).size("/data"), 1U);
  ASSERT_EQ(get(path, bearer(otto)).size("/data"), 1U) << "an operator without a tenant sees all";
  EXPECT_EQ(status("GET", "/users/otto/sessions", nora), 404);
  EXPECT_EQ(status("DELETE", "/users/otto/sessions", nora), 404);
  EXPECT_EQ(status("GET", "/users/no-one/sessions", otto), 404);
  EXPECT_EQ(status("DELETE", "/users/anna/sessions/" + nils.text("/id"), otto), 404) << "of another user";
  EXPECT_EQ(status("DELETE", path + "/" + nils.text("/id"), nora), 204);
  EXPECT_EQ(status("GET", "/emails", nils.text("/token")), 401);
  const std::string again = token_of("nils");
  EXPECT_EQ(call("DELETE", path, "", bearer(otto)).number("/removed"), 1);
  EXPECT_EQ(status("GET", "/emails", again), 401);
}

TEST_F(SessionRoutes, OfACustomerAreTheirOwn) {
  const Received cora = sign_in("cora");
  EXPECT_EQ(cora.text("/customer"), "C-1");
  EXPECT_EQ(cora.text("/tenant"), "north");
  EXPECT_EQ(status("GET", "/sessions", cora.text("/token")), 200);
  EXPECT_EQ(status("GET", "/emails", cora.text("/token")), 403);
  EXPECT_EQ(status("GET", "/users/cora/sessions", cora.text("/token")), 403);
}

// While a key is exchanged there are two of the same name, and several customers may have keys of one name.
TEST_F(SessionRoutes, OfKeysWithOneNameAreListedOnceAndByTheirCustomerAlone) {
  api_->set_keys({parse_api_key("otto:operator:secret-of-otto-000").value(),
                  parse_api_key("portal:customer@north/C-1:secret-of-portal-1").value(),
                  parse_api_key("portal:customer@north/C-1:new-secret-of-portal-1").value(),
                  parse_api_key("portal:customer@north/C-2:secret-of-portal-2").value()});
  const auto begin = [&](const std::string& secret) {
    return call("POST", "/sessions", R"({"api_key":")" + secret + R"("})");
  };
  const Received first = begin("secret-of-portal-1"), second = begin("secret-of-portal-2");
  ASSERT_EQ(second.status(), 201);
  EXPECT_EQ(get("/users/portal/sessions", bearer("secret-of-otto-000")).size("/data"), 2U);
  EXPECT_EQ(get("/sessions", bearer("new-secret-of-portal-1")).size("/data"), 1U);
  EXPECT_EQ(status("DELETE", "/sessions/" + second.text("/id"), first.text("/token")), 404);
  EXPECT_EQ(call("DELETE", "/sessions", "", bearer(first.text("/token"))).number("/removed"), 1);
  EXPECT_EQ(status("GET", "/sessions", second.text("/token")), 200);
  api_->set_keys({parse_api_key("portal:customer@north/C-1:secret-of-portal-2").value()});
  EXPECT_EQ(status("GET", "/sessions", second.text("/token")), 401) << "of another customer is another caller";
}

TEST_F(SessionRoutes, TokensAreNotKeptUnderIdempotencyKeys) {
  const Headers key{{"Idempotency-Key", "sign-in"}};
  const std::string body = R"({"user":"anna","password":"correct horse battery"})";
  const Received first = call("POST", "/sessions", body, key);
  const Received second = call("POST", "/sessions", body, key);
  EXPECT_EQ(second.status(), 201);
  EXPECT_NE(first.text("/token"), second.text("/token"));
}

TEST_F(SessionRoutes, KnowWhereACallerBehindAProxyIs) {
  const Received answer = call("POST", "/sessions", R"({"api_key":"secret-of-the-shop"})");
  EXPECT_FALSE(answer.has("/signed_in_from")) << "the test has no address";
  http::Request request;
  const auto address_of = [&](std::string_view peer, std::string_view forwarded) {
    request.peer = peer;
    request.headers = {{"X-Forwarded-For", forwarded}};
    base::Swappable<Access> access;
    return SignIns(access, sessions_, clock(), {.proxies = {"192.0.2.99"}}).address_of(request);
  };
  EXPECT_EQ(address_of("192.0.2.1", "198.51.100.7"), "192.0.2.1") << "anyone can send this header";
  EXPECT_EQ(address_of("192.0.2.99", "198.51.100.7"), "198.51.100.7");
  EXPECT_EQ(address_of("192.0.2.99", "10.0.0.1, 198.51.100.7"), "198.51.100.7");
  EXPECT_EQ(address_of("192.0.2.99", "unknown"), "192.0.2.99");
}

TEST_F(SessionRoutes, WhereThereAreNeitherKeysNorUsersNothingChanges) {
  ApiOptions options;
  options.sessions = &sessions_;
  api_.reset();
  api_ = new_api(std::move(options));
  EXPECT_EQ(sign_in("anna").code(), "NO_SESSIONS");
  EXPECT_EQ(get("/emails").status(), 200);
  EXPECT_EQ(get("/sessions").size("/data"), 0U);
  EXPECT_EQ(preparations_, 0) << "no table is made";
}

// Passwords that are hashed at the same time take memory and threads. These are hashed until all others were refused.
TEST_F(SessionRoutes, ConcurrentSignInsBeyondAFewAreRefusedAtOnce) {
  constexpr int callers = 20;
  std::mutex mutex;
  std::condition_variable changed;
  int refused = 0;
  int hashing = 0;
  int most_hashing = 0;
  SignInOptions options;
  options.rules.name.free_failures = callers;
  options.rules.address.free_failures = callers;
  options.is_password = [&](std::string_view, const std::string&) {
    std::unique_lock lock(mutex);
    most_hashing = std::max(most_hashing, ++hashing);
    changed.wait(lock, [&] { return refused == callers - SignIns::most_present; });
    --hashing;
    return false;
  };
  const base::TemporaryDirectory folder;
  const std::filesystem::path log = folder.path() / "log";
  ASSERT_TRUE(base::open_log(log));
  const base::Swappable<Access> access(std::make_shared<const Access>(
      std::vector<ApiKey>(), http::OriginPolicy(), users({"anna:reader"}, hash_of_password()), &sessions_));
  SignIns sign_ins(access, sessions_, clock(), options);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < callers; ++i)
    threads.emplace_back([&] {
      const auto answer = sign_ins.with_password("anna", "guess", "192.0.2.1");
      if (!answer && answer.error().type.code == problems::sign_in_refused.code) ++wrong;
      if (!answer && answer.error().type.code == problems::overloaded.code) {
        EXPECT_TRUE(answer.error().is_told) << "the log of requests need not have it";
        const std::lock_guard lock(mutex);
        ++refused;
        changed.notify_all();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(base::open_log(""));
  EXPECT_EQ(wrong, SignIns::most_present);
  EXPECT_LE(most_hashing, SignIns::most_hashing);
  EXPECT_EQ(lines_with("too many callers sign in", log), 1);
}

TEST_F(SessionRoutes, ASignInIsInVainIfItsUserGoesMeanwhile) {
  base::Swappable<Access> access;
  const auto set_users = [&](const std::vector<std::string>& names) {
    access.set(std::make_shared<const Access>(std::vector<ApiKey>(), http::OriginPolicy(),
                                              users(names, hash_of_password()), &sessions_));
  };
  set_users({"anna:reader", "otto:operator"});
  SignInOptions options;
  options.is_password = [&](std::string_view, const std::string&) {
    set_users({"otto:operator"});
    return true;
  };
  SignIns sign_ins(access, sessions_, clock(), options);
  const Caller anna = sign_ins.visible("anna", Caller()).at(0);
  const auto answer = sign_ins.with_password("anna", "correct horse battery", "192.0.2.1");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().type.code, problems::sign_in_refused.code);
  EXPECT_TRUE(sign_ins.list(anna)->empty()) << "if she comes back";
}

TEST_F(SessionRoutes, SlowedSignInsHaveALineAMinute) {
  const base::TemporaryDirectory folder;
  const std::filesystem::path log = folder.path() / "log";
  const auto lines = [&] { return lines_with("sign-ins are slowed down", log); };
  for (int i = 0; i < 5; ++i) ASSERT_EQ(sign_in("anna", "guess").status(), 401);
  ASSERT_TRUE(base::open_log(log));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sign_in("anna", "guess").status(), 429);
  EXPECT_EQ(lines(), 1);
  clock().advance(minutes(1));
  EXPECT_EQ(sign_in("anna", "guess").status(), 401);
  EXPECT_EQ(sign_in("anna", "guess").status(), 429);
  EXPECT_TRUE(base::open_log(""));
  EXPECT_EQ(lines(), 2);
}

}  // namespace
}  // namespace postino::api
