"""Conan 2 recipe of the checkout it lies in: conan create packaging/conan"""
import os
import re

from conan import ConanFile
from conan.tools.files import copy, load


class ProfConan(ConanFile):
    name = "prof"
    description = "An exact timeline of a whole program, from one C header"
    license = "MIT-0 OR Unlicense"
    package_type = "header-library"
    settings = "os", "compiler", "build_type", "arch"
    no_copy_source = True

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "..", "..", "prof.h"))
        number = int(re.search(r"^#define PROF_VERSION (\d+)", header, re.MULTILINE).group(1))
        self.version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def export_sources(self):
        top = os.path.join(self.recipe_folder, "..", "..")
        for pattern in ("prof*.h", "prof.hpp", "LICENSE"):
            copy(self, pattern, top, self.export_sources_folder, excludes="*/*")

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "prof.hpp", self.source_folder, os.path.join(self.package_folder, "include"))
        copy(self, "prof*.h", self.source_folder, os.path.join(self.package_folder, "include"))
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "prof")
        self.cpp_info.set_property("cmake_target_name", "prof::prof")
        self.cpp_info.set_property("pkg_config_name", "prof")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread", "dl"]
