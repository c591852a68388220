# The value types and the image operators; included by pipeline/CMakeLists.txt.
target_sources(
  weir
  PRIVATE
    buffer.cpp
    parameters.cpp
    random.cpp
    sample.cpp
    spelling.cpp
    tensor.cpp
    units.cpp)
