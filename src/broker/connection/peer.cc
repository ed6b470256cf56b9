#include "broker/connection/peer.h"

#include <proton/codec.h>
#include <proton/connection.h>
#include <proton/sasl.h>
#include <proton/ssl.h>

#include <array>
#include <charconv>

#include "broker/protocol/remote_text.h"

namespace postino::broker {

namespace {

constexpr std::size_t most_capabilities = 100;

// Of the value that the data stands on; empty when it is no text.
std::string data_text(pn_data_t* data) {
  pn_bytes_t bytes{};
  if (pn_data_type(data) == PN_STRING) bytes = pn_data_get_string(data);
  if (pn_data_type(data) == PN_SYMBOL) bytes = pn_data_get_symbol(data);
  return bytes.start == nullptr ? "" : clean_text({bytes.start, bytes.size});
}

void read_properties(pn_data_t* data, Peer& peer) {
  pn_data_rewind(data);
  if (!pn_data_next(data) || pn_data_type(data) != PN_MAP) return;
  pn_data_enter(data);
  while (pn_data_next(data)) {
    const std::string name = data_text(data);
    if (!pn_data_next(data)) break;
    if (name == "product") peer.product = data_text(data);
    if (name == "version") peer.version = data_text(data);
  }
}

// One symbol, or an array of them.
void read_capabilities(pn_data_t* data, Peer& peer) {
  pn_data_rewind(data);
  if (!pn_data_next(data)) return;
  if (pn_data_type(data) == PN_SYMBOL) peer.capabilities.insert(data_text(data));
  if (pn_data_type(data) != PN_ARRAY) return;
  pn_data_enter(data);
  while (pn_data_next(data) && peer.capabilities.size() < most_capabilities) peer.capabilities.insert(data_text(data));
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : clean_text(text); }

}  // namespace

bool Peer::is_rabbitmq_before_4() const {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return is_rabbitmq() && major < 4;
}

bool Peer::is_azure() const { return host.find(".servicebus.") != host.npos; }

Peer read_peer(pn_connection_t* connection, pn_transport_t* transport) {
  Peer peer;
  peer.container = text_or_empty(pn_connection_remote_container(connection));
  read_properties(pn_connection_remote_properties(connection), peer);
  read_capabilities(pn_connection_remote_offered_capabilities(connection), peer);
  peer.mechanism = text_or_empty(pn_sasl_get_mech(pn_sasl(transport)));
  return peer;
}

}  // namespace postino::broker
