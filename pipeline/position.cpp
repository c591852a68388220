#include <weir/position.hpp>

#include <cinttypes>
#include <cstdio>
#include <utility>

#include <weir/error.hpp>

namespace weir {
namespace {

constexpr const char* kForm =
    "weir_position 1 epoch %" PRIu32 " source_index %" PRIu64 " split %" PRIu32
    " delivered_in_epoch %" PRIu64 " delivered %" PRIu64 " samples %" PRIu64 " bad %" PRIu64
    " bad_in_epoch %" PRIu64 " good_in_epoch %" PRIu64 " digest %016" PRIx64 "%016" PRIx64
    " set %016" PRIx64 " seed %" PRIu64 " structure %016" PRIx64;
constexpr const char* kScanForm =
    "weir_position 1 epoch %" SCNu32 " source_index %" SCNu64 " split %" SCNu32
    " delivered_in_epoch %" SCNu64 " delivered %" SCNu64 " samples %" SCNu64 " bad %" SCNu64
    " bad_in_epoch %" SCNu64 " good_in_epoch %" SCNu64 " digest %16" SCNx64 "%16" SCNx64
    " set %16" SCNx64 " seed %" SCNu64 " structure %16" SCNx64 "%n";

bool plain(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-' || c == '.' || c == '+' || c >= 0x80;
}

/// One word, whatever the stage is called.
std::string as_word(const std::string& name) {
  std::string word;
  for (const char c : name) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%%%02x", static_cast<unsigned char>(c));
    if (plain(static_cast<unsigned char>(c)))
      word += c;
    else
      word += digits;
  }
  return word;
}

std::string from_word(const std::string& word) {
  std::string name;
  for (std::size_t i = 0; i < word.size(); ++i) {
    unsigned byte = 0;
    if (word[i] == '%' && std::sscanf(word.c_str() + i + 1, "%2x", &byte) == 1) {
      name += static_cast<char>(byte);
      i += 2;
    } else {
      name += word[i];
    }
  }
  return name;
}

}  // namespace

std::string Position::text() const {
  char line[512];
  std::snprintf(line, sizeof line, kForm, epoch, source_index, split, delivered_in_epoch, delivered,
                samples, bad, bad_in_epoch, good_in_epoch, digest_high, digest_low, set_digest,
                seed, structure);
  std::string text = line;
  for (const StageBad& own : stages_bad)
    text += " stage " + as_word(own.stage) + " bad " + std::to_string(own.bad) + " bad_in_epoch " +
            std::to_string(own.bad_in_epoch);
  return text;
}

Position Position::parse(const std::string& text) {
  Position at;
  int read = 0;
  const int fields = std::sscanf(text.c_str(), kScanForm, &at.epoch, &at.source_index, &at.split,
                                 &at.delivered_in_epoch, &at.delivered, &at.samples, &at.bad,
                                 &at.bad_in_epoch, &at.good_in_epoch, &at.digest_high,
                                 &at.digest_low, &at.set_digest, &at.seed, &at.structure, &read);
  std::size_t end = text.size();
  while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == '\r')) --end;
  while (fields == 14) {
    char word[256];
    StageBad own;
    int more = 0;
    if (std::sscanf(text.c_str() + read, " stage %255s bad %" SCNu64 " bad_in_epoch %" SCNu64 "%n",
                    word, &own.bad, &own.bad_in_epoch, &more) != 3)
      break;
    own.stage = from_word(word);
    at.stages_bad.push_back(std::move(own));
    read += more;
  }
  // sscanf takes signs, spaces and numbers that do not fit; the text itself must come back.
  if (fields != 14 || at.text() != text.substr(0, end))
    throw Error(ErrorKind::usage, "position",
                "not a saved position: it is one line that begins with 'weir_position 1', as "
                "Position::text() and --save-position write it");
  return at;
}

}  // namespace weir
