// Policies in IAM's JSON: what an access key may do with which tables, indexes, items and attributes.
//
//   TRY(Policy policy, parse_policy(text, PolicyKind::identity, "reader.json"));
//   const Decision decision = decide({&policy}, request, principal);
//
// Documents are read once, when settings are; a decision takes a few comparisons. See docs/access.md.
#pragma once

#include "access/policy/decision.h"
#include "access/policy/document.h"
