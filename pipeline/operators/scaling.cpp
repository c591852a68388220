#include "pipeline/operators/scaling.hpp"

#include <weir/error.hpp>

namespace weir::detail {

ParameterSpec scale_spec() {
  return {.name = "scale",
          .type = ParameterType::choice,
          .fallback = "unit",
          .choices = {"unit", "none"},
          .meaning = "unit divides u8 by 255 and u16 by 65535, none keeps them; floats are kept"};
}

float divisor_for(DType dtype, bool scales, const char* operator_name, const std::string& column) {
  switch (dtype) {
    case DType::u8:
      return scales ? 255.0F : 1.0F;
    case DType::u16:
      return scales ? 65535.0F : 1.0F;
    case DType::f32:
      return 1.0F;
    default:
      break;
  }
  throw Error(ErrorKind::usage, operator_name,
              "column '" + column + "' holds " + name_of(dtype) + ", needed are u8, u16 or f32");
}

}  // namespace weir::detail
