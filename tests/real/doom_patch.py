#!/usr/bin/env python3
"""Adds prof's markup to an unpacked source tree of chocolate-doom.

    doom_patch.py TREE

Each rule names a file, a function and what to add to it: at the start of its body, or in front of the first statement
of the body that begins with a given text. What is added stays on the line it is put in front of, so that line numbers,
and with them __LINE__, keep their meaning. A rule that finds nothing is an error: the source is not the one it was made
for. Prints the C files that it changed.
"""
import re
import sys

FUNCTIONS = """
    src/d_loop.c            TryRunTics          loop    1
    src/doom/d_main.c       D_RunFrame          loop    1
    src/doom/d_main.c       D_Display           loop    1
    src/doom/d_net.c        RunTic              loop    1
    src/doom/g_game.c       G_Ticker            game    1
    src/doom/g_game.c       G_DoLoadLevel       game    1
    src/doom/p_setup.c      P_SetupLevel        game    1
    src/doom/p_tick.c       P_Ticker            game    1
    src/doom/p_tick.c       P_RunThinkers       game    1
    src/doom/p_user.c       P_PlayerThink       game    1
    src/doom/p_sight.c      P_CheckSight        game    2
    src/doom/p_mobj.c       P_MobjThinker       game    3
    src/doom/r_main.c       R_RenderPlayerView  render  1
    src/doom/r_segs.c       R_StoreWallRange    render  2
    src/doom/r_things.c     R_DrawVisSprite     render  2
    src/doom/r_draw.c       R_DrawColumn        render  3
    src/doom/r_draw.c       R_DrawSpan          render  3
    src/doom/st_stuff.c     ST_Drawer           render  1
    src/doom/hu_stuff.c     HU_Drawer           render  1
    src/i_video.c           I_FinishUpdate      video   1
    src/doom/s_sound.c      S_UpdateSounds      sound   1
    src/doom/s_sound.c      S_StartSound        sound   1
    opl/opl_sdl.c           OPL_Mix_Callback    sound   1
"""

# What one call draws, as stages of one clock read each: the function, the statement in front of which one begins.
STAGES = [
    ("src/doom/r_main.c", "R_RenderPlayerView", "R_ClearClipSegs", "clear"),
    ("src/doom/r_main.c", "R_RenderPlayerView", "R_RenderBSPNode", "bsp"),
    ("src/doom/r_main.c", "R_RenderPlayerView", "R_DrawPlanes", "planes"),
    ("src/doom/r_main.c", "R_RenderPlayerView", "R_DrawMasked", "masked"),
]

STATEMENTS = [
    ("src/doom/d_main.c", "D_RunFrame", "if (wipe)", 'PROFILE_FRAME("frame");'),
    ("src/doom/d_net.c", "RunTic", "netcmds = cmds", 'PROFILE_ARG_I("gametic", gametic);'),
    ("src/doom/g_game.c", "G_DoLoadLevel", "P_SetupLevel", 'PROFILE_MARK_F("load E%dM%d", gameepisode, gamemap);'),
    ("src/doom/r_plane.c", "R_DrawPlanes", "for (pl = visplanes",
     'PROFILE_COUNTER("visplanes", lastvisplane - visplanes);'),
]

IMPLEMENTATION = "#define PROF_IMPLEMENTATION\n#include \"prof_chrome.h\"\n"


class Tree:
    def __init__(self, root):
        self.root = root
        self.texts = {}

    def text(self, path):
        if path not in self.texts:
            with open(f"{self.root}/{path}", encoding="latin-1", newline="") as file:
                self.texts[path] = file.read()
        return self.texts[path]

    def bodies(self, path, function):
        """Where each definition of function has its opening brace, last one first."""
        definition = rf"^(?:\w[\w \t*]*[\s*])?{function}\s*\([^;{{}}()]*\)\s*(?://[^\n]*\s*)?\{{"
        found = [match.end() for match in re.finditer(definition, self.text(path), re.MULTILINE)]
        if not found:
            sys.exit(f"{path}: no definition of {function}")
        return reversed(found)

    def insert(self, path, function, added, before=None):
        for start in self.bodies(path, function):
            text = self.text(path)
            at = start
            if before:
                end = text.find("\n}", start)
                match = re.search(rf"^[ \t]*(?={re.escape(before)})", text[start:end], re.MULTILINE)
                if not match:
                    sys.exit(f"{path}: {function} has no statement '{before}'")
                at = start + match.end()
            self.texts[path] = f"{text[:at]} {added} {text[at:]}"

    def save(self):
        for path, text in self.texts.items():
            if path.endswith(".c"):
                text = '#include "prof.h"\n#line 1\n' + text
                print(path)
            with open(f"{self.root}/{path}", "w", encoding="latin-1", newline="") as file:
                file.write(text)


def main():
    tree = Tree(sys.argv[1])
    for path, function, before, added in STATEMENTS:
        tree.insert(path, function, added, before)
    for path, function, before, name in STAGES:
        tree.insert(path, function, f'PROFILE_NEXT("{name}");', before)
    for path, function in {stage[:2] for stage in STAGES}:
        tree.insert(path, function, 'PROFILE_STAGE("setup");')
    for line in FUNCTIONS.split("\n"):
        if line.strip():
            path, function, category, level = line.split()
            tree.insert(path, function, f'PROFILE_SCOPE_CL("{function}", "{category}", {level});')
    build = "src/CMakeLists.txt"
    patched = re.sub(r"(set\(COMMON_SOURCE_FILES\n)", r"\1    prof_implementation.c\n", tree.text(build))
    if patched == tree.text(build):
        sys.exit(f"{build}: no list of common source files")
    tree.texts[build] = patched
    tree.save()
    with open(f"{tree.root}/src/prof_implementation.c", "w", encoding="ascii") as file:
        file.write(IMPLEMENTATION)


main()
