// Json: a JSON value that owns what it contains. Everything that Latebind reads or writes as JSON is one of these.
//
// Members keep the order in which they were read or set. A value of another kind than an accessor asks for counts as
// absent: get<T>() then returns T(), find() null, and iteration finds nothing, so a caller that needs the difference
// asks for the kind first. Values are as deep as the text that they were read from, whose depth is limited (parse.h);
// destroying one allocates nothing. No function throws anything but std::bad_alloc.
//
// A value is for one thread at a time; a constant one may be read by any number of threads.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace latebind::core {

class JsonItem;

class Json {
 public:
  using Member = std::pair<std::string, Json>;
  using Items = std::vector<Json>;
  using Members = std::vector<Member>;

  Json() noexcept = default;
  Json(std::nullptr_t) noexcept {}
  Json(const Json& other);
  Json(Json&& other) noexcept : kind_(std::exchange(other.kind_, Kind::kNull)), content_(other.content_) {}
  Json& operator=(Json other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(content_, other.content_);
    return *this;
  }
  ~Json() {
    if (kind_ >= Kind::kString) destroy();
  }

  template <std::same_as<bool> T>
  Json(T truth) noexcept : kind_(Kind::kBoolean) {
    content_.boolean = truth;
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) Json(T number)
  noexcept {
    if (std::cmp_less(number, 0)) {
      kind_ = Kind::kNegative;
      content_.negative = static_cast<std::int64_t>(number);
    } else {
      kind_ = Kind::kUnsigned;
      content_.whole = static_cast<std::uint64_t>(number);
    }
  }
  template <std::floating_point T>
  Json(T number) noexcept : kind_(Kind::kDouble) {
    content_.number = static_cast<double>(number);
  }
  Json(std::string text);
  Json(std::string_view text) : Json(std::string(text)) {}
  Json(const char* text) : Json(std::string(text)) {}
  // An array of the range's elements, or an object of the pairs of a map.
  template <std::ranges::input_range T>
  requires(!std::convertible_to<const T&, std::string_view> &&
           (std::ranges::contiguous_range<T> || requires { typename T::key_type; })) Json(const T& range)
      : Json(array()) {
    if constexpr (requires { typename T::mapped_type; }) {
      *this = object();
      for (const auto& [key, item] : range)
        add_member(std::string(key), item);
    } else {
      for (const auto& item : range)
        content_.items->emplace_back(item);
    }
  }
  // An object if every element is an array of a string and a value; otherwise an array.
  Json(std::initializer_list<JsonItem> list);

  static Json array(std::initializer_list<JsonItem> list = {});
  static Json object(std::initializer_list<JsonItem> list = {});

  [[nodiscard]] bool is_null() const { return kind_ == Kind::kNull; }
  [[nodiscard]] bool is_boolean() const { return kind_ == Kind::kBoolean; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::kDouble || is_number_integer(); }
  // Without a fraction or an exponent, and of at most 64 bits.
  [[nodiscard]] bool is_number_integer() const { return kind_ == Kind::kNegative || kind_ == Kind::kUnsigned; }
  // An integer from 0.
  [[nodiscard]] bool is_number_unsigned() const { return kind_ == Kind::kUnsigned; }
  [[nodiscard]] bool is_string() const { return kind_ == Kind::kString; }
  [[nodiscard]] bool is_array() const { return kind_ == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind_ == Kind::kObject; }
  [[nodiscard]] bool is_structured() const { return is_array() || is_object(); }

  // A bool, a number (integers are converted as by static_cast), std::string, or std::string_view, whose text belongs
  // to this value.
  template <class T>
  [[nodiscard]] T get() const {
    if constexpr (std::same_as<T, bool>) {
      return is_boolean() && content_.boolean;
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (kind_ == Kind::kNegative) return static_cast<T>(content_.negative);
      if (kind_ == Kind::kUnsigned) return static_cast<T>(content_.whole);
      return kind_ == Kind::kDouble ? static_cast<T>(content_.number) : T();
    } else {
      return T(text());
    }
  }
  // The integer if it is one and has this type's range.
  template <std::integral T>
  [[nodiscard]] std::optional<T> whole() const {
    if (kind_ == Kind::kNegative && std::in_range<T>(content_.negative)) return static_cast<T>(content_.negative);
    if (kind_ == Kind::kUnsigned && std::in_range<T>(content_.whole)) return static_cast<T>(content_.whole);
    return std::nullopt;
  }
  // The string; empty for other kinds.
  [[nodiscard]] const std::string& text() const;

  // The number of elements or members; 0 for other kinds.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  // The elements of an array.
  [[nodiscard]] const Json* begin() const { return items().data(); }
  [[nodiscard]] const Json* end() const { return begin() + items().size(); }
  [[nodiscard]] Json* begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
  [[nodiscard]] Json* end() { return const_cast<Json*>(std::as_const(*this).end()); }
  [[nodiscard]] const Items& items() const;
  [[nodiscard]] const Json& front() const { return *begin(); }  // requires an element
  [[nodiscard]] const Json& back() const { return *(end() - 1); }
  [[nodiscard]] Json& back() { return *(end() - 1); }
  // Requires `index` < size() of an array.
  template <std::integral T>
  [[nodiscard]] const Json& operator[](T index) const {
    return begin()[index];
  }
  template <std::integral T>
  [[nodiscard]] Json& operator[](T index) {
    return begin()[index];
  }

  // The members of an object.
  [[nodiscard]] const Members& members() const;
  // Null if there is no such member. Takes time in proportion to the number of members.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] Json* find(std::string_view key) { return const_cast<Json*>(std::as_const(*this).find(key)); }
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  // A null value if there is no such member.
  [[nodiscard]] const Json& operator[](std::string_view key) const;
  [[nodiscard]] const Json& operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  // Returns the member, or `otherwise` if the object lacks it, as a value of the type of `otherwise`.
  template <class T>
  [[nodiscard]] T value(std::string_view key, const T& otherwise) const {
    const Json* const found = find(key);
    if (found == nullptr) return otherwise;
    if constexpr (std::same_as<T, Json>) {
      return *found;
    } else {
      return found->get<T>();
    }
  }
  [[nodiscard]] std::string value(std::string_view key, const char* otherwise) const {
    return value(key, std::string(otherwise));
  }

  // Changes the value. One that is not an object becomes an empty one first, and likewise an array.
  Json& operator[](std::string_view key);
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  Json& operator[](const std::string& key) { return (*this)[std::string_view(key)]; }
  void add_member(std::string key, Json value);  // requires that there is no such member
  Json& member_at(std::size_t index);            // requires a member with this index
  void push_back(Json value);
  template <class... T>
  Json& emplace_back(T&&... value) {
    push_back(Json(std::forward<T>(value)...));
    return back();
  }
  bool erase(std::string_view key);  // returns whether there was such a member
  void reserve(std::size_t count);   // of an array or object
  // Sets every member of `other`.
  void update(const Json& other);

  // Numbers are equal if their values are; objects, whatever the order of their members.
  friend bool operator==(const Json& a, const Json& b) { return are_equal(a, b); }
  // Compares without making a value of the text.
  friend bool operator==(const Json& a, std::string_view text) { return a.is_string() && a.text() == text; }
  friend bool operator==(const Json& a, const char* text) { return a == std::string_view(text); }
  friend bool operator==(const Json& a, const std::string& text) { return a == std::string_view(text); }
  friend bool operator==(const Json& a, std::nullptr_t) { return a.is_null(); }

  // The text of the value: on one line, or with this indentation. Bytes that are not UTF-8 become U+FFFD, and numbers
  // that are not finite become null.
  [[nodiscard]] std::string dump(std::optional<std::size_t> indentation = std::nullopt) const;

 private:
  friend class JsonWriter;
  enum class Kind : unsigned char { kNull, kBoolean, kNegative, kUnsigned, kDouble, kString, kArray, kObject };
  union Content {
    bool boolean;
    std::int64_t negative;
    std::uint64_t whole;
    double number;
    std::string* text;
    Items* items;
    Members* members;
  };

  static bool are_equal(const Json& a, const Json& b);
  void destroy() noexcept;
  Items& to_array();
  Members& to_object();

  Kind kind_ = Kind::kNull;
  Content content_{.whole = 0};
};

// An element of a list in braces, from which Json moves.
class JsonItem {
 public:
  template <class T>
  requires std::constructible_from<Json, T> JsonItem(T&& value) : value_(std::forward<T>(value)) {}
  JsonItem(std::initializer_list<JsonItem> list) : value_(list) {}

 private:
  friend class Json;
  mutable Json value_;
};

// Appends the text as a JSON string in quotes. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace latebind::core
