# <build>/python/delassus: the modules of python/delassus as links, declarations of the public headers for ctypes,
# and the shared library. `PYTHONPATH=<build>/python` is all that it takes to use them.

set(python_package ${PROJECT_BINARY_DIR}/python/delassus)
file(MAKE_DIRECTORY ${python_package})
file(GLOB links ${python_package}/*)
foreach(link ${links})
  if(IS_SYMLINK ${link})
    file(REMOVE ${link})
  endif()
endforeach()
file(GLOB python_modules CONFIGURE_DEPENDS python/delassus/*.py python/delassus/py.typed)
foreach(module ${python_modules})
  cmake_path(GET module FILENAME name)
  file(CREATE_LINK ${module} ${python_package}/${name} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_BINARY_DIR}/libdelassus.so ${python_package}/libdelassus.so SYMBOLIC)

add_custom_command(OUTPUT ${python_package}/_c.py
  COMMAND ${PROJECT_SOURCE_DIR}/tools/make_bindings -o ${python_package}/_c.py
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/make_bindings ${public_headers})
add_custom_target(python_module ALL DEPENDS ${python_package}/_c.py delassus_shared)
