#include "app/cli/messages_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/client/answer_json.h"
#include "app/client/client_options.h"
#include "app/client/json_file.h"
#include "app/client/message_transfer.h"
#include "app/client/rest_client.h"
#include "app/client/rest_problem.h"
#include "app/console/input_file.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "app/server/setting_values.h"
#include "base/random.h"
#include "base/text.h"
#include "json/writer.h"
#include "messages/iso_duration.h"

namespace postino::app {

namespace {

constexpr std::size_t most_message_file_bytes = 1 << 30;
constexpr std::int64_t most_messages = 1'000'000'000;

struct MessagesFlags {
  ClientOptions client = environment_client_options();
  std::string connection;
  std::string queue;
  std::vector<std::string> queues;
  std::string key;

  std::vector<std::string> bodies;
  std::string file;
  std::string format = "TEXT";
  std::vector<std::string> properties;
  std::string reply_to;
  std::int64_t count = 0;
  int batch_size = 0;
  int concurrency = 0;
  std::string delay;
  std::string time_to_live;
  bool transient = false;

  std::int64_t max = 1;
  std::string wait = "0s";
  bool keep = false;

  CLI::App* produce = nullptr;
  CLI::App* consume = nullptr;
  CLI::App* depth = nullptr;
  CLI::App* test = nullptr;
};

base::Result<base::Milliseconds> duration_of(const std::string& flag, const std::string& text) {
  auto duration = parse_duration(text);
  if (!duration) return base::invalid(flag + ": " + duration.error().message);
  return duration;
}

TransferOptions transfer_options(const MessagesFlags& flags) {
  base::SystemRandom random;
  return {flags.key.empty() ? base::make_uuid(random) : flags.key, flags.client.json};
}

// --- produce

// What the flags say about a message, with one of the bodies.
std::string message_of(const MessagesFlags& flags, const std::string& body) {
  std::string text;
  json::Writer json(text);
  json.begin_object();
  json.key("body").string(body);
  json.key("format").string(flags.format);
  if (!flags.properties.empty()) {
    json.key("properties").begin_object();
    for (const std::string& property : flags.properties) {
      const std::size_t equals = property.find('=');
      json.any_key(property.substr(0, equals)).string(property.substr(equals + 1));
    }
    json.end_object();
  }
  json.end_object();
  return text;
}

base::Result<std::vector<std::string>> read_messages(const MessagesFlags& flags) {
  if (flags.file.empty()) {
    std::vector<std::string> messages;
    for (const std::string& body : flags.bodies) messages.push_back(message_of(flags, body));
    return messages;
  }
  TRY(const std::string text, read_input(flags.file, most_message_file_bytes));
  auto messages = read_json_file(text, {"messages", "a message", "messages"});
  if (!messages)
    return base::invalid((flags.file == "-" ? "the standard input" : printable(flags.file)) + ": " +
                         messages.error().message);
  return messages;
}

base::Result<std::string> settings_json(const MessagesFlags& flags) {
  std::string text;
  const auto add = [&](const std::string& member) { text += (text.empty() ? "" : ",") + member; };
  if (flags.batch_size > 0) add("\"batchSize\":" + std::to_string(flags.batch_size));
  if (flags.concurrency > 0) add("\"concurrency\":" + std::to_string(flags.concurrency));
  if (!flags.delay.empty()) {
    TRY(const base::Milliseconds delay, duration_of("--delay", flags.delay));
    add("\"deliveryDelay\":\"" + messages::format_duration(delay) + "\"");
  }
  if (!flags.time_to_live.empty()) {
    TRY(const base::Milliseconds life, duration_of("--time-to-live", flags.time_to_live));
    add("\"timeToLive\":\"" + messages::format_duration(life) + "\"");
  }
  if (flags.transient) add("\"persistent\":false");
  return text;
}

base::Result<void> check_produce(const MessagesFlags& flags) {
  if (flags.bodies.empty() == flags.file.empty()) return base::invalid("one of --body and --file is required");
  if (!flags.file.empty() && !flags.properties.empty())
    return base::invalid("--file and --property do not go together");
  for (const std::string& property : flags.properties)
    if (property.find('=') == std::string::npos || property.starts_with('='))
      return base::invalid("--property: must be NAME=VALUE");
  return {};
}

int produce(RestClient& client, const MessagesFlags& flags, const Console& console) {
  if (const auto checked = check_produce(flags); !checked) return report_error(console, checked.error(), misuse);
  auto settings = settings_json(flags);
  if (!settings) return report_error(console, settings.error(), misuse);
  auto messages = read_messages(flags);
  if (!messages) return report_error(console, messages.error());
  MessageList list{flags.connection, flags.queue, flags.reply_to, *std::move(messages), 0, *std::move(settings)};
  list.total = flags.count > 0 ? static_cast<std::size_t>(flags.count) : list.messages.size();
  return produce_messages(client, list, transfer_options(flags), console);
}

// --- consume, depth, test

int consume(RestClient& client, const MessagesFlags& flags, const Console& console) {
  const auto wait = duration_of("--wait", flags.wait);
  if (!wait) return report_error(console, wait.error(), misuse);
  const Consumption consumption{flags.connection, flags.queue, flags.max, *wait, !flags.keep};
  return consume_messages(client, consumption, transfer_options(flags), console);
}

base::Result<void> show_depths(RestClient& client, const MessagesFlags& flags, const Console& console) {
  TableText table({{"QUEUE"}, {"MESSAGES", Align::right}});
  for (const std::string& queue : flags.queues) {
    TRY(const std::string body, client.get("/messages/queues/" + base::encode_percent(queue) + "/depth" +
                                           query_text({{"connection", flags.connection}})));
    json::Document document;
    TRY_VOID(parse_answer(document, body));
    if (flags.client.json)
      console.print_foreign(body);
    else
      table.add({printable(queue), grouped(number_of(document.root(), "depth"))});
  }
  console.out << table.take();
  return {};
}

base::Result<void> test_connection(RestClient& client, const MessagesFlags& flags, const Console& console) {
  std::string body;
  json::Writer json(body);
  json.begin_object();
  if (!flags.connection.empty()) json.key("connection").string(flags.connection);
  json.end_object();
  TRY(const net::HttpResponse response, client.send("POST", "/messages/connections/test", body));
  if (response.status != 200) return base::propagate(describe_problem(response));
  json::Document document;
  TRY_VOID(parse_answer(document, response.body));
  if (flags.client.json) {
    console.print_foreign(response.body);
    return {};
  }
  for (const char* member : {"endpoint", "product", "version", "container", "mechanism", "tls", "elapsed"})
    if (const std::string text = text_of(document.root(), member); !text.empty())
      console.out << left_aligned(member, 11) << text << "\n";
  return {};
}

int run(const MessagesFlags& flags, const Console& console) {
  auto client = RestClient::create(flags.client);
  if (!client) return report_error(console, client.error(), misuse);
  if (*flags.produce) return produce(*client, flags, console);
  if (*flags.consume) return consume(*client, flags, console);
  const auto done = (*flags.depth ? show_depths : test_connection)(*client, flags, console);
  return done ? success : report_error(console, done.error());
}

// --- The command line

// One value for each time the flag is given.
void add_repeated(CLI::App& command, const char* flag, std::vector<std::string>& values, const char* type,
                  const char* help) {
  command.add_option(flag, values, std::string(help) + "; may be repeated")
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_place(CLI::App& command, MessagesFlags& flags) {
  command.add_option("--queue", flags.queue, "the queue")->type_name("NAME")->required();
  command.add_option("--connection", flags.connection, "a connection of the server's configuration")->type_name("NAME");
  command.add_option("--idempotency-key", flags.key, "given again, nothing is done again; one is made up by default")
      ->type_name("KEY");
  add_client_options(command, flags.client);
}

void add_produce(CLI::App& messages, MessagesFlags& flags) {
  CLI::App& command = *messages.add_subcommand("produce", "put messages into a queue");
  flags.produce = &command;
  add_repeated(command, "--body", flags.bodies, "TEXT", "a message");
  command
      .add_option("--file", flags.file,
                  "the messages of this file: JSON, one or an array of them, or one on each line; - is the standard "
                  "input")
      ->type_name("FILE");
  command.add_option("--format", flags.format, "of each --body: TEXT by default, JSON, or BINARY in base64")
      ->type_name("FORMAT");
  add_repeated(command, "--property", flags.properties, "NAME=VALUE", "a property of each --body");
  command.add_option("--reply-to", flags.reply_to, "the queue for answers")->type_name("NAME");
  command.add_option("--count", flags.count, "repeat the messages in turn until there are so many")
      ->type_name("COUNT")
      ->check(CLI::Range(std::int64_t{1}, most_messages));
  command.add_option("--batch-size", flags.batch_size, "messages that may be unconfirmed at a time")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 10'000));
  command.add_option("--concurrency", flags.concurrency, "connections to send on; with several the order is lost")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 16));
  command.add_option("--delay", flags.delay, "how long the broker keeps them back")->type_name("DURATION");
  command.add_option("--time-to-live", flags.time_to_live, "after which the broker may drop them")
      ->type_name("DURATION");
  command.add_flag("--transient", flags.transient, "they need not survive a restart of the broker");
  add_place(command, flags);
}

void add_consume(CLI::App& messages, MessagesFlags& flags) {
  CLI::App& command = *messages.add_subcommand("consume", "take messages from a queue, and print them");
  flags.consume = &command;
  command.add_option("--max", flags.max, "how many at most, 1 by default")
      ->type_name("COUNT")
      ->check(CLI::Range(std::int64_t{1}, most_messages));
  command.add_option("--wait", flags.wait, "how long to wait for them, 0s by default")->type_name("DURATION");
  command.add_flag("--keep", flags.keep, "look at them, and leave them in the queue");
  add_place(command, flags);
}

}  // namespace

Command add_messages_command(CLI::App& program) {
  const auto flags = std::make_shared<MessagesFlags>();
  CLI::App* const messages = program.add_subcommand("messages", "put messages into queues, and take them out");
  messages->require_subcommand(1);
  add_produce(*messages, *flags);
  add_consume(*messages, *flags);
  flags->depth = messages->add_subcommand("depth", "count the messages that wait in queues");
  flags->depth->add_option("queues", flags->queues, "the queues")->type_name("NAME")->required();
  flags->depth->add_option("--connection", flags->connection, "a connection of the server's configuration")
      ->type_name("NAME");
  add_client_options(*flags->depth, flags->client);
  flags->test = messages->add_subcommand("test", "connect to a broker, and say who is there");
  flags->test->add_option("connection", flags->connection, "a connection of the server's configuration")
      ->type_name("NAME");
  add_client_options(*flags->test, flags->client);
  return {messages, [flags](const Console& console) { return run(*flags, console); }};
}

}  // namespace postino::app
