// A strict reader of Prometheus' text format 0.0.4, which refuses what a scraper might let pass.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace latebind::test {

class PrometheusPage {
 public:
  using Labels = std::map<std::string, std::string>;

  // Throws std::runtime_error with the line that is wrong.
  explicit PrometheusPage(const std::string& text) {
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      line_ = text.substr(begin, end - begin);
      demand(end != std::string::npos, "has no end");
      read_line();
      begin = end + 1;
    }
    end_family();
  }

  // The value of `name{labels}`; nothing when there is none.
  [[nodiscard]] std::optional<double> value(const std::string& name, const Labels& labels = {}) const {
    const auto found = samples_.find({name, labels});
    return found == samples_.end() ? std::nullopt : std::optional(found->second);
  }
  [[nodiscard]] std::string type(const std::string& family) const {
    const auto found = types_.find(family);
    return found == types_.end() ? "" : found->second;
  }
  [[nodiscard]] std::size_t series() const { return samples_.size(); }
  // How many have this name.
  [[nodiscard]] std::size_t series(const std::string& name) const {
    std::size_t count = 0;
    for (const auto& [key, value] : samples_)
      count += key.first == name ? 1U : 0U;
    return count;
  }

 private:
  void demand(bool holds, const std::string& what) const {
    if (!holds) throw std::runtime_error("'" + line_ + "' " + what);
  }

  void read_line() {
    static const std::regex help("# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ([^\\\\]+)");
    static const std::regex type("# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)");
    std::smatch match;
    if (std::regex_match(line_, match, help)) {
      end_family();
      family_ = match[1];
      demand(types_.count(family_) == 0, "is the second of its family");
      is_typed_ = false;
    } else if (std::regex_match(line_, match, type)) {
      demand(match[1] == family_ && !is_typed_, "does not follow its HELP");
      types_[family_] = match[2];
      is_typed_ = true;
    } else {
      read_sample();
    }
  }

  void read_sample() {
    static const std::regex name_of("[a-zA-Z_:][a-zA-Z0-9_:]*");
    std::smatch match;
    demand(std::regex_search(line_, match, name_of, std::regex_constants::match_continuous), "has no name");
    const std::string name = match[0];
    std::size_t at = name.size();
    Labels labels;
    if (at < line_.size() && line_[at] == '{') {
      do {
        ++at;
        const std::size_t equals = line_.find('=', at);
        demand(equals != std::string::npos, "has a label without a value");
        const std::string label = line_.substr(at, equals - at);
        demand(std::regex_match(label, std::regex("[a-zA-Z_][a-zA-Z0-9_]*")), "has a wrong label");
        at = equals + 1;
        const bool is_new = labels.emplace(label, read_quoted(at)).second;
        demand(is_new, "has a label twice");
        demand(at < line_.size(), "ends too early");
      } while (line_[at] == ',');
      demand(line_[at] == '}', "has no closing brace");
      ++at;
    }
    demand(at < line_.size() && line_[at] == ' ', "has no space before the value");
    const double value = read_value(line_.substr(at + 1));
    demand(is_typed_, "comes before its TYPE");
    if (types_[family_] == "histogram") {
      demand(name == family_ + "_bucket" || name == family_ + "_sum" || name == family_ + "_count",
             "is of another family");
    } else {
      demand(name == family_, "is of another family");
    }
    if (types_[family_] != "gauge") demand(value >= 0, "is negative");
    demand(samples_.emplace(std::pair(name, labels), value).second, "is there twice");
    if (name == family_ + "_bucket") buckets_.emplace_back(read_value(labels.at("le")), value);
  }

  std::string read_quoted(std::size_t& at) const {
    demand(at < line_.size() && line_[at] == '"', "has a value without quotes");
    std::string text;
    for (++at; at < line_.size() && line_[at] != '"'; ++at) {
      if (line_[at] != '\\') {
        text += line_[at];
        continue;
      }
      ++at;
      demand(at < line_.size(), "ends in an escape");
      demand(line_[at] == '\\' || line_[at] == '"' || line_[at] == 'n', "has an unknown escape");
      text += line_[at] == 'n' ? '\n' : line_[at];
    }
    demand(at < line_.size(), "has no closing quote");
    ++at;
    return text;
  }

  [[nodiscard]] double read_value(const std::string& text) const {
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    demand(std::regex_match(text, std::regex("-?[0-9]+(\\.[0-9]+)?(e[+-][0-9]+)?|NaN")), "has no number");
    return std::strtod(text.c_str(), nullptr);
  }

  void end_family() {
    if (!family_.empty()) demand(is_typed_, "comes before a TYPE of " + family_);
    if (!family_.empty() && types_[family_] == "histogram") {
      demand(!buckets_.empty() && std::isinf(buckets_.back().first), "follows a histogram without +Inf");
      for (std::size_t i = 1; i < buckets_.size(); ++i) {
        demand(buckets_[i - 1].first < buckets_[i].first, "follows bounds that do not ascend");
        demand(buckets_[i - 1].second <= buckets_[i].second, "follows buckets that are not cumulative");
      }
      demand(value(family_ + "_count") == buckets_.back().second, "follows a wrong count");
      demand(value(family_ + "_sum").has_value(), "follows a histogram without a sum");
    }
    buckets_.clear();
  }

  std::string line_;
  std::string family_;
  bool is_typed_ = false;
  std::map<std::string, std::string> types_;
  std::map<std::pair<std::string, Labels>, double> samples_;
  std::vector<std::pair<double, double>> buckets_;  // of the family
};

}  // namespace latebind::test
