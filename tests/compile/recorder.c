/* A program of ten lines that records into a .prof, whose size is measured: by tests/sizes.sh with the implementation in
   it, by left_out.sh beside one without what each switch leaves out. */
#include "prof.h"

int main(void)
{
    prof_config config = {0};
    config.output = "recorder.prof";
    prof_start(&config);
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE("tick");
    }
    return (int)prof_stop();
}
