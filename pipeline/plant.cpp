#include <weir/plant.hpp>

namespace weir {

Plant::~Plant() = default;

}  // namespace weir
