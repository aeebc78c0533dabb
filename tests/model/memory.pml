/* memory.pml - memory as weak as the C11 orders that prof.h asks for. Define before including it:
     CELLS    bytes of shared memory that are written with stores;  STORERS  processes that store
     DEPTH    how many stores a process may be ahead of memory

   A store waits in its process's list. It gets into memory at any later time, and in any order, except that
     - stores to one cell keep their order,
     - a RELEASE store comes after all stores that its process made before it (later ones may overtake it),
     - stores behind a release fence come after all those in front of it.
   That is more than x86 does, and what ARM and RISC-V may do. When a store arrives matters only to who loads its cell, so
   it is the load that decides (look): it lets the next store to its cell, and what has to come before that, arrive, or
   not. When a list is full, its oldest store arrives.

   Loads are acquire loads wherever two of them matter (prof__memory_read), so they happen in order, straight from memory. A
   read-modify-write acts on memory at once; if it is a release, all older stores of its process arrive before it.

   A store is seen by nobody before it arrives, so it needs no step of its own: only loads and read-modify-writes do. */

#ifndef DEPTH
#define DEPTH 8
#endif
#define RELAXED 0
#define RELEASE 1

byte mem[CELLS];
typedef stores {
    byte cell[DEPTH];
    byte value[DEPTH];
    byte release[DEPTH];
    byte count;
    byte fenced /* so many of them are in front of the last fence */
}
stores late[STORERS];
byte m_w, m_at, m_more; /* of look(); 0 between steps */
bit wrong;

c_code {
    static void wrongly(int is)
    {
        if (is) now.wrong = 1;
    }

    static void arrive(int w, int k) /* the store with number k of process w */
    {
        now.mem[now.late[w].cell[k]] = now.late[w].value[k];
        if (k < now.late[w].fenced) now.late[w].fenced--;
        for (now.late[w].count--; k < now.late[w].count; k++) {
            now.late[w].cell[k] = now.late[w].cell[k + 1];
            now.late[w].value[k] = now.late[w].value[k + 1];
            now.late[w].release[k] = now.late[w].release[k + 1];
        }
        now.late[w].cell[k] = now.late[w].value[k] = now.late[w].release[k] = 0;
    }

    static int oldest(int w, int at) /* number of w's oldest store to the cell; w's count: none */
    {
        int k = 0;
        while (k < now.late[w].count && now.late[w].cell[k] != at) k++;
        return k;
    }

    static void let_arrive(int w, int k) /* and first what must come before it */
    {
        int before = now.late[w].release[k] ? k : k >= now.late[w].fenced ? now.late[w].fenced : 0;
        for (; before; before--, k--) arrive(w, 0);
        arrive(w, k);
    }

    static void store(int w, int at, int value, int order)
    {
        int k;
        if (now.late[w].count == DEPTH) arrive(w, 0);
        k = now.late[w].count++;
        now.late[w].cell[k] = at;
        now.late[w].value[k] = value;
        now.late[w].release[k] = order;
    }

    static void all_arrive(int w)
    {
        while (now.late[w].count) arrive(w, 0);
    }

    static void release_fence(int w) /* one fence is remembered: what an older one keeps back arrives */
    {
        while (now.late[w].fenced) arrive(w, 0);
        now.late[w].fenced = now.late[w].count;
    }

    static int load_own(int w, int at) /* what w itself sees */
    {
        int k, value = now.mem[at];
        for (k = 0; k < now.late[w].count; k++)
            if (now.late[w].cell[k] == at) value = now.late[w].value[k];
        return value;
    }

    static void own_arrive(int w, int at) /* before a swap by w */
    {
        int k;
        while ((k = oldest(w, at)) < now.late[w].count) let_arrive(w, k);
    }

    static int is_under_way(int at)
    {
        int w;
        for (w = 0; w < STORERS; w++)
            if (oldest(w, at) < now.late[w].count) return 1;
        return 0;
    }

    static void next_arrives(int at)
    {
        int w, k;
        for (w = 0; w < STORERS; w++)
            if ((k = oldest(w, at)) < now.late[w].count) {
                let_arrive(w, k);
                return;
            }
    }
};

/* Before a load, in the same atomic step: any of the stores to the cell that are under way may arrive. */
inline look(at)
{
    m_at = at;
    c_code { now.m_more = is_under_way(now.m_at); };
    do
    :: atomic { m_at = 0; m_more = 0; break }
    :: m_more -> c_code { next_arrives(now.m_at); now.m_more = is_under_way(now.m_at); }
    od
}

/* Before a swap by w: its own stores to the cell it sees in any case. */
inline look_to_swap(w, at)
{
    m_w = w; m_at = at;
    c_code { own_arrive(now.m_w, now.m_at); };
    m_w = 0;
    look(at)
}
