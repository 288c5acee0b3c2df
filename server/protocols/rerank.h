// The rerank request of Jina and Cohere, for the path that another protocol has as well: clients that were given an
// address without a version send it to /rerank.
#pragma once

#include "server/protocols/json_body.h"
#include "server/protocols/route.h"

namespace latebind::server {

// Whether a body is one of these: it has 'documents' and no 'texts'.
[[nodiscard]] bool is_ranking_of_documents(const JsonValue& body);

// Answers it, in the words of rerank_protocol().
void rank_documents(const ExchangePtr& exchange, Service& service);

}  // namespace latebind::server
