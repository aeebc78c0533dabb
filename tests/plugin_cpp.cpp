// Markup in an inline function and in a template: neither may keep a plugin from being unloaded.
#include "plugin.h"

inline void in_line(int i)
{
    PROFILE_SCOPE("inline");
    PROFILE_ARG("i", i);
}

template <class T> void in_template(T i)
{
    PROFILE_BLOCK("template") PROFILE_ARG("i", i);
}

static void scopes(int count, int first)
{
    for (int i = first; i < first + count; ++i) {
        in_line(i);
        in_template(i);
    }
}

extern "C" const plugin *plugin_get();
extern "C" const plugin *plugin_get()
{
    static const plugin about = {scopes, nullptr, nullptr, nullptr, &about, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr};
    return &about;
}
