/*
 * The lazy-TLB switch and flush once more, for SPIN: a second opinion on what hvtlb explore says.
 * It shares no line with model/, flush/ and explore/. docs/second-opinion.md says what is modelled.
 *
 * One set of rules has to be chosen (-DZ01a, ...), and one scene (-DSCENE_SWITCH, ...). -DTSO gives
 * every CPU a store buffer. -DHYPERV=1 and -DFILTERED=1 flush by hypercall.
 *
 * Two things are kept apart: what a CPU knows of itself (my_loaded_mm, my_is_lazy: only it writes
 * them, so it always reads its own last store), and what memory says, which is what others read.
 * Without TSO both are equal at all times.
 */

/* --- The rules -----------------------------------------------------------------------------------
 * EAGER_BITS        a switch always sets next's bit and clears prev's, both LOCKed. Without it
 *                   next's bit is set only if it is clear, prev's is left behind, and a handler
 *                   that finds another mm loaded clears it
 * LATE_MARKER       SWITCHING is stored after the generation was read. Without it: before the bits
 * FENCE_IF_BIT_SET  a full fence where no LOCKed set was due
 * ASKS_LOADED_MM    the sender leaves out a CPU whose loaded_mm is not the mm
 * ASKS_SWITCHING    ... unless it is SWITCHING
 */
#if defined(V6_13) /* v6.4 to v6.13 */
#define EAGER_BITS
#define LATE_MARKER
#elif defined(Z01a) /* v6.14.0 to v6.14.6 */
#define LATE_MARKER
#define ASKS_LOADED_MM 1
#elif defined(Z01b) /* the marker in time, but nobody asks for it */
#define FENCE_IF_BIT_SET
#define ASKS_LOADED_MM 1
#elif defined(Z01c) /* v6.1.129 and its like */
#define EAGER_BITS
#define LATE_MARKER
#define ASKS_LOADED_MM 1
#elif defined(Z02) /* v6.12.29 and its like */
#define EAGER_BITS
#define LATE_MARKER
#define ASKS_LOADED_MM 1
#define ASKS_SWITCHING 1
#elif defined(Z02_LAZY_BITS) /* the same fault among today's other rules */
#define LATE_MARKER
#define FENCE_IF_BIT_SET
#define ASKS_LOADED_MM 1
#define ASKS_SWITCHING 1
#elif defined(V6_12_117) /* Z01c and Z02 put right */
#define EAGER_BITS
#define ASKS_LOADED_MM 1
#define ASKS_SWITCHING 1
#elif defined(Z03) /* v6.15 to v6.17.4 */
#define ASKS_LOADED_MM 1
#define ASKS_SWITCHING 1
#elif defined(V6_17_5) /* everything put right */
#define FENCE_IF_BIT_SET
#define ASKS_LOADED_MM 1
#define ASKS_SWITCHING 1
#else
#error "no rules: -DV6_17_5, -DZ01a, ..."
#endif
#ifndef ASKS_LOADED_MM
#define ASKS_LOADED_MM 0
#endif
#ifndef ASKS_SWITCHING
#define ASKS_SWITCHING 0
#endif

/* --- Switches of the scene ------------------------------------------------------------------ */
#ifndef CPUS
#define CPUS 2
#endif
#ifndef PAGES
#define PAGES 1
#endif
#ifndef TRIM
#define TRIM 0 /* 1: the first flush that reaches others is a trim round */
#endif
#ifndef FILTERED
#define FILTERED 0 /* 1: by hypercall, with the fix under review */
#endif
#ifndef HYPERV
#define HYPERV FILTERED /* 1: by hypercall */
#endif
#ifndef RETURNS_EARLY
#define RETURNS_EARLY 0 /* 1: a hypercall does not wait for its effects */
#endif

#define INIT_MM 0
#define A 1
#define B 2
#define MMS 3
#define SWITCHING 3

/* --- The scenes: what has happened before, and what each CPU then does ---------------------- */
#if defined(SCENE_SWITCH)
#define BEFORE run_on(0, B); run_on(1, B); run_on(1, A)
#define PROGRAM_0 flush(B, 0)
#define PROGRAM_1 run_mm(B)
#elif defined(SCENE_LAZY_OTHER)
#define BEFORE run_on(0, B); run_on(1, B); run_on(1, A); idle_on(1)
#define PROGRAM_0 flush(B, 0)
#define PROGRAM_1 run_mm(B)
#elif defined(SCENE_LAZY_SAME)
#define BEFORE run_on(0, A); run_on(1, A); idle_on(1)
#define PROGRAM_0 flush(A, 0)
#define PROGRAM_1 run_mm(A)
#elif defined(SCENE_FOREIGN)
#define BEFORE run_on(0, A); run_on(0, B); run_on(1, A)
#define PROGRAM_0 flush(A, 0)
#define PROGRAM_1 run_mm(B); run_mm(A)
#elif defined(SCENE_TWO_FLUSHERS) /* of two pages: -DPAGES=2 */
#define BEFORE run_on(0, A); run_on(1, A)
#define PROGRAM_0 flush(A, 0)
#define PROGRAM_1 flush(A, 1)
#elif defined(SCENE_STAY)
#define BEFORE run_on(0, A); run_on(1, A)
#define PROGRAM_0 flush(A, 0)
#define PROGRAM_1 skip
#elif defined(SCENE_SWITCH_OF_THREE) /* -DCPUS=3: the fix finds another target and sends no IPI */
#define BEFORE run_on(0, B); run_on(1, B); run_on(1, A); run_on(2, B)
#define PROGRAM_0 flush(B, 0)
#define PROGRAM_1 run_mm(B)
#define PROGRAM_2 skip
#elif defined(SCENE_TWO_ROUNDS)
#define BEFORE run_on(0, B); run_on(1, B); run_on(1, A)
#define PROGRAM_0 flush(B, 0); flush(B, 0)
#define PROGRAM_1 run_mm(B); run_mm(A); run_mm(B)
#elif defined(SCENE_BOTH_FLUSH) /* -DPAGES=2 */
#define BEFORE run_on(0, B); run_on(1, B); run_on(1, A)
#define PROGRAM_0 flush(B, 0); run_mm(A); run_mm(B)
#define PROGRAM_1 run_mm(B); flush(B, 1); run_mm(A)
#elif defined(SCENE_THREE) /* -DCPUS=3 -DPAGES=2 */
#define BEFORE run_on(0, B); run_on(1, B); run_on(1, A); run_on(2, B)
#define PROGRAM_0 flush(B, 0)
#define PROGRAM_1 run_mm(B)
#define PROGRAM_2 flush(B, 1)
#else
#error "no scene: -DSCENE_SWITCH, ..."
#endif

/* --- Memory, which all CPUs share ----------------------------------------------------------- */
byte loaded_mm[CPUS];
bit is_lazy[CPUS];
byte mm_cpumask[MMS]; /* a bit a CPU */
byte tlb_gen[MMS] = 1;
byte page_table[MMS * PAGES]; /* how often the entry has changed */
bit trim_due = TRIM;          /* jiffies is after next_trim_cpumask */

/* --- What a CPU keeps for itself ------------------------------------------------------------ */
byte my_loaded_mm[CPUS];
bit my_is_lazy[CPUS];
byte slot_gen[CPUS * MMS]; /* of the PCID slot; 0: no slot has this mm */
bit irqs_off[CPUS];
bit handling[CPUS]; /* an IPI handler runs: the program stands still */
byte task_mm[CPUS]; /* whose user code may run; INIT_MM: nobody's, a kernel thread runs */

/* --- The hardware --------------------------------------------------------------------------- */
byte cr3[CPUS];
byte cached[CPUS * MMS * PAGES]; /* the TLB: 0 is nothing, n is the entry after n - 1 changes */

/* --- Flushes under way ---------------------------------------------------------------------- */
chan ipi[CPUS * CPUS] = [1] of { byte, byte, byte }; /* to * CPUS + from: mm, page, generation */
bit host_flush[CPUS * CPUS];                         /* the same for a hypercall */
byte not_done[CPUS];                                 /* of this sender's IPIs or effects */
byte must_have[MMS * PAGES]; /* P1: the changes that every user has to see by now */

#define SLOT(cpu, mm) slot_gen[(cpu) * MMS + (mm)]
#define TLB(cpu, mm, page) cached[((cpu) * MMS + (mm)) * PAGES + (page)]
#define PTE(mm, page) page_table[(mm) * PAGES + (page)]
#define MUST(mm, page) must_have[(mm) * PAGES + (page)]
#define BIT(cpu) (1 << (cpu))

/* Every process that acts for a CPU has the CPU's number `c`. A CPU's program stands still while
 * its IPI handler runs; `in_irq` says which of the two a process is. */
#define MY_TURN (handling[c] == in_irq)
#define INTERRUPTIBLE (!irqs_off[c] && !handling[c])

/* --- Stores --------------------------------------------------------------------------------- */
#define LOADED_MM 0
#define IS_LAZY 1
#define PAGE_TABLE 2 /* value: which entry; it changes once more */

#ifdef TSO
chan store_buffer[CPUS] = [4] of { byte, byte };
#define DRAINED empty(store_buffer[c])
#define ROOM nfull(store_buffer[c])
#else
#define DRAINED true
#define ROOM true
#endif

inline to_memory(word, value) {
  if
  :: word == LOADED_MM -> loaded_mm[c] = value
  :: word == IS_LAZY -> is_lazy[c] = value
  :: word == PAGE_TABLE -> page_table[value]++
  fi
}

inline plain_store(word, value) {
#ifdef TSO
  store_buffer[c]!word, value
#else
  to_memory(word, value)
#endif
}

inline store_loaded_mm(value) {
  atomic { MY_TURN && ROOM -> my_loaded_mm[c] = value; plain_store(LOADED_MM, value) }
}

inline store_is_lazy(value) {
  atomic { MY_TURN && ROOM -> my_is_lazy[c] = value; plain_store(IS_LAZY, value) }
}

/* What waits until the buffer has drained: this, what is LOCKed, CR3 writes, sending IPIs,
 * hypercalls, taking an interrupt and returning from it. */
inline full_fence() { MY_TURN && DRAINED }

inline irqs_disable() { atomic { MY_TURN -> irqs_off[c] = 1 } }
inline irqs_enable() { irqs_off[c] = 0 }

/* --- Switching: interrupts are off throughout ----------------------------------------------- */
inline empty_asid(mm) {
  TLB(c, mm, 0) = 0;
#if PAGES > 1
  TLB(c, mm, 1) = 0
#endif
}

/* CR3 := mm and its PCID. With `flushing` the PCID is emptied, and the slot is as new as `gen`. */
inline write_cr3(mm, flushing) {
  atomic {
    DRAINED ->
    if
    :: flushing -> SLOT(c, mm) = gen; empty_asid(mm)
    :: else
    fi;
    cr3[c] = mm
  }
}

inline set_bit(mm) { atomic { DRAINED -> mm_cpumask[mm] = mm_cpumask[mm] | BIT(c) } }
inline clear_bit(mm) { atomic { DRAINED -> mm_cpumask[mm] = mm_cpumask[mm] & ~BIT(c) } }

inline change_bits(prev, next) {
#ifdef EAGER_BITS
  if
  :: prev != INIT_MM -> clear_bit(prev)
  :: else
  fi;
  if
  :: next != INIT_MM -> set_bit(next)
  :: else
  fi
#else
  if
  :: next == INIT_MM
  :: next != INIT_MM && (mm_cpumask[next] & BIT(c)) == 0 -> set_bit(next)
  :: next != INIT_MM && (mm_cpumask[next] & BIT(c)) != 0 ->
#ifdef FENCE_IF_BIT_SET
     full_fence()
#else
     skip
#endif
  fi
#endif
}

inline switch_mm(next) {
  prev = my_loaded_mm[c];
  was_lazy = my_is_lazy[c];
  if
  :: was_lazy -> store_is_lazy(0)
  :: else
  fi;
  if
  :: prev == next && !was_lazy
  :: prev == next && was_lazy -> /* flushes have passed this CPU by */
     full_fence();
     gen = tlb_gen[next];
     if
     :: SLOT(c, next) != gen -> write_cr3(next, true)
     :: else
     fi
  :: prev != next ->
#ifndef LATE_MARKER
     store_loaded_mm(SWITCHING);
#endif
     change_bits(prev, next);
     gen = (next == INIT_MM -> 0 : tlb_gen[next]);
#ifdef LATE_MARKER
     store_loaded_mm(SWITCHING);
#endif
     write_cr3(next, SLOT(c, next) < gen);
     store_loaded_mm(next)
  fi;
  gen = 0;
  prev = 0;
  was_lazy = 0
}

/* The scheduler goes to a task of the mm. */
inline run_mm(mm) {
  irqs_disable();
  switch_mm(mm);
  atomic { task_mm[c] = mm; irqs_enable() }
}

/* The scheduler goes to a kernel thread, which borrows the mm that is there: enter_lazy_tlb(). */
inline idle() {
  irqs_disable();
  if
  :: my_loaded_mm[c] != INIT_MM -> store_is_lazy(1)
  :: else
  fi;
  atomic { task_mm[c] = INIT_MM; irqs_enable() }
}

/* --- The receiver of a flush, by IPI or the sender itself: interrupts are off ---------------- */
inline flush_tlb_func(mm, page, new_gen) {
  if
  :: my_loaded_mm[c] != mm ->
#ifdef EAGER_BITS
     skip
#else
     clear_bit(mm)
#endif
  :: my_loaded_mm[c] == mm && my_is_lazy[c] -> switch_mm(INIT_MM)
  :: my_loaded_mm[c] == mm && !my_is_lazy[c] && new_gen <= SLOT(c, mm)
  :: my_loaded_mm[c] == mm && !my_is_lazy[c] && new_gen > SLOT(c, mm) ->
     gen = tlb_gen[mm];
     atomic {
       if
       :: new_gen == SLOT(c, mm) + 1 && new_gen == gen -> TLB(c, mm, page) = 0
       :: else -> empty_asid(mm)
       fi;
       SLOT(c, mm) = gen;
       gen = 0
     }
  fi
}

/* --- The sender of a flush ------------------------------------------------------------------ */
/* Does CPU r belong to the flush? Reads its bit, loaded_mm (if `by_mm`), is_lazy, in this order. */
inline ask(mm, r, by_mm) {
  atomic { MY_TURN -> reached = ((mm_cpumask[mm] & BIT(r)) != 0) };
  if
  :: reached && by_mm ->
     atomic { MY_TURN -> loaded = (r == c -> my_loaded_mm[c] : loaded_mm[r]) }
  :: else
  fi;
  if
  :: reached ->
     atomic {
       MY_TURN ->
       reached = !(r == c -> my_is_lazy[c] : is_lazy[r]) &&
                 (!by_mm || trim || loaded == mm || (ASKS_SWITCHING && loaded == SWITCHING));
       loaded = 0
     }
  :: else
  fi
}

inline send_ipis(mm, page) {
  ask(mm, c, ASKS_LOADED_MM);
  atomic { me_too = reached; reached = 0; other = 0 };
  do
  :: other < CPUS && other == c -> other++
  :: other < CPUS && other != c ->
     ask(mm, other, ASKS_LOADED_MM);
     atomic {
       MY_TURN && DRAINED ->
       if
       :: reached -> ipi[other * CPUS + c]!mm, page, new_gen; not_done[c]++
       :: else
       fi;
       reached = 0;
       other++
     }
  :: else -> break
  od;
  other = 0
}

inline all_done() { MY_TURN && not_done[c] == 0 }

#if HYPERV
/* The host empties the whole TLB of each target, one after the other, until the call returns. */
inline hypercall() {
  atomic {
    DRAINED -> other = 0;
    do
    :: other < CPUS ->
       host_flush[other * CPUS + c] = (targets >> other) & 1;
       not_done[c] = not_done[c] + ((targets >> other) & 1);
       other++
    :: else -> break
    od;
    other = 0;
    targets = 0
  };
  if
  :: RETURNS_EARLY -> not_done[c] = 0
  :: !RETURNS_EARLY -> all_done()
  fi
}

/* Today's builder asks for laziness only, the fix under review as the native path does. */
inline flush_by_hypercall(mm) {
  irqs_disable();
  other = 0;
  do
  :: other < CPUS ->
     ask(mm, other, FILTERED);
     atomic { targets = targets | (reached << other); reached = 0; other++ }
  :: else -> break
  od;
  other = 0;
  if
  :: FILTERED && (targets & ~BIT(c)) == 0 -> trim = 1 /* nobody else: trim at once, by IPI */
  :: !FILTERED && targets == 0
  :: else -> hypercall()
  fi;
  targets = 0;
  irqs_enable()
}
#endif

/* flush_tlb_mm_range() of one page, and before it the change of the page-table entry. */
inline flush(mm, page) {
  atomic { MY_TURN && ROOM -> plain_store(PAGE_TABLE, mm * PAGES + page) };
  atomic { MY_TURN && DRAINED -> tlb_gen[mm]++; new_gen = tlb_gen[mm]; need = PTE(mm, page) };
  if
  :: atomic { MY_TURN && (mm_cpumask[mm] & ~BIT(c)) == 0 -> me_too = (my_loaded_mm[c] == mm) }
  :: atomic { MY_TURN && (mm_cpumask[mm] & ~BIT(c)) != 0 -> skip };
     atomic { MY_TURN -> trim = trim_due; trim_due = 0 };
#if HYPERV
     if
     :: !(FILTERED && trim) -> flush_by_hypercall(mm)
     :: else
     fi;
#endif
     if
     :: !HYPERV || (FILTERED && trim) -> send_ipis(mm, page)
     :: else
     fi
  fi;
  if
  :: me_too ->
     me_too = 0;
     irqs_disable();
     flush_tlb_func(mm, page, new_gen);
     irqs_enable()
  :: else
  fi;
  all_done();
  atomic { /* it has returned */
    if
    :: MUST(mm, page) < need -> MUST(mm, page) = need
    :: else
    fi;
    need = 0;
    new_gen = 0;
    trim = 0
  }
}

/* --- The processes -------------------------------------------------------------------------- */
/* The program of a CPU. */
proctype cpu(byte c) {
  bit in_irq = 0;
  byte prev = 0; bit was_lazy = 0; byte gen = 0;
  byte new_gen = 0; byte need = 0; byte other = 0; bit reached = 0; byte loaded = 0; bit me_too = 0;
  bit trim = 0; byte targets = 0;
  if
  :: c == 0 -> PROGRAM_0
  :: c == 1 -> PROGRAM_1
#if CPUS > 2
  :: c == 2 -> PROGRAM_2
#endif
  fi
}

#define TAKE(sender) \
  atomic { \
    INTERRUPTIBLE && DRAINED && nempty(ipi[c * CPUS + sender]) -> \
    ipi[c * CPUS + sender]?mm, page, asked_gen; from = sender; handling[c] = 1 \
  }

/* Its IPI handler: in any order, and only while interrupts are on. */
proctype interrupts(byte c) {
  bit in_irq = 1;
  byte mm = 0; byte page = 0; byte asked_gen = 0; byte from = 0; byte prev = 0; byte gen = 0;
  bit was_lazy = 0;
end:
  do
  :: if
     :: TAKE(0)
     :: TAKE(1)
#if CPUS > 2
     :: TAKE(2)
#endif
     fi;
     flush_tlb_func(mm, page, asked_gen);
     atomic {
       DRAINED -> handling[c] = 0; not_done[from]--;
       mm = 0; page = 0; asked_gen = 0; from = 0
     }
  od
}

/* What its hardware does by itself. A TLB fills at any moment, for whatever mm is in CR3, and what
 * it holds stays. P1: user code never meets a translation that a returned flush has forbidden.
 * It is a step only when it does: one that is always possible would hide that CPUs are stuck. */
#define FILL(page) \
  atomic { \
    cr3[c] != INIT_MM && TLB(c, cr3[c], page) == 0 -> \
    TLB(c, cr3[c], page) = PTE(cr3[c], page) + 1 \
  }
#define USE(page) \
  atomic { \
    INTERRUPTIBLE && task_mm[c] != INIT_MM && cr3[c] == task_mm[c] && \
    TLB(c, cr3[c], page) != 0 && TLB(c, cr3[c], page) <= MUST(cr3[c], page) -> \
    assert(false) /* P1 */ \
  }

#if RETURNS_EARLY
#define EFFECT_SEEN(from) skip
#else
#define EFFECT_SEEN(from) not_done[from]--
#endif
#define HOST_FLUSHES(from) \
  atomic { \
    host_flush[c * CPUS + from] -> host_flush[c * CPUS + from] = 0; \
    empty_asid(A); empty_asid(B); EFFECT_SEEN(from) \
  }

proctype hardware(byte c) {
  byte word; byte value;
end:
  do
  :: FILL(0)
  :: USE(0)
#if PAGES > 1
  :: FILL(1)
  :: USE(1)
#endif
#ifdef TSO
  :: atomic { store_buffer[c]?word, value -> to_memory(word, value); word = 0; value = 0 }
#endif
#if HYPERV
  :: HOST_FLUSHES(0)
  :: HOST_FLUSHES(1)
#if CPUS > 2
  :: HOST_FLUSHES(2)
#endif
#endif
  od
}

/* In BEFORE nothing else happens, so a switch is its outcome; the task then uses every page. */
inline run_on(who, mm) {
#ifdef EAGER_BITS
  mm_cpumask[my_loaded_mm[who]] = mm_cpumask[my_loaded_mm[who]] & ~BIT(who);
#endif
  mm_cpumask[mm] = mm_cpumask[mm] | BIT(who);
  my_loaded_mm[who] = mm;
  loaded_mm[who] = mm;
  cr3[who] = mm;
  task_mm[who] = mm;
  SLOT(who, mm) = tlb_gen[mm];
  TLB(who, mm, 0) = PTE(mm, 0) + 1;
#if PAGES > 1
  TLB(who, mm, 1) = PTE(mm, 1) + 1
#endif
}

inline idle_on(who) {
  my_is_lazy[who] = 1;
  is_lazy[who] = 1;
  task_mm[who] = INIT_MM
}

init {
  byte c = 0;
  atomic {
    BEFORE;
    do
    :: c < CPUS -> run hardware(c); run interrupts(c); run cpu(c); c++
    :: else -> break
    od
  }
}
