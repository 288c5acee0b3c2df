#include "backends/native/groups.h"

#include <algorithm>

namespace latebind::native {
namespace {

// The approximate number of tokens that one thread computes together: enough to read the weights rarely, and few enough
// for a small working memory.
constexpr std::size_t kGroupTokens = 256;
// Each thread computes whole texts if there are at least kOwnTokens tokens for each thread, and if the busiest thread
// has at most kMostOfShare times its share, since the others wait for it. Otherwise all threads share each step and
// synchronise at many of them.
constexpr std::size_t kOwnTokens = 128;
constexpr double kMostOfShare = 1.1;

// The load of the busiest member, in tokens, when each member takes the next group as soon as it is done with one.
std::size_t largest_load(const std::vector<Group>& groups, std::size_t members) {
  std::vector<std::size_t> tokens(members);
  for (const Group& group : groups)
    *std::ranges::min_element(tokens) += group.tokens;
  return std::ranges::max(tokens);
}

}  // namespace

std::vector<Group> groups_of(const Batch& batch, std::size_t members) {
  const std::size_t tokens_of_all = kGroupTokens * members;
  const std::size_t count = members * ((batch.tokens() + tokens_of_all - 1) / tokens_of_all);
  std::vector<Group> groups;
  for (std::size_t text = 0; text < batch.texts();) {
    // The group ends as close as possible to the end of its share of the tokens.
    const std::size_t goal = batch.tokens() * std::min(groups.size() + 1, count) / count;
    Group group{.first_text = text, .first_token = batch.first[text]};
    do {
      ++text;
    } while (text < batch.texts() && batch.first[text] + batch.first[text + 1] <= 2 * goal);
    group.texts = text - group.first_text;
    group.tokens = batch.first[text] - group.first_token;
    groups.push_back(group);
  }
  return groups;
}

bool should_share(const Batch& batch, const std::vector<Group>& groups, std::size_t members) {
  if (members == 1) return false;
  if (batch.tokens() < kOwnTokens * members) return true;
  return static_cast<double>(largest_load(groups, members) * members) >
         kMostOfShare * static_cast<double>(batch.tokens());
}

}  // namespace latebind::native
