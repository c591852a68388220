#include "src/failure_report.hpp"

#include <cctype>
#include <string_view>

#include <nlohmann/json.hpp>

#include "src/standard_output.hpp"

namespace weir::program {
namespace {

/// "train.yaml:3:5"
bool is_place_in_file(std::string_view where) {
  for (int numbers = 0; numbers < 2; ++numbers) {
    std::size_t digits = 0;
    while (!where.empty() && std::isdigit(static_cast<unsigned char>(where.back())) != 0) {
      where.remove_suffix(1);
      ++digits;
    }
    if (digits == 0 || where.empty() || where.back() != ':') return false;
    where.remove_suffix(1);
  }
  return !where.empty();
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::data:
      return "data";
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::cannot:
      return "cannot";
  }
  return "";
}

}  // namespace

void report_failure(const Error& error, const std::string& verb) {
  const std::string head = is_place_in_file(error.where()) ? ""
                           : verb.empty()                  ? "weir: "
                                                           : "weir " + verb + ": ";
  write_notice(head + error.what() + "\n");
}

nlohmann::ordered_json error_json(const Error& error) {
  return {{"kind", kind_name(error.kind())}, {"where", error.where()}, {"message", error.what()}};
}

int exit_status(const std::optional<Error>& error, int signal) {
  constexpr int kSignalBase = 128;
  if (signal != 0) return kSignalBase + signal;
  return error ? static_cast<int>(error->kind()) : 0;
}

}  // namespace weir::program
