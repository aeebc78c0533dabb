/* gate.pml - the gate of a thread: signal handlers with scopes in them interrupt each other and the macros of the thread
   between any two accesses to memory, while another thread stops the session and starts the next one.

     take, untake   prof__enter_write, prof__leave_write         begin   prof__begin, prof__begin_slow
     settle         prof__resolve_site, prof__detach,      end     prof__end, prof__end_slow
                    prof__attach                     control prof_pause, prof_stop, prof_start, prof__sessions_reap
   A handler is a process that runs while those it interrupts stand still (level). What one thread and its handlers see of
   each other is in program order; what they see of the other thread is the generation, alone or under the lock.

   Checked: nobody writes while somebody he interrupts is in the middle of writing; nobody writes into a session that is not
   the thread's, or whose image is gone, or with the site id of another session; an end goes where its begin went; each event
   is recorded, counted as lost, or was off; and in the end the thread is not left
   busy; nobody waits for ever (a handler for the lock that the thread holds).

   SCOPES of the thread, HANDLERS of each of LEVELS. NO_... each leave out one precaution. */

#ifndef SCOPES
#define SCOPES 2
#endif
#ifndef HANDLERS
#define HANDLERS 1
#endif
#ifndef LEVELS
#define LEVELS 1
#endif
#define SESSIONS 3
#define BUSY 254
#define SHUT 255
#define NOBODY 9

byte level;                              /* who runs: 0 the thread, 1 its handler, 2 the handler's handler */
byte generation = 1, present = 1, paused; /* prof__config_version, prof__state; session 0: none */
bit running = 1, locked;
byte attached[SESSIONS];
bit freed[SESSIONS];
byte gate = SHUT, seen, open = SHUT, session; /* prof__thread; session is also whose memory the cursor points to */
byte site_generation, site_session;      /* prof_site.private_state is one word */
bit site_on;
byte writing = NOBODY, made, recorded, lost, off, over;


#define STEP atomic { level == id ->
#define WHEN(condition) atomic { level == id && (condition) -> skip;

inline take() { STEP my_gate = gate } STEP gate = BUSY } }

inline untake()
{
#ifdef NO_CARE_FOR_THE_INTERRUPTED
    STEP gate = open }
#else
    STEP if :: my_gate != BUSY -> gate = open :: else fi }
#endif
}

/* -> may */
inline settle(with_site)
{
    STEP
        my_generation = generation;
        may = seen == my_generation && session && (!with_site || site_generation == my_generation)
    }
    if
    :: WHEN(may) may = !with_site || (site_on && site_generation == my_generation) }
    :: WHEN(!may && !locked) locked = 1 }
       STEP
           my_generation = generation;
           if
           :: session && session != (running -> present : 0) -> attached[session]--; session = 0
           :: else
           fi
       }
       STEP
           if
           :: with_site -> site_generation = my_generation; site_on = running && !paused; site_session = present
           :: else
           fi;
           may = running && (!with_site || site_on)
       }
       STEP
           if
           :: may && !session -> session = present; attached[session]++
           :: else
           fi;
           may = may && session
       }
       STEP seen = my_generation; open = (session -> my_generation : SHUT) }
       STEP locked = 0 }
    fi
}

/* Stores a word and moves the cursor: two steps, between which the thread must not be moved or written to. */
inline write(where)
{
    STEP at = session; assert(writing == NOBODY); writing = id }
    STEP assert(at && !freed[at] && at == session && (where) == at) }
    STEP assert(writing == id); writing = NOBODY }
}

inline begin()
{
    token = 0;
#ifdef NO_TAKE_BEFORE_THE_CHECK
    STEP my_gate = gate; my_generation = generation }
    STEP head = site_session; may = site_on && site_generation == my_generation && my_gate == my_generation }
    STEP gate = BUSY }
#else
    take();
    STEP my_generation = generation }
    STEP head = site_session; may = site_on && site_generation == my_generation && my_gate == my_generation }
#endif
    if
    :: WHEN(may) skip }
       write(head);
       STEP recorded++; token = session }
       STEP gate = my_generation }
    :: WHEN(!may && my_gate == BUSY) lost++ }
       untake()
    :: WHEN(!may && my_gate != BUSY) };
       settle(1);
       if
       :: WHEN(may) head = session }
          write(head);
          STEP recorded++; token = session }
          STEP gate = open }
       :: WHEN(!may) off++ }
          untake()
       fi
    fi
}

inline end()
{
    take();
    STEP my_generation = generation; may = token == session && my_gate == my_generation }
    if
    :: WHEN(may) skip }
       write(token);
       STEP gate = my_generation }
#ifndef NO_LOOK_AT_THE_TOKEN
    :: WHEN(!may && (token != session || my_gate == BUSY)) };
       untake()
    :: WHEN(!may && token == session && my_gate != BUSY) };
#else
    :: WHEN(!may && my_gate == BUSY) };
       untake()
    :: WHEN(!may && my_gate != BUSY) };
#endif
       settle(0);
       if
#ifndef NO_LOOK_AT_THE_TOKEN
       :: WHEN(may && token == session) };
#else
       :: WHEN(may) };
#endif
          write(token);
          STEP gate = open }
       :: WHEN(may && token != session) gate = open }
       :: WHEN(!may) };
          untake()
       fi
    fi
}

proctype runs(byte id; byte times)
{
    byte my_gate, my_generation, head, token, at, below, count;
    bit may;
    do
    :: count == times -> break
    :: atomic { count < times && (id == 0 || level < id) -> below = level; level = (id -> id : level); count++; made++ }
        begin();
        if
        :: token -> end()
        :: else
        fi;
        STEP my_gate = 0; my_generation = 0; head = 0; token = 0; at = 0; may = 0; level = (id -> below : 0); below = 0 }
    :: id > 0 && over == 1 + (id == 2) -> break /* a handler need not be called */
    od;
    atomic {
        id || level == 0;
        over++;
        if
        :: id == 0 -> assert(gate != BUSY && writing == NOBODY)
        :: else
        fi
    }
}

/* Another thread. */
proctype control()
{
#ifdef PAUSE
    atomic { !locked -> paused = 1; generation++ }
    atomic { !locked -> paused = 0; generation++ }
#endif
    atomic { !locked -> running = 0; generation++ }
    atomic { !locked -> if :: !attached[1] -> freed[1] = 1 :: else fi; present = 2 } /* prof__sessions_reap */
    atomic { !locked -> running = 1; generation++ }
    atomic { !locked -> if :: !attached[1] -> freed[1] = 1 :: else fi }
}

/* When all have run. */
proctype judge()
{
    atomic { over == 1 + LEVELS -> assert(made == recorded + lost + off) }
}

init { atomic { run runs(0, SCOPES); run runs(1, HANDLERS); run control(); run judge();
#if LEVELS > 1
    run runs(2, HANDLERS)
#endif
} }
