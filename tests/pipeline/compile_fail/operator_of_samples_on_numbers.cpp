// expect: weir: map(): the function takes neither (T) nor (T, Context&)
#include <weir/operators.hpp>
#include <weir/sources.hpp>

void compose() { (void)weir::range(3).map("decode", weir::decode()); }
