# An overlay port that installs the checkout it lies in: vcpkg install prof --overlay-ports=packaging/vcpkg
# VERSION is that of vcpkg.json.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
file(GLOB prof_headers "${SOURCE_PATH}/prof*.h" "${SOURCE_PATH}/prof.hpp")
file(INSTALL ${prof_headers} DESTINATION "${CURRENT_PACKAGES_DIR}/include")
foreach(file IN ITEMS profConfig.cmake profConfigVersion.cmake)
  configure_file("${SOURCE_PATH}/packaging/${file}.in" "${CURRENT_PACKAGES_DIR}/share/prof/${file}" @ONLY)
endforeach()
# here the file lies one folder less deep
vcpkg_replace_string("${CURRENT_PACKAGES_DIR}/share/prof/profConfig.cmake" "/../../.." "/../..")
file(INSTALL "${SOURCE_PATH}/LICENSE" DESTINATION "${CURRENT_PACKAGES_DIR}/share/prof" RENAME copyright)
