// The groups that routes are written in. api/route_list.h puts them together.
#pragma once

#include <vector>

#include "api/protocol/route.h"

namespace postino::api {

std::vector<Route> acceptance_routes();
std::vector<Route> email_routes();
std::vector<Route> change_routes();
std::vector<Route> callback_routes();
std::vector<Route> bounce_routes();
std::vector<Route> suppression_routes();
std::vector<Route> mailbox_routes();
std::vector<Route> message_routes();
std::vector<Route> draft_routes();
std::vector<Route> reminder_history_routes();
std::vector<Route> customer_routes();
std::vector<Route> invoice_routes();
std::vector<Route> reminder_template_routes();
std::vector<Route> capacity_routes();
std::vector<Route> ticket_routes();
std::vector<Route> ticket_change_routes();
std::vector<Route> ticket_record_routes();
std::vector<Route> figure_routes();
std::vector<Route> session_routes();
std::vector<Route> attachment_routes();
std::vector<Route> audit_routes();
std::vector<Route> key_routes();

}  // namespace postino::api
