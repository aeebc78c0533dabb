/* ring.pml - chunks of the ring: taken, written, recycled, handed back and reused, and copied meanwhile.

   The functions are named after those of prof.h, whose accesses to shared memory they make in the same order:
     chunk_claim, chunk_swap, chunk_clear   prof__chunk_take        chunk_entered   prof__chunk_change
     filled_check                           prof__chunk_widen       chunk_again     prof__chunk_again
     left_pop, left_swap                    prof__attach            give_back       prof__give_back
     write_event, take_back                 prof__store_word and prof__begin_undo
     reader                                 prof__chunks_snapshot, prof__chunk_snapshot, prof__chunk_cut
     chunk_pack                             prof__stream_put, prof__chunk_release
   An event is one word; its value says which event of which track it is. TRACK records are left out: what the reader
   learns from them (the track, and the number of its chunk) follows from the events themselves.

   Sizes: CHUNKS in the ring, WORDS of a chunk, WRITERS, EVENTS of each writer but the first, SLOW of the first, TRACKS
   (threads that come; more than WRITERS: some leave and others come), START (chunks claimed before the copy begins), FILL
   (PROF_FILL), STREAM (PROF_STREAM, without a limit of the archive), UNDO (short scopes are taken back), BASES (the chunk's base is modelled, too), THERE (see below).

   Checked: nobody takes a chunk that has an owner, or makes one older; nobody overwrites a word; the copy holds only events
   that were written, in the chunk where they were written, none twice; of each track no event is missing between two others,
   unless whole chunks are missing there, which the reader sees from their numbers; THERE: nothing is missing that was in
   memory when the copy began and is in the ring when it ends; STREAM: nothing is missing at all, and each chunk is packed
   once; who takes a chunk leaves each thread an event in a chunk of its own; in a ring, no thread that has a chunk is refused
   an event. In the end, what is not in the image was
   overwritten, or
   refused and counted, and overwritten chunks are counted.

   NO_... each leave out one precaution; run.sh sees to it that this is found. */

#ifndef CHUNKS
#define CHUNKS 3
#endif
#ifndef WORDS
#define WORDS 1
#endif
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef EVENTS
#define EVENTS 3
#endif
#ifndef SLOW
#define SLOW EVENTS
#endif
#define MAKES (SLOW + (w != 0) * (EVENTS - SLOW))
#ifndef START
#define START 0
#endif
#ifndef TRACKS
#define TRACKS WRITERS
#endif

#define PER_CHUNK (3 + WORDS)
#ifdef STREAM
#define CELLS (CHUNKS * PER_CHUNK + 1)
#define ARCHIVE_NEXT (CHUNKS * PER_CHUNK) /* prof__header.archive_next, in blocks */
#define STORERS (WRITERS + 1)
#define SERVICE WRITERS
#else
#define CELLS (CHUNKS * PER_CHUNK)
#define STORERS WRITERS
#endif
#define SEQUENCE(c) ((c) * PER_CHUNK)
#define STATE(c) ((c) * PER_CHUNK + 1)
#define BASE(c) ((c) * PER_CHUNK + 2)
#define WORD(c, i) ((c) * PER_CHUNK + 3 + (i))
#include "memory.pml"

#define FREE 0
#define OWNED 1
#define FULL 2
#define LEFT 3
#define NONE 255

byte next_chunk, overwritten; /* prof__header */
#ifdef STREAM
byte archive[WRITERS * EVENTS]; /* the file: the sequence of each block; written before archive_next says so */
#endif
byte locked;                  /* prof__lock_word */
byte left_count;              /* prof__session.left */
byte left_chunk[TRACKS], left_sequence[TRACKS], left_words[TRACKS];

typedef thread { /* prof__thread */
    byte does, chunk, filled, number, used, tries, slot, wanted, track, next_track, event, made
}
thread t[WRITERS];

/* What a writer does next. */
#define ATTACH 0
#define POP 1
#define CLAIM 2
#define SWAP 3
#define WRITE 4
#define LEAVE 5
#define UNLOCK 6
#define END 7

/* What the checks know. Events are numbered through: track * EVENTS + event. */
#define ALL (TRACKS * EVENTS)
#define TENTATIVE 128 /* a begin that is taken back later */
byte written_in[ALL]; /* sequence of the chunk that an event was written into */
byte owners[CHUNKS];
byte recycled, done, tracks = WRITERS;

c_code {
    static void owned(int c, int step)
    {
        now.owners[c] += step;
        wrongly(now.owners[c] != 0 && now.owners[c] != 1);
    }

    /* The next chunk: a new number. */
    static void chunk_claim(int w)
    {
        struct thread *t = &now.t[w];
#ifndef NO_RELEASE_OF_CLAIM
        all_arrive(w); /* a release: what was written before is seen before the claim */
#endif
        t->number = now.next_chunk++;
        t->slot = t->number % CHUNKS;
        t->tries++;
    }

    static void lock_leave(int w)
    {
        if (TRACKS > WRITERS) now.t[w].does = UNLOCK;
    }

    static void chunk_clear(int w, int c)
    {
        int i;
        store(w, SEQUENCE(c), 0, RELAXED);
#ifndef NO_FENCE
        release_fence(w);
#endif
        for (i = 0; i < WORDS; i++) store(w, WORD(c, i), 0, RELAXED);
#ifndef STREAM
        now.recycled++;
        now.overwritten++;
#endif
    }

    /* prof__chunk_again: begins its own chunk once more. Its number is one that leads to its slot, which only the checks
       need; the search has wasted as many. */
    static void chunk_again(int w)
    {
        struct thread *t = &now.t[w];
        int c = t->chunk;
        all_arrive(w);
        while (now.next_chunk % CHUNKS != c) now.next_chunk++;
        chunk_clear(w, c);
#ifdef BASES
        store(w, BASE(c), now.next_chunk + 1, RELAXED);
#endif
        store(w, SEQUENCE(c), ++now.next_chunk, RELEASE);
        t->tries = t->number = t->slot = t->used = 0;
        t->does = WRITE;
    }

    /* No chunk to be had. In a ring a thread begins its own once more: what is new is never refused. Else the event is
       lost, and counted; the old chunk stays. */
    static void chunk_refused(int w)
    {
        struct thread *t = &now.t[w];
#if !defined(STREAM) && !defined(FILL)
#ifndef NO_AGAIN
        if (t->chunk != NONE) {
            chunk_again(w);
            return;
        }
#endif
        wrongly(t->chunk != NONE);
#endif
        t->tries = 0;
        t->made++;
        t->does = WRITE;
        t->number = t->slot = 0;
        if (t->chunk == NONE) {
            t->does = TRACKS > WRITERS ? UNLOCK : t->made < MAKES ? CLAIM : END;
        }
    }

    static void chunk_finish(int w, int c)
    {
        owned(c, -1);
        store(w, STATE(c), FULL, RELEASE);
    }

    /* The chunk before is nobody's once this one has an event. */
    static void filled_check(int w)
    {
        struct thread *t = &now.t[w];
        if (t->filled == NONE) return;
        chunk_finish(w, t->filled);
        t->filled = NONE;
    }

    /* 1: memory has an event of the track in this chunk. */
    static int has_event(int c, int track)
    {
        int i, e, found = 0;
        for (i = 0; i < WORDS; i++) {
            e = now.mem[WORD(c, i)];
            found |= e && !(e & TENTATIVE) && (e - 1) / EVENTS == track;
        }
        return found;
    }

    /* The chunk is taken by somebody. If another thread has an event in it, and is stopped now, for as long as it takes
       to come round the ring, a chunk that others see as owned must have an event of it, too. */
    static void check_newest(int c)
    {
#if !defined(STREAM) && !defined(FILL)
        int w, other, safe;
        for (w = 0; w < WRITERS; w++) {
            if (!now.t[w].event || now.t[w].chunk == NONE || !has_event(c, now.t[w].track)) continue;
            for (safe = other = 0; other < CHUNKS; other++)
                safe |= other != c && now.mem[STATE(other)] == OWNED && has_event(other, now.t[w].track);
            wrongly(!safe);
        }
#endif
    }

    static void chunk_entered(int w, int c, int used)
    {
        struct thread *t = &now.t[w];
        if (t->chunk != NONE) {
#if defined(STREAM) || defined(FILL) || defined(NO_HOLD)
            chunk_finish(w, t->chunk);
#else
            t->filled = t->chunk;
#endif
        }
        t->does = WRITE;
        if (t->chunk == NONE) lock_leave(w);
        t->chunk = c;
        t->used = used;
        t->tries = t->number = t->slot = t->wanted = 0;
    }

    /* Compares the slot's state and makes it OWNED. If the state changed after it was loaded, the swap fails as it does
       when the slot was OWNED then, so that both are one step. */
    static void chunk_swap(int w)
    {
        struct thread *t = &now.t[w];
        int c = t->slot, state = now.mem[STATE(c)];
#ifdef STREAM
        if (state != FREE) state = OWNED; /* nobody's before the service has let it go */
#endif
        if (state != OWNED) {
            now.mem[STATE(c)] = OWNED;
            owned(c, 1);
#ifndef NO_LATE_CLAIM
            if (load_own(w, SEQUENCE(c)) > t->number) { /* this thread slept for a lap */
                owned(c, -1);
                store(w, STATE(c), state, RELEASE);
                state = OWNED;
            }
#endif
        }
        if (state == OWNED) {
            t->does = CLAIM;
            if (t->tries == CHUNKS) chunk_refused(w);
            return;
        }
        wrongly(load_own(w, SEQUENCE(c)) > t->number); /* a slot never becomes older */
        check_newest(c);
        if (load_own(w, SEQUENCE(c))) chunk_clear(w, c);
#ifdef BASES
        store(w, BASE(c), t->number + 1, RELAXED);
#endif
        store(w, SEQUENCE(c), t->number + 1, RELEASE);
        chunk_entered(w, c, 0);
    }

    static void left_pop(int w)
    {
        struct thread *t = &now.t[w];
        int i = --now.left_count;
        t->slot = now.left_chunk[i];
        t->used = now.left_words[i];
        t->wanted = now.left_sequence[i];
        now.left_chunk[i] = now.left_words[i] = now.left_sequence[i] = 0;
    }

    static void left_swap(int w)
    {
        struct thread *t = &now.t[w];
        int c = t->slot;
        t->does = ATTACH;
        if (now.mem[STATE(c)] != LEFT) return; /* the ring came round */
        now.mem[STATE(c)] = OWNED;
        owned(c, 1);
        if (load_own(w, SEQUENCE(c)) != t->wanted) { /* only more threads than the model has get here */
            owned(c, -1);
            store(w, STATE(c), FULL, RELEASE);
            return;
        }
        chunk_entered(w, c, t->used);
    }

    static void give_back(int w)
    {
        struct thread *t = &now.t[w];
        int c = t->chunk, state = FULL;
        filled_check(w);
        owned(c, -1);
        if (t->used < WORDS) {
            now.left_sequence[now.left_count] = load_own(w, SEQUENCE(c));
            now.left_chunk[now.left_count] = c;
            now.left_words[now.left_count++] = t->used;
            state = LEFT;
        }
        store(w, STATE(c), state, RELEASE);
        t->chunk = NONE;
        t->used = t->event = 0;
        t->track = t->next_track;
        t->does = UNLOCK;
    }

    static void write_word(int w, int value)
    {
        struct thread *t = &now.t[w];
        int at = WORD(t->chunk, t->used);
        wrongly(load_own(w, at)); /* nobody's word */
        store(w, at, value, RELEASE);
    }

    static void write_event(int w)
    {
        struct thread *t = &now.t[w];
        int e = t->track * EVENTS + t->event;
        write_word(w, e + 1);
        now.written_in[e] = load_own(w, SEQUENCE(t->chunk));
        t->used++;
        t->event++;
        t->made++;
        filled_check(w);
    }

    static void take_back(int w) /* a scope that is too short */
    {
        struct thread *t = &now.t[w];
        write_word(w, TENTATIVE + t->track * EVENTS + t->event + 1);
        store(w, WORD(t->chunk, t->used), 0, RELEASE);
        t->made++;
    }
};

#define ME t[w]

/* Writers that make the same are alike: the second does not begin before the first has claimed a chunk, because the
   other way round is the same with their names changed. */
#define FIRST(w) (SLOW != EVENTS || w == 0 || next_chunk)

proctype writer(byte w)
{
    atomic { FIRST(w) -> ME.chunk = NONE; ME.filled = NONE; ME.track = w; ME.does = (TRACKS > WRITERS -> ATTACH : CLAIM) }
    do
    :: atomic { ME.does == ATTACH && (!locked || locked == w + 1) ->
           if
           :: ME.made == MAKES -> ME.does = END
           :: ME.made < MAKES && left_count ->
               locked = w + 1;
               c_code { left_pop(Pwriter->w); };
               ME.does = POP
           :: ME.made < MAKES && !left_count ->
               locked = w + 1;
               ME.does = CLAIM
           fi
       }
    :: atomic { ME.does == POP -> look_to_swap(w, STATE(ME.slot)); c_code { left_swap(Pwriter->w); } }
    :: atomic { ME.does == CLAIM ->
#ifdef FILL
           if
           :: next_chunk >= CHUNKS -> c_code { chunk_refused(Pwriter->w); }
           :: else -> c_code { chunk_claim(Pwriter->w); }; ME.does = SWAP
           fi
#else
           c_code { chunk_claim(Pwriter->w); };
           ME.does = SWAP
#endif
       }
    :: atomic { ME.does == SWAP -> look_to_swap(w, STATE(ME.slot)); c_code { chunk_swap(Pwriter->w); };
           do /* stores need no step of their own */
           :: ME.does == WRITE && ME.made < MAKES && ME.used < WORDS -> c_code { write_event(Pwriter->w); }
#ifdef UNDO
           :: ME.does == WRITE && ME.made < MAKES && ME.used < WORDS -> c_code { take_back(Pwriter->w); }
#endif
           :: ME.does == WRITE && ME.event && tracks < TRACKS -> break
           :: ME.does == WRITE && ME.made == MAKES -> ME.does = END; break
           :: ME.does == WRITE && ME.made < MAKES && ME.used == WORDS -> ME.does = CLAIM; break
           :: ME.does != WRITE -> break
           od;
           assert(!wrong)
       }
    :: atomic { ME.does == WRITE && ME.made < MAKES && ME.used < WORDS -> c_code { write_event(Pwriter->w); } }
    :: atomic { ME.does == WRITE && ME.made < MAKES && ME.used == WORDS -> ME.does = CLAIM }
    :: atomic { ME.does == WRITE && ME.made < MAKES && ME.event && tracks < TRACKS && !locked -> /* the thread ends, another comes */
           locked = w + 1;
           ME.next_track = tracks;
           tracks++;
           c_code { give_back(Pwriter->w); }
       }
    :: atomic { ME.does == UNLOCK ->
           c_code { all_arrive(Pwriter->w); };
           locked = 0;
           ME.does = (ME.chunk == NONE -> ATTACH : WRITE)
       }
    :: atomic { ME.does == END || (ME.does == WRITE && ME.made == MAKES) ->
           c_code { all_arrive(Pwriter->w); };
           ME.does = END;
           done++;
           assert(!wrong);
           break
       }
    od
}

/*-- the reader --*/

byte newest, visited, sequence_read, base_read, state_read, again_read;
byte word[WORDS];
bit there[ALL], seen[ALL];
#ifdef STREAM
byte archive_end;
#else
bit second, first_copied[CHUNKS]; /* turn */
byte first_seen[CHUNKS];          /* sequences, in the first turn */
#endif

c_code {
    /* In what was seen of each track, no event is missing between two others, unless a whole chunk is: the reader sees
       that from the chunks' numbers and drops what is older. */
    static void check_runs(void)
    {
        int track, e, last, hole;
        for (track = 0; track < TRACKS; track++)
            for (last = -1, e = track * EVENTS; e < (track + 1) * EVENTS; e++) {
                if (!now.seen[e]) continue;
                hole = last < 0 || last == e - 1;
#ifdef STREAM
                wrongly(last < 0 ? e % EVENTS != 0 : last != e - 1); /* nothing is ever overwritten */
#endif
                for (; last >= 0 && last < e; last++)
                    if (now.written_in[last] != now.written_in[e]) {
                        int first = e;
                        while (!now.seen[--first]) {
                        }
                        hole |= now.written_in[last] != now.written_in[first];
                    }
                wrongly(!hole);
                last = e;
            }
    }

    static void what_is_there(unsigned char *found)
    {
        int e, i;
        for (e = 0; e < ALL; e++)
            for (i = 0; now.written_in[e] && i < WORDS; i++)
                found[e] |= now.mem[WORD((now.written_in[e] - 1) % CHUNKS, i)] == e + 1;
    }

    static int is_in_ring(int e)
    {
        return now.written_in[e] && now.mem[SEQUENCE((now.written_in[e] - 1) % CHUNKS)] == now.written_in[e];
    }

#ifdef STREAM
    /* Blocks of the archive take the place of what the ring had of the same chunk. */
    static void take_blocks(int end)
    {
        int i, e, before;
        for (i = 0; i < end; i++) {
            for (before = 0; before < i; before++) wrongly(now.archive[before] == now.archive[i]); /* each but once */
            for (e = 0; e < ALL; e++)
                if (now.archive[i] <= now.newest && now.written_in[e] == now.archive[i]) now.seen[e] = 1;
        }
    }
#endif

    /* What was copied of one chunk. */
    static void check_chunk(int c)
    {
        int i, sequence = now.sequence_read, good = sequence != 0;
#ifndef NO_LIMIT
        good = good && sequence <= now.newest;
#endif
#ifndef NO_SECOND_LOOK
        good = good && now.again_read == sequence;
#endif
#ifndef STREAM
        if (!now.second) now.first_copied[c] = 1;
        good = good && (!now.second || sequence == now.first_seen[c]); /* else it was begun meanwhile */
#endif
        if (good) wrongly(now.base_read != sequence);
        for (i = 0; good && i < WORDS && now.word[i]; i++) {
            int e = (now.word[i] & 127) - 1;
            if (now.word[i] & TENTATIVE) { /* what was taken back can only be the last thing known of a chunk */
                wrongly(i + 1 < WORDS && now.word[i + 1]);
                continue;
            }
            wrongly(now.written_in[e] != sequence || now.seen[e]);
            now.seen[e] = 1;
        }
        for (i = 0; i < WORDS; i++) now.word[i] = 0;
        now.sequence_read = now.base_read = now.state_read = now.again_read = 0;
    }

    static void check_copy(void)
    {
        int e;
        check_runs();
        for (e = 0; e < ALL; e++) {
#ifdef STREAM
            wrongly(now.there[e] && !now.seen[e]);
#else
            wrongly(now.there[e] && is_in_ring(e) && !now.seen[e]);
#endif
            now.there[e] = now.seen[e] = 0;
        }
        now.newest = now.visited = 0;
#ifndef STREAM
        for (now.second = e = 0; e < CHUNKS; e++) now.first_copied[e] = now.first_seen[e] = 0;
#endif
    }

    /* When all is over: each event is there, unless its chunk was overwritten. */
    static void check_image(void)
    {
        int e;
        wrongly(now.overwritten != now.recycled);
        what_is_there(now.seen);
#ifdef STREAM
        now.newest = now.next_chunk;
        take_blocks(now.mem[ARCHIVE_NEXT]);
        for (e = 0; e < ALL; e++) wrongly(now.written_in[e] && !now.seen[e]);
#else
        for (e = 0; e < ALL; e++) wrongly(now.written_in[e] && now.seen[e] != is_in_ring(e));
#endif
        check_runs();
    }
};

#ifdef NO_ORDER
#define NEXT_SLOT ((newest + visited) % CHUNKS)
#else
#define NEXT_SLOT ((newest % CHUNKS + CHUNKS - 1 - visited) % CHUNKS)
#endif

/* What the reader does by itself belongs to the step of its last load: nobody sees when that happens. */
inline chunk_copied()
{
    c_code { check_chunk(Preader->c); };
    i = 0;
    c = 0;
    cut = 0;
    assert(!wrong);
    go_on()
}

inline go_on()
{
    visited++;
#ifndef STREAM
    do
    :: visited < CHUNKS && second && first_copied[NEXT_SLOT] -> visited++
    :: visited == CHUNKS && !second -> visited = 0; second = 1
    :: else -> break
    od
#endif
}

/* The next chunk, from the newest to the oldest. */
inline look_at_sequence()
{
    c = NEXT_SLOT;
    look(SEQUENCE(c));
    sequence_read = mem[SEQUENCE(c)];
    base_read = sequence_read
}

inline copy_chunk() /* of which the sequence is known */
{
#ifdef BASES
    atomic { look(BASE(c)); base_read = mem[BASE(c)] }
#endif
    atomic { look(STATE(c)); state_read = mem[STATE(c)] }
    do
    :: atomic { i < WORDS -> look(WORD(c, i)); word[i] = mem[WORD(c, i)]; i++ }
    :: atomic { i == WORDS -> i = 0; look(SEQUENCE(c)); again_read = mem[SEQUENCE(c)]; break }
    od;
#ifndef NO_CUT
    do
    :: atomic {
           state_read != FULL && i < WORDS && sequence_read && again_read == sequence_read ->
           look(WORD(c, i));
           cut = cut || word[i] != mem[WORD(c, i)];
           word[i] = (cut -> 0 : word[i]);
           i++
       }
    :: atomic {
           state_read == FULL || i == WORDS || !sequence_read || again_read != sequence_read ->
#ifndef NO_THIRD_LOOK
           look(SEQUENCE(c));
           again_read = (again_read == sequence_read -> mem[SEQUENCE(c)] : again_read);
#endif
           chunk_copied();
           break
       }
    od
#else
    atomic { chunk_copied() }
#endif
}

proctype reader()
{
    byte c, i;
    bit cut;
    atomic { /* what this thread has heard of */
        next_chunk >= START;
        do
        :: m_w == WRITERS -> m_w = 0; break
        :: m_w < WRITERS && late[m_w].count -> c_code { arrive(now.m_w, 0); }
        :: m_w < WRITERS -> m_w++
        od;
        newest = next_chunk;
#if defined(STREAM) && defined(NO_ARCHIVE_LAST)
        archive_end = mem[ARCHIVE_NEXT];
#endif
#ifdef THERE
        c_code { what_is_there(now.there); }
#endif
    }
next_one:
    do
#ifndef STREAM
    /* First what is being written or can be again; and what was so when the copy began, which is left open here. */
    :: atomic {
           !second ->
           look(SEQUENCE(NEXT_SLOT));
           first_seen[NEXT_SLOT] = mem[SEQUENCE(NEXT_SLOT)]
       }
       atomic {
           look(STATE(NEXT_SLOT));
           state_read = mem[STATE(NEXT_SLOT)];
           if
           :: state_read != FREE -> state_read = 0
           :: state_read == FREE || state_read == FULL -> state_read = 0; go_on(); goto next_one
           fi
       }
       atomic { look_at_sequence() }
       copy_chunk()
    :: atomic { second && visited < CHUNKS -> look_at_sequence() }
       copy_chunk()
#else
    :: atomic { visited < CHUNKS -> look_at_sequence() }
       copy_chunk()
#endif
    :: atomic {
           visited == CHUNKS ->
#ifdef STREAM
#ifndef NO_ARCHIVE_LAST
           look(ARCHIVE_NEXT);
           archive_end = mem[ARCHIVE_NEXT];
#endif
           c_code { take_blocks(now.archive_end); };
           archive_end = 0;
#endif
           c_code { check_copy(); };
           assert(!wrong);
           break
       }
    od;
    atomic { done == STORERS; c_code { check_image(); }; assert(!wrong) }
}

#ifdef STREAM
c_code {
    /* prof__stream_put, prof__chunk_release */
    static void chunk_pack(int c)
    {
        int i, count = load_own(SERVICE, ARCHIVE_NEXT), sequence = now.mem[SEQUENCE(c)];
        for (i = 0; i < WORDS; i++) wrongly(!now.mem[WORD(c, i)]); /* all of it is there */
        now.archive[count] = sequence;
#ifndef NO_BLOCK_FIRST
        store(SERVICE, ARCHIVE_NEXT, count + 1, RELEASE);
        store(SERVICE, STATE(c), FREE, RELEASE);
#else
        store(SERVICE, STATE(c), FREE, RELEASE);
        store(SERVICE, ARCHIVE_NEXT, count + 1, RELEASE);
#endif
    }
};

/* prof__stream_step: packs what is full, from wherever it looks first */
proctype service()
{
    byte c;
    do
    :: atomic { look_to_swap(SERVICE, STATE(c));
           if
           :: mem[STATE(c)] == FULL -> c_code { chunk_pack(Pservice->c); }; assert(!wrong)
           :: else
           fi;
           c = (c + 1) % CHUNKS
       }
    :: atomic { done == WRITERS -> break }
    od;
    atomic { c_code { all_arrive(SERVICE); }; done++ }
}
#endif

init {
    byte k;
    atomic {
        do
        :: k == WRITERS -> break
        :: else -> run writer(k); k++
        od;
        run reader();
#ifdef STREAM
        run service()
#endif
    }
}
