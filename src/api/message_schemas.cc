// The shapes of what is said about messages and queues.
#include "api/schemas.h"

namespace postino::api {

namespace {

constexpr const char* queue_manager = R"({
  "type": "object", "required": ["endpoints"], "additionalProperties": false,
  "description": "A broker that the request itself describes. The configuration says which hosts are allowed.",
  "properties": {
    "name": {"type": "string", "maxLength": 255},
    "channel": {"type": "string", "maxLength": 255},
    "endpoints": {
      "type": "array", "minItems": 1, "maxItems": 16, "description": "Tried in their order.",
      "items": {
        "type": "object", "required": ["host"], "additionalProperties": false,
        "properties": {
          "host": {"type": "string"},
          "port": {"type": "integer", "minimum": 1, "maximum": 65535,
                   "description": "5672, or 5671 with TLS, when absent."}}}},
    "virtualHost": {"type": "string"},
    "credentials": {
      "type": "object", "required": ["username"], "additionalProperties": false,
      "properties": {"username": {"type": "string"}, "password": {"type": "string"}}},
    "useTls": {"type": "boolean", "default": false},
    "cipherSuite": {"type": "string"}}
})";

constexpr const char* connection_test = R"({
  "type": "object", "additionalProperties": false,
  "description": "One of both; without any, the default connection.",
  "properties": {
    "connection": {"type": "string", "description": "A connection of the configuration."},
    "queueManager": {"$ref": "#/components/schemas/QueueManager"}}
})";

constexpr const char* broker_identity = R"({
  "type": "object", "required": ["endpoint", "product", "version", "container", "mechanism", "tls", "elapsed"],
  "properties": {
    "endpoint": {"type": "string"},
    "product": {"type": "string", "description": "Empty when it does not say.", "examples": ["RabbitMQ"]},
    "version": {"type": "string"},
    "container": {"type": "string", "description": "The name it goes by."},
    "mechanism": {"type": "string", "examples": ["PLAIN"]},
    "tls": {"type": "string", "description": "Empty without."},
    "elapsed": {"$ref": "#/components/schemas/Duration"}}
})";

constexpr const char* duration =
    R"({"type":"string","format":"duration","description":"ISO 8601.","examples":["PT2.5S"]})";

constexpr const char* produced_message = R"({
  "type": "object", "required": ["body"], "additionalProperties": false,
  "properties": {
    "body": {"description": "A string: text, JSON as text, or base64, as the format says. Anything else is JSON."},
    "format": {"type": "string", "enum": ["TEXT", "JSON", "BINARY"], "default": "TEXT"},
    "headers": {"type": "object", "maxProperties": 100, "description": "What brokers look at, such as priority."},
    "properties": {"type": "object", "maxProperties": 100, "description": "The application's own."},
    "correlationId": {"type": "string", "maxLength": 255},
    "contentType": {"type": "string", "maxLength": 255}}
})";

constexpr const char* produce_request = R"({
  "type": "object", "required": ["target", "messages"], "additionalProperties": false,
  "properties": {
    "idempotencyKey": {"type": "string", "maxLength": 255,
                       "description": "The same as the header Idempotency-Key; one of both is required."},
    "connection": {"type": "string", "description": "A connection of the configuration; the default one when absent."},
    "queueManager": {"$ref": "#/components/schemas/QueueManager"},
    "target": {
      "type": "object", "required": ["queueName"], "additionalProperties": false,
      "properties": {
        "queueName": {"type": "string", "maxLength": 255}, "replyToQueue": {"type": "string", "maxLength": 255}}},
    "settings": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "totalMessages": {"type": "integer", "minimum": 1, "maximum": 1000000,
                          "description": "The messages are repeated in turn up to this many."},
        "batchSize": {"type": "integer", "minimum": 1, "maximum": 10000,
                      "description": "How many may be unconfirmed at a time."},
        "concurrency": {"type": "integer", "minimum": 1, "maximum": 16,
                        "description": "Connections to send on; with several the order is lost."},
        "deliveryDelay": {"$ref": "#/components/schemas/Duration"},
        "timeToLive": {"$ref": "#/components/schemas/Duration"},
        "persistent": {"type": "boolean", "default": true}}},
    "messages": {
      "type": "array", "minItems": 1, "maxItems": 1000, "items": {"$ref": "#/components/schemas/ProducedMessage"}}}
})";

constexpr const char* consume_request = R"({
  "type": "object", "required": ["target"], "additionalProperties": false,
  "properties": {
    "idempotencyKey": {"type": "string", "maxLength": 255,
                       "description": "The same as the header Idempotency-Key; one of both is required."},
    "connection": {"type": "string", "description": "A connection of the configuration; the default one when absent."},
    "queueManager": {"$ref": "#/components/schemas/QueueManager"},
    "target": {
      "type": "object", "required": ["queueName"], "additionalProperties": false,
      "properties": {"queueName": {"type": "string", "maxLength": 255}}},
    "settings": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "maxMessages": {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1},
        "waitTimeout": {"$ref": "#/components/schemas/Duration"},
        "autoAcknowledge": {"type": "boolean", "default": true,
                            "description": "False: the messages are released, and stay in the queue."}}}}
})";

constexpr const char* messages_answer = R"({
  "type": "object",
  "required": ["idempotencyKey", "operationType", "requestedMessages", "processedMessages", "startedAt", "completedAt",
               "elapsed", "metadata"],
  "properties": {
    "idempotencyKey": {"type": "string"},
    "operationType": {"type": "string", "enum": ["PRODUCE", "CONSUME"]},
    "requestedMessages": {"type": "integer"},
    "processedMessages": {"type": "integer"},
    "startedAt": {"type": "string", "format": "date-time"},
    "completedAt": {"type": "string", "format": "date-time"},
    "elapsed": {"$ref": "#/components/schemas/Duration"},
    "metadata": {
      "type": "object", "required": ["connection", "queueName"],
      "properties": {
        "connection": {"type": "string"},
        "queueName": {"type": "string"},
        "firstMessageId": {"type": "string"},
        "lastMessageId": {"type": "string"},
        "resumedFrom": {"type": "integer", "description": "So many were confirmed by calls before this one."},
        "sentAgain": {"type": "integer", "description": "May be in the queue twice, with the same ids."},
        "acknowledged": {"type": "boolean"},
        "tooLarge": {"type": "integer", "description": "Messages that were left in the queue for their size."}}},
    "messages": {"type": "array", "items": {"$ref": "#/components/schemas/ConsumedMessage"}}}
})";

constexpr const char* consumed_message = R"({
  "type": "object", "required": ["messageId", "body", "format", "properties", "headers"],
  "properties": {
    "messageId": {"type": ["string", "null"]},
    "body": {"type": "string", "description": "Text, JSON as text, or base64, as the format says."},
    "format": {"type": "string", "enum": ["TEXT", "JSON", "BINARY"]},
    "properties": {"type": "object"},
    "headers": {"type": "object"},
    "correlationId": {"type": "string"},
    "replyTo": {"type": "string"},
    "contentType": {"type": "string"},
    "createdAt": {"type": "string", "format": "date-time"},
    "fault": {"type": "string", "description": "Why the message could not be read; the body is what came."}}
})";

constexpr const char* queue_depth = R"({
  "type": "object", "required": ["queueName", "depth"],
  "properties": {"queueName": {"type": "string"}, "depth": {"type": "integer", "minimum": 0}}
})";

}  // namespace

std::vector<Schema> message_schemas() {
  return {
      {"QueueManager", queue_manager},       {"ConnectionTest", connection_test},
      {"BrokerIdentity", broker_identity},   {"Duration", duration},
      {"ProduceRequest", produce_request},   {"ProducedMessage", produced_message},
      {"ConsumeRequest", consume_request},   {"MessagesAnswer", messages_answer},
      {"ConsumedMessage", consumed_message}, {"QueueDepth", queue_depth},
  };
}

}  // namespace postino::api
