// The commands of the program. Each adds itself, with its options and its help.
#pragma once

namespace postino::app {

class CommandLine;

// On this machine.
void add_serve_command(CommandLine& line);     // runs the server
void add_dynamodb_command(CommandLine& line);  // runs the store alone, in the place of DynamoDB Local
void add_config_command(CommandLine& line);    // checks the settings, and shows them
void add_password_command(CommandLine& line);  // makes the hash of a password, for the settings
void add_policy_command(CommandLine& line);    // says what policies of access keys allow
void add_migrate_command(CommandLine& line);   // brings the tables in MySQL up to date
void add_copy_command(CommandLine& line);      // e-mails from one ledger to the other
void add_check_command(CommandLine& line);     // verifies a store that is not open
void add_repair_command(CommandLine& line);    // saves what can be saved of a damaged one
void add_tables_command(CommandLine& line);    // shows and makes the tables of the services
void add_restore_command(CommandLine& line);   // puts a backup into an empty data directory
void add_tour_command(CommandLine& line);      // shows the store

// By way of a server's REST API.
void add_status_command(CommandLine& line);        // whether a server works, what is wrong, what waits
void add_send_command(CommandLine& line);          // hands in one e-mail that options describe, or those of a file
void add_emails_command(CommandLine& line);        // lists, shows and changes e-mails
void add_callbacks_command(CommandLine& line);     // those that were given up
void add_suppressions_command(CommandLine& line);  // addresses that get no mail any more
void add_bounces_command(CommandLine& line);       // delivery reports
void add_mailbox_command(CommandLine& line);       // the sandbox, where mail goes as long as there is no relay
void add_messages_command(CommandLine& line);  // puts messages into queues, takes them out, looks at queues and brokers
void add_reminders_command(CommandLine& line);  // drafts and approves payment reminders
void add_tickets_command(CommandLine& line);    // opens tickets, and works on them
void add_sessions_command(CommandLine& line);   // signs in, lists and ends sessions
void add_audit_command(CommandLine& line);      // lists who has done what, and verifies that list
void add_backup_command(CommandLine& line);     // makes a backup, and looks at those of a place; that without a server
void add_keys_command(CommandLine& line);       // makes, lists, replaces and deletes keys of both APIs
void add_capacity_command(CommandLine& line);   // what traffic takes and costs on DynamoDB; also without a server
void add_metrics_command(CommandLine& line);    // live figures, their history, and what follows the changes of tables

}  // namespace postino::app
