// Changes that go to files, webhooks and queues.
#include "metrics/subscribers.h"

#include <fstream>

#include "failing_store.h"
#include "http/server.h"
#include "messages/store_queue.h"
#include "support_desk.h"

namespace postino::metrics {
namespace {

using namespace std::chrono_literals;
using reminders::FailingStore;
using reminders::WriteFault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// The ids of the tickets in lines or bodies of changes, in their order.
std::vector<std::string> tickets_in(std::string_view text) {
  constexpr std::string_view begin = R"("PK":{"S":"TICKET#)";
  constexpr std::string_view keys = R"("keys":{)";
  std::vector<std::string> ids;
  for (std::size_t at = text.find(keys); at != std::string_view::npos; at = text.find(keys, at + 1)) {
    const std::size_t id = text.find(begin, at) + begin.size();
    ids.emplace_back(text.substr(id, text.find('"', id) - id));
  }
  return ids;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SubscribersTest : public ::testing::Test {
 protected:
  std::unique_ptr<Subscribers> make(store::Store& store) {
    FollowerOptions options = following_at_once("");
    options.keeper.alone = true;
    options.batch = 3;
    return std::make_unique<Subscribers>(store, metrics_table, options, desk_.clock(), desk_.random(), desk_.retry());
  }
  void put(int from, int count) {
    for (int i = from; i < from + count; ++i) desk_.put(ticket_item(std::to_string(i), "NEW", desk_.now()));
  }
  static void run(Subscribers& subscribers, int rounds = 30) {
    for (int i = 0; i < rounds; ++i)
      if (subscribers.follower("mine")->run_once() == Follower::Round::waiting) return;
  }
  SubscriberOptions to_file(std::size_t bytes = 64 << 20) {
    return {.name = "mine",
            .table = tickets_table,
            .target = FileSinkOptions{.directory = files_, .name = "", .file_bytes = bytes}};
  }
  // All lines of all files.
  std::string lines() {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(files_)) paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::string all;
    for (const auto& path : paths) all += contents(path);
    return all;
  }

  SupportDesk desk_;
  const std::filesystem::path files_ = desk_.directory() / "changes";
};

TEST_F(SubscribersTest, ChangesAreLinesOfAFile) {
  desk_.put(ticket_item("0", "NEW", desk_.now()));
  desk_.put(ticket_item("0", "READY", desk_.now()));
  desk_.remove(ticket_item("0", "", desk_.now()));
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file()));
  run(*subscribers);
  const std::string text = contents(files_ / "mine-000001.jsonl");
  std::istringstream in(text);
  std::vector<std::string> found;
  for (std::string line; std::getline(in, line);) found.push_back(line);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_THAT(found[0], StartsWith(R"({"sequence":"1)"));
  EXPECT_THAT(found[0],
              HasSubstr(R"("table":"prod-tickets-unified","event":"INSERT","time":"2026-01-02T03:04:05.000Z",)"
                        R"("keys":{"PK":{"S":"TICKET#0"},"SK":{"S":"METADATA"}},"new":{)"));
  EXPECT_THAT(found[1], HasSubstr(R"("event":"MODIFY")"));
  EXPECT_THAT(found[1], HasSubstr(R"("old":{)"));
  EXPECT_THAT(found[2], HasSubstr(R"("event":"REMOVE")"));
  EXPECT_EQ(std::filesystem::status(files_ / "mine-000001.jsonl").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(SubscribersTest, FilesHaveEachChangeOnceWheneverTheProcessEnds) {
  int next = 0;
  for (const WriteFault fault :
       {WriteFault::refused, WriteFault::unknown, WriteFault::ended_before, WriteFault::ended_after})
    for (int number = 1; number <= 4; ++number) {
      put(next, 8);
      next += 8;
      FailingStore failing(desk_.engine());
      const auto subscribers = make(failing);
      ASSERT_TRUE(subscribers->add(to_file(1'500)));
      failing.fail_at(number, fault);
      run(*subscribers, 6);
    }
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file(1'500)));
  run(*subscribers, 1'000);
  std::vector<std::string> expected;
  for (int i = 0; i < next; ++i) expected.push_back(std::to_string(i));
  EXPECT_EQ(tickets_in(lines()), expected);
  EXPECT_TRUE(std::filesystem::exists(files_ / "mine-000005.jsonl")) << "they do not grow without end";
}

TEST_F(SubscribersTest, AFileThatWasCutIsLeftAsItIs) {
  put(0, 3);
  {
    const auto subscribers = make(desk_.engine());
    ASSERT_TRUE(subscribers->add(to_file()));
    run(*subscribers);
  }
  std::filesystem::resize_file(files_ / "mine-000001.jsonl", 10);
  put(3, 3);
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file()));
  run(*subscribers);
  EXPECT_EQ(std::filesystem::file_size(files_ / "mine-000001.jsonl"), 10U);
  EXPECT_THAT(tickets_in(contents(files_ / "mine-000002.jsonl")), ElementsAre("3", "4", "5"));
}

// A new data directory, or one from a backup, knows nothing of the files that are there.
TEST_F(SubscribersTest, FilesThatTheCheckpointDoesNotKnowStayAsTheyAre) {
  std::filesystem::create_directories(files_);
  std::ofstream(files_ / "mine-000001.jsonl") << "precious\n";
  std::ofstream(files_ / "mine-000007.jsonl") << "precious too\n";
  std::ofstream(files_ / "mine-x.jsonl") << "no number\n";
  put(0, 3);
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file()));
  run(*subscribers);
  EXPECT_EQ(contents(files_ / "mine-000001.jsonl"), "precious\n");
  EXPECT_EQ(contents(files_ / "mine-000007.jsonl"), "precious too\n");
  EXPECT_THAT(tickets_in(contents(files_ / "mine-000008.jsonl")), ElementsAre("0", "1", "2"));
}

TEST_F(SubscribersTest, ASpoiltCheckpointCutsNoFile) {
  put(0, 6);
  {
    const auto subscribers = make(desk_.engine());
    ASSERT_TRUE(subscribers->add(to_file(10)));
    run(*subscribers);
  }
  const std::string first = contents(files_ / "mine-000001.jsonl"), second = contents(files_ / "mine-000002.jsonl");
  ASSERT_THAT(tickets_in(second), ElementsAre("3", "4", "5"));
  store::PutItemRequest damaged;
  damaged.table_name = metrics_table;
  damaged.item = {{"metric_name", checkpoint_name("subscriber#mine")}, {"version", "?"}};
  ASSERT_TRUE(desk_.engine().put_item(damaged));
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file()));
  run(*subscribers);
  EXPECT_EQ(contents(files_ / "mine-000001.jsonl"), first);
  EXPECT_EQ(contents(files_ / "mine-000002.jsonl"), second);
  EXPECT_THAT(tickets_in(contents(files_ / "mine-000003.jsonl")), ElementsAre("0", "1", "2", "3", "4", "5"));
}

// What was delivered before is not known any more, also if the process ends before it has started over.
TEST_F(SubscribersTest, ASpoiltCheckpointIsAGap) {
  put(0, 2);
  {
    const auto subscribers = make(desk_.engine());
    ASSERT_TRUE(subscribers->add(to_file()));
    run(*subscribers);
  }
  EXPECT_THAT(desk_.set_aside(), IsEmpty()) << "the first start is none";
  const std::string name = checkpoint_name("subscriber#mine");
  std::size_t gaps = 0;
  for (const item::Item& damaged :
       {item::Item{{"metric_name", name}}, item::Item{{"metric_name", name}, {"version", 7}},
        item::Item{{"metric_name", name}, {"position", 5}, {"version", "?"}}}) {
    store::PutItemRequest request;
    request.table_name = metrics_table;
    request.item = damaged;
    ASSERT_TRUE(desk_.engine().put_item(request));
    desk_.time().advance(1s);
    {
      FailingStore failing(desk_.engine());
      const auto ending = make(failing);
      ASSERT_TRUE(ending->add(to_file()));
      failing.fail_at(1, WriteFault::ended_after);
      run(*ending, 2);
      EXPECT_TRUE(failing.has_failed());
    }
    const auto subscribers = make(desk_.engine());
    ASSERT_TRUE(subscribers->add(to_file()));
    run(*subscribers);
    const std::vector<SetAside> aside = desk_.set_aside();
    ASSERT_THAT(aside, SizeIs(++gaps));
    EXPECT_EQ(subscribers->followers().front()->counts().set_aside, 1U) << "which an alert is about";
    EXPECT_EQ(aside[0].event, "GAP");
    EXPECT_EQ(aside[0].reason, "the checkpoint could not be read");
  }
}

// As after a backup was restored: the checkpoint is older than the file.
TEST_F(SubscribersTest, LinesBehindTheCheckpointThatAreOfAnotherTimeStay) {
  put(0, 3);
  {
    const auto subscribers = make(desk_.engine());
    ASSERT_TRUE(subscribers->add(to_file()));
    run(*subscribers);
  }
  std::ofstream(files_ / "mine-000001.jsonl", std::ios::app) << "of another time\n";
  put(3, 3);
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file()));
  run(*subscribers);
  EXPECT_THAT(contents(files_ / "mine-000001.jsonl"), HasSubstr("of another time"));
  EXPECT_THAT(tickets_in(contents(files_ / "mine-000002.jsonl")), ElementsAre("3", "4", "5"));
}

TEST_F(SubscribersTest, AFileThatIsRemovedMeanwhileTakesNoMoreChangesWithIt) {
  put(0, 3);
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file()));
  run(*subscribers);
  std::filesystem::remove(files_ / "mine-000001.jsonl");
  put(3, 3);
  run(*subscribers);
  EXPECT_THAT(tickets_in(lines()), ElementsAre("3", "4", "5"));
  EXPECT_FALSE(std::filesystem::exists(files_ / "mine-000001.jsonl")) << "its number is not used again";
}

TEST_F(SubscribersTest, WhatIsLeftOutIsNotDelivered) {
  const auto put_item = [&](const std::string& partition) {
    desk_.put({{"PK", partition}, {"SK", "METADATA"}, {"secret_digest", "hidden"}});
  };
  SubscriberOptions options = to_file();
  options.left_out = {"SESSION#", "CACHE#"};
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(options));
  put_item("SESSION#1");
  put_item("TENANT#acme#CACHE#1");
  put(0, 1);
  for (int i = 2; i < 8; ++i) put_item("SESSION#" + std::to_string(i));
  put(1, 1);
  run(*subscribers);
  EXPECT_THAT(tickets_in(lines()), ElementsAre("0", "1"));
  EXPECT_EQ(lines().find("hidden"), std::string::npos);
}

TEST_F(SubscribersTest, AGapIsTold) {
  put(0, 1);
  {
    const auto subscribers = make(desk_.engine());
    ASSERT_TRUE(subscribers->add(to_file()));
    run(*subscribers);
  }
  put(1, 1);
  desk_.pass(25h);
  put(2, 1);
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_file()));
  run(*subscribers);
  EXPECT_THAT(tickets_in(lines()), ElementsAre("0", "2"));
  const std::vector<SetAside> aside = desk_.set_aside();
  ASSERT_THAT(aside, SizeIs(1));
  EXPECT_EQ(aside[0].event, "GAP");
  EXPECT_EQ(aside[0].reason, "changes were gone before they were handled");
}

// Answers what it was told to, and keeps what it got.
class Receiver {
 public:
  Receiver() {
    auto started = http::Server::start({}, [this](const http::Request& request, const http::Responder& respond) {
      http::Response response;
      response.status = answer(std::string(request.body));
      if (response.status == 200) bodies.emplace_back(request.body);
      headers.emplace_back(request.header("webhook-id"));
      respond(std::move(response));
    });
    CHECK(started);
    server_ = *std::move(started);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()) + "/changes"; }

  std::function<int(const std::string& body)> answer = [](const std::string&) { return 200; };
  std::vector<std::string> bodies;   // that were taken; read by the test when nothing is under way
  std::vector<std::string> headers;  // webhook-id of each request

 private:
  std::unique_ptr<http::Server> server_;
};

SubscriberOptions to_webhook(const std::string& url) {
  WebhookSinkOptions options;
  options.url = url;
  options.timeout = 60s;
  options.client.allow_private_addresses = true;
  options.sign = [](const std::string& id, base::TimePoint, const std::string&) {
    return std::vector<std::pair<std::string, std::string>>{{"webhook-id", id}};
  };
  return {.name = "mine", .table = tickets_table, .target = std::move(options)};
}

std::vector<std::string> tickets_of(const Receiver& receiver) {
  std::vector<std::string> all;
  for (const std::string& body : receiver.bodies)
    for (const std::string& id : tickets_in(body)) all.push_back(id);
  return all;
}

TEST_F(SubscribersTest, ChangesArePostedInOrder) {
  Receiver receiver;
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_webhook(receiver.url())));
  put(0, 7);
  run(*subscribers);
  EXPECT_THAT(receiver.bodies, SizeIs(3));
  EXPECT_THAT(receiver.bodies[0], StartsWith(R"({"table":"prod-tickets-unified","changes":[{"sequence":"1)"));
  EXPECT_THAT(tickets_of(receiver), ElementsAre("0", "1", "2", "3", "4", "5", "6"));
  EXPECT_THAT(receiver.headers[0], StartsWith("prod-tickets-unified-1"));
}

TEST_F(SubscribersTest, AReceiverThatIsUnwellGetsEverythingLater) {
  Receiver receiver;
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_webhook(receiver.url())));
  put(0, 5);
  for (const int status : {503, 429, 404, 401, 302, 500}) {
    receiver.answer = [&](const std::string&) { return status; };
    EXPECT_EQ(subscribers->follower("mine")->run_once(), Follower::Round::failed) << status;
  }
  EXPECT_EQ(receiver.headers.front(), receiver.headers.back()) << "it is the same message again";
  receiver.answer = [](const std::string&) { return 200; };
  run(*subscribers);
  EXPECT_THAT(tickets_of(receiver), ElementsAre("0", "1", "2", "3", "4"));
  EXPECT_THAT(desk_.set_aside(), IsEmpty());
}

TEST_F(SubscribersTest, AChangeThatIsRefusedIsSetAside) {
  for (const int status : {400, 500}) {
    Receiver receiver;
    SupportDesk desk;
    FollowerOptions options = following_at_once("");
    Subscribers subscribers(desk.engine(), metrics_table, options, desk.clock(), desk.random(), desk.retry());
    ASSERT_TRUE(subscribers.add(to_webhook(receiver.url())));
    receiver.answer = [&](const std::string& body) {
      return body.find("TICKET#3\"") != std::string::npos ? status : 200;
    };
    for (int i = 0; i < 6; ++i) desk.put(ticket_item(std::to_string(i), "NEW", desk.now()));
    run(subscribers, 2'000);
    EXPECT_THAT(tickets_of(receiver), ElementsAre("0", "1", "2", "4", "5")) << status;
    EXPECT_THAT(desk.set_aside(), SizeIs(1));
  }
}

TEST_F(SubscribersTest, WhatWasSetAsideIsTriedAgainWhenSomebodyAsks) {
  Receiver receiver;
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(subscribers->add(to_webhook(receiver.url())));
  receiver.answer = [](const std::string& body) { return body.find("TICKET#1\"") != std::string::npos ? 422 : 200; };
  put(0, 3);
  run(*subscribers);
  std::vector<SetAside> aside = desk_.set_aside();
  ASSERT_THAT(aside, SizeIs(1));
  receiver.answer = [](const std::string&) { return 400; };
  ASSERT_TRUE(subscribers->retry(aside[0]));
  run(*subscribers);
  aside = desk_.set_aside();
  ASSERT_THAT(aside, SizeIs(1)) << "it is still refused";
  EXPECT_EQ(aside[0].reason, "the receiver answered HTTP 400");
  receiver.answer = [](const std::string&) { return 200; };
  receiver.bodies.clear();
  ASSERT_TRUE(subscribers->retry(aside[0]));
  run(*subscribers);
  EXPECT_THAT(tickets_of(receiver), ElementsAre("1"));
  EXPECT_THAT(receiver.bodies[0], HasSubstr(R"("event":"INSERT")"));
  EXPECT_THAT(desk_.set_aside(), IsEmpty());
  put(7, 1);
  run(*subscribers);
  EXPECT_THAT(tickets_of(receiver), ElementsAre("1", "7")) << "and it goes on where it was";

  SetAside gap = set_aside_gap("subscriber#mine", tickets_table, "gone", desk_.now());
  EXPECT_EQ(subscribers->retry(gap).error().message, "the change itself was not kept");
  aside[0].follower = "subscriber#other";
  EXPECT_EQ(subscribers->retry(aside[0]).error().message, "there is no such subscriber any more");
}

TEST_F(SubscribersTest, ChangesAreMessagesOfAQueue) {
  messages::StoreQueue queues(desk_.engine(), desk_.clock(), desk_.random(), desk_.retry(), {});
  const auto subscribers = make(desk_.engine());
  ASSERT_TRUE(
      subscribers->add({.name = "mine", .table = tickets_table, .target = QueueTarget{&queues, "ticket-changes"}}));
  put(0, 5);
  run(*subscribers);
  broker::ReceiveOptions options;
  options.max_messages = 100;
  const auto held = queues.receive("ticket-changes", options);
  ASSERT_TRUE(held);
  std::vector<std::string> tickets;
  for (const broker::Message& message : (*held)->messages()) {
    tickets.push_back(tickets_in(message.body).at(0));
    EXPECT_THAT(message.id, StartsWith("prod-tickets-unified-1"));
  }
  EXPECT_THAT(tickets, ElementsAre("0", "1", "2", "3", "4"));
}

TEST_F(SubscribersTest, SubscribersHaveRules) {
  const auto subscribers = make(desk_.engine());
  const auto fault = [&](SubscriberOptions options) {
    const auto added = subscribers->add(options);
    return added ? "" : added.error().message;
  };
  const auto named = [&](const std::string& name) {
    SubscriberOptions options = to_file();
    options.name = name;
    return options;
  };
  EXPECT_EQ(fault(named("")), "name must be 1 to 64 of a-z, 0-9, - and _");
  EXPECT_EQ(fault(named("../x")), "name must be 1 to 64 of a-z, 0-9, - and _");
  EXPECT_EQ(fault(named(std::string(65, 'a'))), "name must be 1 to 64 of a-z, 0-9, - and _");
  EXPECT_EQ(fault(named("mine")), "");
  EXPECT_EQ(fault(named("mine")), "name must be of one subscriber alone");
  SubscriberOptions options = named("other");
  options.table = "";
  EXPECT_EQ(fault(options), "table must be given");
  options.table = metrics_table;
  EXPECT_EQ(fault(options), "table must not be that of the metrics");
  options = named("other");
  std::get<FileSinkOptions>(options.target).directory = "";
  EXPECT_EQ(fault(options), "directory must be given");
  options = named("other");
  std::get<FileSinkOptions>(options.target).name = "../x";
  EXPECT_EQ(fault(options), "name of the files must be 1 to 64 of a-z, 0-9, - and _");
  options = to_webhook("ftp://x");
  options.name = "other";
  EXPECT_THAT(fault(options), StartsWith("url "));
  options.target = QueueTarget{};
  EXPECT_EQ(fault(options), "queue must be given");
  ASSERT_EQ(subscribers->followers().size(), 1U);
  EXPECT_EQ(subscribers->followers().front()->options().keeper.follower, "subscriber#mine");
}

}  // namespace
}  // namespace postino::metrics
