#include <weir/error.hpp>

#include <utility>

namespace weir {
namespace {

std::string with_place(const std::string& where, const std::string& what_happened) {
  return where.empty() ? what_happened : where + ": " + what_happened;
}

}  // namespace

Error::Error(ErrorKind kind, std::string where, const std::string& what_happened)
    : std::runtime_error(with_place(where, what_happened)), kind_(kind), where_(std::move(where)) {}

Error::~Error() = default;

BadSample::BadSample(const std::string& reason) : std::runtime_error(reason) {}

BadSample::~BadSample() = default;

}  // namespace weir
