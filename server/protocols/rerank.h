// The rerank request of Jina and Cohere on /rerank, a path that another protocol also has. Clients that were given an
// address without a version send it there.
#pragma once

#include "server/protocols/json_body.h"
#include "server/protocols/route.h"

namespace latebind::server {

// Whether a body is such a request: it has 'documents' and no 'texts'.
[[nodiscard]] bool is_ranking_of_documents(const Json& body);

// Answers the request in the form of rerank_protocol().
void rank_documents(const ExchangePtr& exchange, Service& service);

}  // namespace latebind::server
