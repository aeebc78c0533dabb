/* Sound: a thread of its own that mixes one block after another at a fixed cadence, whatever the frames do. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "audio"

enum sound { SOUND_NONE, SOUND_GULL, SOUND_METEOR, SOUND_IMPACT, SOUND_KINDS };
enum { RATE = 48000, BLOCK = 1024, ECHO = RATE / 4, TAPE = 8 * RATE };

static const struct {
    int length, volume; /* samples; 0 ... 32767 */
    fix pitch, bend;    /* turns for a sample, and how that changes in 1024 samples */
    int noise;          /* of 256 parts */
} tones[SOUND_KINDS] = {
    [SOUND_GULL] = {RATE / 5, 3000, FIX(0.050), FIX(-0.001), 10},
    [SOUND_METEOR] = {RATE * 3 / 5, 7000, FIX(0.025), FIX(-0.0004), 150},
    [SOUND_IMPACT] = {RATE * 3 / 2, 26000, FIX(0.0012), 0, 120},
};

static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    int quit, wanted[SOUND_KINDS];
    int used;           /* samples on the tape */
    int16_t tape[TAPE]; /* all that was played */
} sound = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct voice {
    enum sound kind;
    int age;
} voices[8];

static void play_sound(enum sound kind)
{
    pthread_mutex_lock(&sound.lock);
    sound.wanted[kind]++;
    pthread_mutex_unlock(&sound.lock);
}

/* Gives what was asked for to voices that are free. Returns 0 when the game is over. */
static int start_voices(void)
{
    pthread_mutex_lock(&sound.lock);
    for (int i = 0; i < COUNT(voices); i++)
        for (int kind = SOUND_GULL; kind < SOUND_KINDS && voices[i].kind == SOUND_NONE; kind++)
            if (sound.wanted[kind]) {
                sound.wanted[kind]--;
                voices[i] = (struct voice){(enum sound)kind, 0};
            }
    int quit = sound.quit;
    pthread_mutex_unlock(&sound.lock);
    return !quit;
}

static int hiss(int sample) { return (int)(hash((uint32_t)sample) >> 16) - 32768; }

static void mix_voice(struct voice *voice, int *mix)
{
    enum sound kind = voice->kind;
    for (int i = 0; i < BLOCK && voice->age < tones[kind].length; i++, voice->age++) {
        int64_t age = voice->age, fade = tones[kind].length - age;
        int volume = (int)(tones[kind].volume * fade / tones[kind].length);
        int tone = sine((fix)(age * tones[kind].pitch + age * age / 2048 * tones[kind].bend)) / 2;
        int wave = (tone * (256 - tones[kind].noise) + hiss(voice->age / 8) * tones[kind].noise) / 256;
        mix[i] += wave * volume / 32768;
    }
    if (voice->age == tones[kind].length) voice->kind = SOUND_NONE;
}

static void mix_block(int first)
{
    static int wind, echo[ECHO];
    int mix[BLOCK], playing = 0, peak = 0;
    PROFILE_FUNCTION();
    PROFILE_STAGE("wind");
    for (int i = 0; i < BLOCK; i++) wind += (hiss(first + i) - wind) / 64, mix[i] = wind / 4;
    PROFILE_NEXT("voices");
    for (int i = 0; i < COUNT(voices); i++)
        if (voices[i].kind) mix_voice(&voices[i], mix), playing++;
    PROFILE_ARG_I("voices", playing);
    PROFILE_NEXT("echo");
    for (int i = 0; i < BLOCK; i++) mix[i] += echo[(first + i) % ECHO] / 3, echo[(first + i) % ECHO] = mix[i];
    PROFILE_NEXT("limit");
    for (int i = 0; i < BLOCK; i++) {
        sound.tape[first + i] = (int16_t)clamp(mix[i], -32767, 32767);
        peak = max(peak, abs(mix[i]));
    }
    PROFILE_COUNTER("sound peak", peak);
}

static void *sound_thread(void *unused)
{
    int64_t next = now_ns();
    PROFILE_THREAD("audio");
    while (start_voices()) {
        if (sound.used + BLOCK <= TAPE) mix_block(sound.used), sound.used += BLOCK;
        next += (int64_t)BLOCK * 1000000000 / RATE;
        sleep_until(next);
    }
    return unused;
}

static void stop_sound(void)
{
    pthread_mutex_lock(&sound.lock);
    sound.quit = 1;
    pthread_mutex_unlock(&sound.lock);
    pthread_join(sound.thread, NULL);
}
