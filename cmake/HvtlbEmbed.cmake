# hvtlb_embed(OUT FILES...): rows {"NAME", "TEXT"} of a C++ table, one a YAML file, so that scenarios
# work after installing.
function(hvtlb_embed out)
  set(rows "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND rows "    {\"${name}\", R\"yaml(${text})yaml\"},\n")
  endforeach()
  set(${out} "${rows}" PARENT_SCOPE)
endfunction()
