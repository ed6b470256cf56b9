#include <memory>

#include "app/cli/client_command.h"
#include "app/cli/commands.h"
#include "app/client/answer.h"
#include "app/client/json_file.h"
#include "app/client/message_transfer.h"
#include "app/client/rest_problem.h"
#include "app/console/duration_text.h"
#include "app/console/input_file.h"
#include "app/console/table_text.h"
#include "app/console/terminal_text.h"
#include "base/random.h"
#include "json/writer.h"
#include "messages/iso_duration.h"

namespace postino::app {

namespace {

constexpr std::size_t most_message_file_bytes = 1 << 30;
constexpr std::int64_t most_messages = 1'000'000'000;  // in as many calls as it takes

// What produce and consume share.
struct QueueOptions {
  std::string connection;
  std::string queue;
  std::string key;
};

base::Result<base::Milliseconds> duration_of(const std::string& flag, const std::string& text) {
  auto duration = parse_duration(text);
  if (!duration) return base::invalid(flag + ": " + duration.error().message);
  return duration;
}

TransferOptions transfer_options(const QueueOptions& options, bool json) {
  base::SystemRandom random;
  return {options.key.empty() ? base::make_uuid(random) : options.key, json, !options.key.empty()};
}

void add_queue_options(ClientCommand& command, QueueOptions& options) {
  command.add_option("target.queueName", options.queue, {.flag = "--queue"})->required();
  command.add_option("connection", options.connection);
  command.add_option(
      "Idempotency-Key", options.key,
      {.value_name = "KEY",
       .help = "idempotency key: a repeated call with the same key is not executed again; a new one by default"});
}

// --- produce

struct ProduceOptions {
  QueueOptions place;
  std::vector<std::string> bodies;
  std::string file;
  std::string format = "TEXT";
  std::vector<std::string> properties;
  std::string reply_to;
  std::int64_t count = 0;
  std::int64_t batch_size = 0;
  std::int64_t concurrency = 0;
  std::string delay;
  std::string time_to_live;
  bool transient = false;
};

// What the options say about a message, with one of the bodies.
std::string message_of(const ProduceOptions& options, const std::string& body) {
  RequestObject message(*api::find_property(*api::body_schema(operation_named("produceMessages")), "messages[]"));
  message.set_text("body", body);
  message.set_text("format", options.format);
  if (!options.properties.empty()) {
    std::string text;
    json::Writer json(text);
    json.begin_object();
    for (const std::string& property : options.properties) {
      const std::size_t equals = property.find('=');
      json.any_key(property.substr(0, equals)).string(property.substr(equals + 1));
    }
    json.end_object();
    message.set_json("properties", std::move(text));
  }
  return message.json();
}

base::Result<std::vector<std::string>> read_messages(const ProduceOptions& options) {
  if (options.file.empty()) {
    std::vector<std::string> messages;
    for (const std::string& body : options.bodies) messages.push_back(message_of(options, body));
    return messages;
  }
  TRY(const std::string text, read_input(options.file, most_message_file_bytes));
  auto messages = read_json_file(text, {"messages", "a message", "messages"});
  if (!messages)
    return base::invalid((options.file == "-" ? "the standard input" : printable(options.file)) + ": " +
                         messages.error().message);
  return messages;
}

// Those that were given, as fields of the request with their JSON.
base::Result<std::vector<std::pair<std::string, std::string>>> produce_settings(const ProduceOptions& options) {
  std::vector<std::pair<std::string, std::string>> settings;
  if (options.batch_size > 0) settings.emplace_back("settings.batchSize", std::to_string(options.batch_size));
  if (options.concurrency > 0) settings.emplace_back("settings.concurrency", std::to_string(options.concurrency));
  if (!options.delay.empty()) {
    TRY(const base::Milliseconds delay, duration_of("--delay", options.delay));
    settings.emplace_back("settings.deliveryDelay", "\"" + messages::format_duration(delay) + "\"");
  }
  if (!options.time_to_live.empty()) {
    TRY(const base::Milliseconds life, duration_of("--time-to-live", options.time_to_live));
    settings.emplace_back("settings.timeToLive", "\"" + messages::format_duration(life) + "\"");
  }
  if (options.transient) settings.emplace_back("settings.persistent", "false");
  return settings;
}

base::Result<void> check_produce(const ProduceOptions& options) {
  if (options.bodies.empty() == options.file.empty()) return base::invalid("one of --body and --file is required");
  if (!options.file.empty() && !options.properties.empty())
    return base::invalid("--file and --property cannot be used together");
  for (const std::string& property : options.properties)
    if (property.find('=') == std::string::npos || property.starts_with('='))
      return base::invalid("--property: must be NAME=VALUE");
  return {};
}

int produce(RestClient& client, const ProduceOptions& options, bool json, const Console& console) {
  if (const auto checked = check_produce(options); !checked) return report_error(console, checked.error(), misuse);
  auto settings = produce_settings(options);
  if (!settings) return report_error(console, settings.error(), misuse);
  auto messages = read_messages(options);
  if (!messages) return report_error(console, messages.error());
  MessageList list{options.place.connection, options.place.queue, options.reply_to, *std::move(messages), 0,
                   *std::move(settings)};
  list.total = options.count > 0 ? static_cast<std::size_t>(options.count) : list.messages.size();
  return produce_messages(client, list, transfer_options(options.place, json), console);
}

void add_produce(CommandLine& line, CLI::App& messages) {
  ClientCommand command(line, messages, "produce", "produceMessages");
  const auto options = std::make_shared<ProduceOptions>();
  command.add_option("messages[].body", options->bodies, {.help = "body of a message"});
  command.add_option("messages", options->file,
                     {.flag = "--file",
                      .value_name = "FILE",
                      .help = "file with messages: JSON, one, an array, or one per line; - is the standard "
                              "input"});
  command.add_option(
      "messages[].format", options->format,
      {.value_name = "FORMAT", .help = "format of each --body: TEXT (default), JSON, or BINARY (base64)"});
  command.add_option("messages[].properties", options->properties,
                     {.flag = "--property", .value_name = "NAME=VALUE", .help = "property of each --body"});
  command.add_option("target.replyToQueue", options->reply_to, {.flag = "--reply-to"});
  command.add_option(
      "settings.totalMessages", options->count,
      {.flag = "--count", .help = "repeat the messages in turn until this many are sent", .most = most_messages});
  command.add_option("settings.batchSize", options->batch_size);
  command.add_option("settings.concurrency", options->concurrency);
  command.add_option("settings.deliveryDelay", options->delay,
                     {.flag = "--delay", .help = "how long the broker delays the messages, such as 30s"});
  command.add_option("settings.timeToLive", options->time_to_live,
                     {.help = "time after which the broker may drop the messages, such as 5m"});
  command.add_flag("settings.persistent", options->transient,
                   {.flag = "--transient", .help = "the messages need not survive a restart of the broker"});
  add_queue_options(command, options->place);
  command.run([options, &shared = command.shared()](RestClient& client, const Console& console) {
    return produce(client, *options, shared.json, console);
  });
}

// --- consume

struct ConsumeOptions {
  QueueOptions place;
  std::int64_t max = 1;
  std::string wait = "0s";
  bool keep = false;
};

int consume(RestClient& client, const ConsumeOptions& options, bool json, const Console& console) {
  const auto wait = duration_of("--wait", options.wait);
  if (!wait) return report_error(console, wait.error(), misuse);
  const Consumption consumption{options.place.connection, options.place.queue, options.max, *wait, !options.keep};
  return consume_messages(client, consumption, transfer_options(options.place, json), console);
}

void add_consume(CommandLine& line, CLI::App& messages) {
  ClientCommand command(line, messages, "consume", "consumeMessages", "take messages from a queue and print them");
  const auto options = std::make_shared<ConsumeOptions>();
  command.add_option("settings.maxMessages", options->max,
                     {.flag = "--max", .help = "maximum number of messages; 1 by default", .most = most_messages});
  command.add_option("settings.waitTimeout", options->wait,
                     {.flag = "--wait", .help = "how long to wait for messages, such as 30s; 0s by default"});
  command.add_flag("settings.autoAcknowledge", options->keep,
                   {.flag = "--keep", .help = "print the messages, but leave them in the queue"});
  add_queue_options(command, options->place);
  command.run([options, &shared = command.shared()](RestClient& client, const Console& console) {
    return consume(client, *options, shared.json, console);
  });
}

// --- depth and test

struct DepthOptions {
  std::vector<std::string> queues;
  std::map<std::string, std::string, std::less<>> query;
};

base::Result<void> show_depths(RestClient& client, const DepthOptions& options, bool json, const Console& console) {
  TableText table({{"QUEUE"}, {"MESSAGES", Align::right}});
  for (const std::string& queue : options.queues) {
    OperationCall call("getQueueDepth");
    call.set("queue", queue);
    for (const auto& [parameter, value] : options.query) call.set(parameter, value);
    TRY(const std::string body, client.fetch(call));
    TRY(const Answer answer, Answer::parse("getQueueDepth", body));
    if (json)
      console.print_foreign(body);
    else
      table.add({printable(queue), grouped(answer.root().number("depth"))});
  }
  console.out << table.take();
  return {};
}

void add_depth(CommandLine& line, CLI::App& messages) {
  ClientCommand command(line, messages, "depth", "getQueueDepth", "count the messages that wait in queues");
  const auto options = std::make_shared<DepthOptions>();
  command.add_argument("queue", options->queues, {.help = "names of queues"});
  command.add_query_options(options->query);
  command.run([options, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto shown = show_depths(client, *options, shared.json, console);
    return shown ? success : report_error(console, shown.error());
  });
}

base::Result<void> test_connection(RestClient& client, const std::string& connection, bool json,
                                   const Console& console) {
  constexpr int label_columns = 11;
  OperationCall call("testConnection");
  if (!connection.empty()) call.body().set_text("connection", connection);
  TRY(const std::string body, client.fetch(call));
  TRY(const Answer answer, Answer::parse("testConnection", body));
  if (json) {
    console.print_foreign(body);
    return {};
  }
  for (const api::Property& property : answer.root().schema().properties)
    if (const std::string text = answer.root().text(property.name); !text.empty())
      console.out << left_aligned(property.name, label_columns) << text << "\n";
  return {};
}

void add_connection_test(CommandLine& line, CLI::App& messages) {
  ClientCommand command(line, messages, "test", "testConnection");
  const auto connection = std::make_shared<std::string>();
  command.add_argument("connection", *connection)->required(false);
  command.run([connection, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto tested = test_connection(client, *connection, shared.json, console);
    return tested ? success : report_error(console, tested.error());
  });
}

}  // namespace

void add_messages_command(CommandLine& line) {
  CLI::App& messages = add_command_group(line, line.program(), "messages", "send messages to queues, and receive them");
  add_produce(line, messages);
  add_consume(line, messages);
  add_depth(line, messages);
  add_connection_test(line, messages);
}

}  // namespace postino::app
