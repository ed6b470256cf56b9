// The parts that an outbox is put together from: for the program that does it, and for its tests. Other code uses
// outbox/outbox.h.
#pragma once

#include "outbox/ledger/directory_spool.h"
#include "outbox/ledger/ledger_copy.h"
#include "outbox/mysql_ledger/mysql_ledger.h"
#include "outbox/mysql_ledger/mysql_migration.h"
#include "outbox/mysql_ledger/mysql_schema.h"
#include "outbox/mysql_ledger/mysql_suppressions.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_suppressions.h"
#include "outbox/store_ledger/store_tables.h"
#include "outbox/transport/sandbox_transport.h"
#include "outbox/transport/smtp_transport.h"
#include "outbox/work/direct_dispatch.h"
#include "outbox/work/pipelines.h"
