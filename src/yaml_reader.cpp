#include "src/yaml_reader.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <weir/error.hpp>

namespace weir::detail {
namespace {

[[noreturn]] void refuse(const Location& place, const std::string& what) {
  throw Error(ErrorKind::usage, place.text(), what);
}

/// Builds nodes from the parser's events. Events rather than yaml-cpp's own nodes, because these
/// resolve anchors unseen, let the last of two equal keys win, and are built by recursion.
class NodeBuilder final : public YAML::EventHandler {
 public:
  explicit NodeBuilder(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] YamlNode take() { return std::move(root_); }
  [[nodiscard]] bool has_root() const { return has_root_; }
  [[nodiscard]] Location place(const YAML::Mark& mark) const {
    return {file_, mark.line + 1, mark.column + 1};
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (has_root_) refuse(place(mark), "a second document begins; a file holds one");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check(mark, "", anchor);
    add(scalar(mark, "", true));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(place(mark), "aliases (*name) are not taken; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    add(scalar(mark, value, tag != "!"));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  [[nodiscard]] YamlNode scalar(const YAML::Mark& mark, const std::string& text, bool plain) const {
    YamlNode node;
    node.location = place(mark);
    node.text = text;
    node.plain = plain;
    return node;
  }

  /// The parser gives "?" for a plain node, "!" for a quoted one, and nothing for null.
  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor)
      refuse(place(mark), "anchors (&name) are not taken; a value used twice can be a variable");
    if (!tag.empty() && tag != "?" && tag != "!")
      refuse(place(mark), fmt::format("tags are not taken; leave '{}' out", tag.substr(0, 40)));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlNode::Kind kind) {
    check(mark, tag, anchor);
    if (static_cast<int>(open_.size()) >= kMostYamlDepth)
      refuse(place(mark), fmt::format("nested more than {} deep", kMostYamlDepth));
    expects_key(place(mark));
    YamlNode node;
    node.kind = kind;
    node.location = place(mark);
    open_.push_back(std::move(node));
  }

  void close() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    attach(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty() || open_.back().kind != YamlNode::Kind::map ||
        open_.back().keys.size() > open_.back().items.size()) {
      attach(std::move(node));
      return;
    }
    YamlNode& map = open_.back();
    for (const YamlNode::Key& key : map.keys) {
      if (key.text == node.text)
        refuse(node.location, fmt::format("key '{}' is written twice, first in line {}", node.text,
                                          key.location.line));
    }
    if (map.keys.size() == kMostYamlKeys)
      refuse(node.location, fmt::format("a map of more than {} keys", kMostYamlKeys));
    map.keys.push_back({std::move(node.text), node.location});
  }

  /// Refuses a list or a map that stands where a key is expected.
  void expects_key(const Location& at) const {
    if (!open_.empty() && open_.back().kind == YamlNode::Kind::map &&
        open_.back().keys.size() == open_.back().items.size())
      refuse(at, "a key must be a text");
  }

  void attach(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      has_root_ = true;
    } else {
      open_.back().items.push_back(std::move(node));
    }
  }

  std::string file_;
  std::vector<YamlNode> open_;  ///< the lists and maps that enclose what comes next
  YamlNode root_;
  bool has_root_ = false;
};

}  // namespace

YamlNode read_yaml(const std::string& text, const std::string& file) {
  if (text.size() > kMostYamlBytes)
    refuse({file, 0, 0}, fmt::format("has {} bytes; a configuration has at most {}", text.size(),
                                     kMostYamlBytes));
  NodeBuilder builder(file);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    const Location place = error.mark.is_null() ? Location{file, 1, 1} : builder.place(error.mark);
    refuse(place, "is no YAML: " + error.msg);
  }
  if (!builder.has_root()) refuse({file, 1, 1}, "is empty");
  return builder.take();
}

std::string read_yaml_text(const std::string& path, std::string_view what) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(ErrorKind::usage, path, fmt::format("is a folder; name {}", what));
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw Error(ErrorKind::usage, path, std::string("cannot be read: ") + std::strerror(errno));
  // One byte more than is allowed tells that there is too much without reading all of it.
  std::string text(kMostYamlBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad())
    throw Error(ErrorKind::usage, path, std::string("cannot be read: ") + std::strerror(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

}  // namespace weir::detail
