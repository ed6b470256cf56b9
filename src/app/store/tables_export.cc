#include "app/store/tables_export.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "json/string.h"

namespace postino::app {

namespace {

using store::GlobalIndexDefinition;
using store::KeyElement;
using store::KeyRole;
using store::TableSetup;

std::string in_quotes(std::string_view text) {
  std::string quoted;
  json::append_string(quoted, text);
  return quoted;
}

std::string_view type_letter(item::Type type) {
  if (type == item::Type::number) return "N";
  return type == item::Type::binary ? "B" : "S";
}

std::string_view projection_word(const GlobalIndexDefinition& index) {
  const auto type = index.projection.type.value_or(store::ProjectionType::all);
  if (type == store::ProjectionType::all) return "ALL";
  return type == store::ProjectionType::keys_only ? "KEYS_ONLY" : "INCLUDE";
}

std::vector<GlobalIndexDefinition> indexes_of(const TableSetup& setup) {
  return setup.request.global_indexes.value_or(std::vector<GlobalIndexDefinition>());
}

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9');
}

// A name of its own for each table, of those that a tool allows: "EmailOutboxSpool", "email_outbox_spool".
std::vector<std::string> names_of(const std::vector<TableSetup>& tables, bool with_underscores) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const TableSetup& setup : tables) {
    std::string name;
    bool begins_word = true;
    for (const char letter : setup.request.table_name) {
      if (!is_name_letter(letter)) {
        begins_word = true;
        continue;
      }
      if (with_underscores && begins_word && !name.empty()) name += '_';
      name += with_underscores ? base::lower(letter) : begins_word ? base::upper(letter) : letter;
      begins_word = false;
    }
    if (name.empty() || (name.front() >= '0' && name.front() <= '9'))
      name.insert(0, with_underscores ? "table_" : "Table");
    const std::string plain = name;
    for (int number = 2; !taken.insert(name).second; ++number)
      name = plain + (with_underscores ? "_" : "x") + std::to_string(number);
    names.push_back(name);
  }
  return names;
}

// Lines of YAML or of Terraform, indented.
class Lines {
 public:
  void add(int depth, std::initializer_list<std::string_view> parts) {
    text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    for (const std::string_view part : parts) text_ += part;
    text_ += '\n';
  }
  void add_blank() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_yaml_keys(Lines& lines, int depth, const store::KeySchema& keys) {
  lines.add(depth, {"KeySchema:"});
  for (const KeyElement& key : keys) {
    lines.add(depth + 1, {"- AttributeName: ", in_quotes(key.name)});
    lines.add(depth + 2, {"KeyType: ", key.role == KeyRole::hash ? "HASH" : "RANGE"});
  }
}

void add_yaml_indexes(Lines& lines, const TableSetup& setup) {
  if (indexes_of(setup).empty()) return;
  lines.add(3, {"GlobalSecondaryIndexes:"});
  for (const GlobalIndexDefinition& index : indexes_of(setup)) {
    lines.add(4, {"- IndexName: ", in_quotes(index.name)});
    add_yaml_keys(lines, 5, index.key_schema);
    lines.add(5, {"Projection:"});
    lines.add(6, {"ProjectionType: ", projection_word(index)});
    if (!index.projection.non_key_attributes) continue;
    lines.add(6, {"NonKeyAttributes:"});
    for (const std::string& name : *index.projection.non_key_attributes) lines.add(7, {"- ", in_quotes(name)});
  }
}

void add_yaml_upkeep(Lines& lines, const TableSetup& setup) {
  if (setup.request.stream) {
    lines.add(3, {"StreamSpecification:"});
    lines.add(4, {"StreamViewType: NEW_AND_OLD_IMAGES"});
  }
  if (!setup.expiry.empty()) {
    lines.add(3, {"TimeToLiveSpecification:"});
    lines.add(4, {"AttributeName: ", in_quotes(setup.expiry)});
    lines.add(4, {"Enabled: true"});
  }
  if (setup.recovers) {
    lines.add(3, {"PointInTimeRecoverySpecification:"});
    lines.add(4, {"PointInTimeRecoveryEnabled: true"});
  }
  if (setup.request.tags.empty()) return;
  lines.add(3, {"Tags:"});
  for (const store::Tag& tag : setup.request.tags) {
    lines.add(4, {"- Key: ", in_quotes(tag.key)});
    lines.add(5, {"Value: ", in_quotes(tag.value)});
  }
}

void add_yaml_table(Lines& lines, const std::string& name, const TableSetup& setup) {
  lines.add(1, {name, ":"});
  lines.add(2, {"Type: AWS::DynamoDB::Table"});
  // The data outlives the stack.
  lines.add(2, {"DeletionPolicy: Retain"});
  lines.add(2, {"UpdateReplacePolicy: Retain"});
  lines.add(2, {"Properties:"});
  lines.add(3, {"TableName: ", in_quotes(setup.request.table_name)});
  lines.add(3, {"BillingMode: PAY_PER_REQUEST"});
  lines.add(3, {"DeletionProtectionEnabled: ", setup.request.deletion_protection ? "true" : "false"});
  lines.add(3, {"AttributeDefinitions:"});
  for (const store::AttributeDefinition& attribute : setup.request.attribute_definitions) {
    lines.add(4, {"- AttributeName: ", in_quotes(attribute.name)});
    lines.add(5, {"AttributeType: ", type_letter(attribute.type)});
  }
  add_yaml_keys(lines, 3, setup.request.key_schema);
  add_yaml_indexes(lines, setup);
  add_yaml_upkeep(lines, setup);
}

// Terraform takes "${" and "%{" for the beginning of a template.
std::string terraform_string(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_template = (text[i] == '$' || text[i] == '%') && i + 1 < text.size() && text[i + 1] == '{';
    if (is_template) escaped += text[i];
    escaped += text[i];
  }
  return in_quotes(escaped);
}

void add_terraform_keys(Lines& lines, int depth, const store::KeySchema& keys) {
  for (const KeyElement& key : keys)
    lines.add(depth, {key.role == KeyRole::hash ? "hash_key = " : "range_key = ", terraform_string(key.name)});
}

void add_terraform_index(Lines& lines, const GlobalIndexDefinition& index) {
  lines.add_blank();
  lines.add(1, {"global_secondary_index {"});
  lines.add(2, {"name = ", terraform_string(index.name)});
  add_terraform_keys(lines, 2, index.key_schema);
  lines.add(2, {"projection_type = ", in_quotes(projection_word(index))});
  if (index.projection.non_key_attributes) {
    std::string names;
    for (const std::string& name : *index.projection.non_key_attributes)
      names.append(names.empty() ? "" : ", ").append(terraform_string(name));
    lines.add(2, {"non_key_attributes = [", names, "]"});
  }
  lines.add(1, {"}"});
}

void add_terraform_upkeep(Lines& lines, const TableSetup& setup) {
  if (!setup.expiry.empty()) {
    lines.add_blank();
    lines.add(1, {"ttl {"});
    lines.add(2, {"attribute_name = ", terraform_string(setup.expiry)});
    lines.add(2, {"enabled = true"});
    lines.add(1, {"}"});
  }
  if (setup.recovers) {
    lines.add_blank();
    lines.add(1, {"point_in_time_recovery {"});
    lines.add(2, {"enabled = true"});
    lines.add(1, {"}"});
  }
  if (setup.request.tags.empty()) return;
  lines.add_blank();
  lines.add(1, {"tags = {"});
  for (const store::Tag& tag : setup.request.tags)
    lines.add(2, {terraform_string(tag.key), " = ", terraform_string(tag.value)});
  lines.add(1, {"}"});
}

void add_terraform_table(Lines& lines, const std::string& name, const TableSetup& setup) {
  lines.add(0, {"resource \"aws_dynamodb_table\" ", in_quotes(name), " {"});
  lines.add(1, {"name = ", terraform_string(setup.request.table_name)});
  lines.add(1, {"billing_mode = \"PAY_PER_REQUEST\""});
  add_terraform_keys(lines, 1, setup.request.key_schema);
  lines.add(1, {"deletion_protection_enabled = ", setup.request.deletion_protection ? "true" : "false"});
  if (setup.request.stream) {
    lines.add(1, {"stream_enabled = true"});
    lines.add(1, {"stream_view_type = \"NEW_AND_OLD_IMAGES\""});
  }
  for (const store::AttributeDefinition& attribute : setup.request.attribute_definitions) {
    lines.add_blank();
    lines.add(1, {"attribute {"});
    lines.add(2, {"name = ", terraform_string(attribute.name)});
    lines.add(2, {"type = ", in_quotes(type_letter(attribute.type))});
    lines.add(1, {"}"});
  }
  for (const GlobalIndexDefinition& index : indexes_of(setup)) add_terraform_index(lines, index);
  add_terraform_upkeep(lines, setup);
  lines.add_blank();
  lines.add(1, {"lifecycle {"});
  lines.add(2, {"prevent_destroy = true"});
  lines.add(1, {"}"});
  lines.add(0, {"}"});
}

std::string partition_of(const PolicyScope& scope) {
  if (scope.region.starts_with("cn-")) return "aws-cn";
  return scope.region.starts_with("us-gov-") ? "aws-us-gov" : "aws";
}

std::string table_arn(const PolicyScope& scope, const std::string& table) {
  return "arn:" + partition_of(scope) + ":dynamodb:" + scope.region + ":" + scope.account + ":table/" + table;
}

void add_json_list(Lines& lines, std::string_view name, const std::vector<std::string>& values, bool is_last) {
  lines.add(3, {in_quotes(name), ": ["});
  for (std::size_t i = 0; i < values.size(); ++i)
    lines.add(4, {in_quotes(values[i]), i + 1 < values.size() ? "," : ""});
  lines.add(3, {is_last ? "]" : "],"});
}

struct Statement {
  std::string id;
  std::vector<std::string> actions;
  std::vector<std::string> resources;
};

template <class Names>
std::vector<std::string> actions(const Names& names) {
  std::vector<std::string> all;
  for (const auto& name : names) all.push_back("dynamodb:" + std::string(name));
  return all;
}
std::vector<std::string> actions(std::initializer_list<std::string_view> names) {
  return actions<std::initializer_list<std::string_view>>(names);
}

// Tables with which the same is done have one statement, because a policy must be short.
void add_item_statements(const std::vector<TableSetup>& tables, const PolicyScope& scope, std::vector<Statement>& all) {
  std::map<std::set<std::string, std::less<>>, std::vector<std::string>> by_operations;
  for (const TableSetup& setup : tables) {
    const std::string& name = setup.request.table_name;
    if (const auto use = scope.uses.find(name); use != scope.uses.end())
      by_operations[use->second.operations].push_back(table_arn(scope, name));
  }
  for (const auto& [operations, arns] : by_operations)
    all.push_back({"Items" + std::to_string(all.size() + 1), actions(operations), arns});
}

void add_bucket_statements(const PolicyScope& scope, std::vector<Statement>& all) {
  if (scope.buckets.empty()) return;
  std::vector<std::string> buckets;
  std::vector<std::string> objects;
  for (const std::string& bucket : scope.buckets) {
    buckets.push_back("arn:" + partition_of(scope) + ":s3:::" + bucket);
    objects.push_back(buckets.back() + "/*");
  }
  all.push_back({"Objects", {"s3:GetObject", "s3:PutObject", "s3:DeleteObject"}, objects});
  all.push_back({"ObjectList", {"s3:ListBucket"}, buckets});
}

std::vector<Statement> statements_of(const std::vector<TableSetup>& tables, const PolicyScope& scope) {
  std::vector<std::string> arns;
  std::vector<std::string> indexes;
  std::vector<std::string> streams;
  std::set<std::string> foreign = scope.followed;
  for (const TableSetup& setup : tables) {
    const std::string arn = table_arn(scope, setup.request.table_name);
    arns.push_back(arn);
    for (const GlobalIndexDefinition& index : indexes_of(setup)) indexes.push_back(arn + "/index/" + index.name);
    foreign.erase(setup.request.table_name);
  }
  // The name of a stream is the time at which it began.
  for (const std::string& table : scope.followed) streams.push_back(table_arn(scope, table) + "/stream/*");
  std::vector<std::string> described = arns;
  for (const std::string& table : foreign) described.push_back(table_arn(scope, table));
  std::vector<Statement> all;
  add_item_statements(tables, scope, all);
  all.push_back({"Indexes", actions({"Query"}), indexes});
  all.push_back(
      {"Descriptions", actions({"DescribeTable", "DescribeTimeToLive", "DescribeContinuousBackups"}), described});
  all.push_back({"Streams", actions({"DescribeStream", "GetShardIterator", "GetRecords"}), streams});
  add_bucket_statements(scope, all);
  if (scope.changes_tables)
    all.push_back(
        {"Changes",
         actions({"CreateTable", "UpdateTable", "UpdateTimeToLive", "UpdateContinuousBackups", "TagResource"}), arns});
  std::erase_if(all, [](const Statement& each) { return each.resources.empty(); });
  return all;
}

}  // namespace

std::string cloudformation_text(const std::vector<TableSetup>& tables) {
  Lines lines;
  const std::vector<std::string> names = names_of(tables, false);
  lines.add(0, {"AWSTemplateFormatVersion: \"2010-09-09\""});
  lines.add(0, {"Description: \"The tables of Postino\""});
  lines.add(0, {tables.empty() ? "Resources: {}" : "Resources:"});
  for (std::size_t i = 0; i < tables.size(); ++i) add_yaml_table(lines, names[i], tables[i]);
  return lines.take();
}

std::string terraform_text(const std::vector<TableSetup>& tables) {
  Lines lines;
  const std::vector<std::string> names = names_of(tables, true);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (i > 0) lines.add_blank();
    add_terraform_table(lines, names[i], tables[i]);
  }
  return lines.take();
}

std::size_t characters_of_policy(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return c != ' ' && c != '\n'; }));
}

std::string iam_policy_text(const std::vector<TableSetup>& tables, const PolicyScope& scope) {
  Lines lines;
  const std::vector<Statement> statements = statements_of(tables, scope);
  lines.add(0, {"{"});
  lines.add(1, {"\"Version\": \"2012-10-17\","});
  lines.add(1, {"\"Statement\": ["});
  for (std::size_t i = 0; i < statements.size(); ++i) {
    lines.add(2, {"{"});
    lines.add(3, {"\"Sid\": ", in_quotes(statements[i].id), ","});
    lines.add(3, {"\"Effect\": \"Allow\","});
    add_json_list(lines, "Action", statements[i].actions, false);
    add_json_list(lines, "Resource", statements[i].resources, true);
    lines.add(2, {i + 1 < statements.size() ? "}," : "}"});
  }
  lines.add(1, {"]"});
  lines.add(0, {"}"});
  return lines.take();
}

}  // namespace postino::app
