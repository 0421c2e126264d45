# scenes/templates/*.yaml and scenes/papers/*.yaml become part of the library, as bytes: NAME.yaml is template
# NAME, and its first line, a comment, is the summary. ${template_source} is the C file that holds them.

file(GLOB template_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenes/templates/*.yaml)
file(GLOB paper_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenes/papers/*.yaml)
list(APPEND template_files ${paper_files})
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${template_files})

set(texts "")
set(rows "")
set(number 0)
foreach(path ${template_files})
  cmake_path(GET path STEM LAST_ONLY name)
  file(STRINGS ${path} summary LIMIT_COUNT 1 ENCODING UTF-8)
  string(REGEX REPLACE "^# *" "" summary "${summary}")
  string(REGEX REPLACE "([\"\\])" "\\\\\\1" summary "${summary}")
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n    " bytes "${bytes}")
  string(APPEND texts "static const unsigned char text_${number}[] = {\n    ${bytes}0};\n\n")
  string(APPEND rows "    {\"${name}\", \"${summary}\", text_${number}},\n")
  math(EXPR number "${number} + 1")
endforeach()

set(template_source ${PROJECT_BINARY_DIR}/scene_templates.c)
file(CONFIGURE OUTPUT ${template_source} CONTENT [=[
/* Made from scenes by cmake/Templates.cmake. */
#include "scene/template.h"

@texts@const dls_template dls_templates[] = {
@rows@};

const int dls_template_count = @number@;
]=] @ONLY)
