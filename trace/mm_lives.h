// Which mm a kernel pointer means. The pointer of a dead mm is given to the next one, so the life
// of every mm is followed: fork, exec, exit. Otherwise masks look too full.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/event.h"

namespace hvtlb {

/// What flushes of one mm, or by one task name, came to; the lists run over the eras replayed.
struct FlushTally {
  u64 flushes = 0;
  std::vector<u64> reached;   ///< CPUs, summed over the flushes
  std::vector<u64> needless;  ///< of these, CPUs that did not need it
};

/// One mm between its first and last sight.
struct MmLife {
  u64 serial = 0;  ///< 1, 2, ... in order of appearance: the name shown instead of the pointer
  u64 pointer = 0;
  bool began_here = false;      ///< its whole life is in the recording, without a loss
  bool mask_confirmed = false;  ///< a recorded mask was seen, and nothing was lost since
  bool dying = false;           ///< its last user is gone: the pointer's next user is another mm
  u64 nr_users = 0;             ///< tasks known to use it
  u64 last_seen = 0;            ///< counts the sights of all mms
  std::string comm;             ///< a task that used it
  std::vector<MmId> slots;      ///< its slot in every era's guest
  FlushTally tally;
};

/// Lives that are remembered at once. The ones unseen for the longest are given up beyond it.
inline constexpr u32 kMaxLives = 2048;

/// Tasks whose mm is remembered. Beyond it (a recording without exits) all are forgotten.
inline constexpr u32 kMaxTasks = 65536;

class MmLives {
 public:
  using Lives = std::map<u64, MmLife>;  // by pointer; a life does not move

  /// How the task came to run on the mm.
  enum class Arrival : u8 {
    kScheduled,  ///< the scheduler switched to a task of the mm
    kRunning,    ///< the running task moved to it: exec, or a kernel thread that borrows it
    kUnknown,    ///< the recording does not say who
  };

  /// A CPU switches to the mm. Decides whether the pointer means a new life.
  MmLife& arrive(u64 pointer, Pid pid, Arrival arrival);

  /// The mm behind a pointer that a flush names.
  MmLife& at(u64 pointer);

  void forked(Pid parent, Pid child);
  void exited(Pid pid);
  /// The scheduler switched to a task without an mm (a kernel thread).
  void has_no_mm(Pid pid) { forget_task(pid); }

  /// Whether a task that flushes the whole mm from outside may be its last user, on the way out by
  /// exit or exec (and not, say, a debugger).
  bool may_leave(const MmLife& life, Pid pid) const;

  /// Events were lost: from now on every mm may be another one than believed.
  void lost();

  /// The lives that are over since the last call.
  std::vector<MmLife> take_ended();

  Lives& all() { return lives_; }

 private:
  struct Task {
    u64 pointer = 0;
    u64 serial = 0;
    u64 previous_serial = 0;   ///< the mm that it left by exec
    bool not_run_yet = false;  ///< forked; its mm is the parent's or a copy
  };

  MmLife* find(u64 pointer);
  MmLife& begin_life(u64 pointer, bool began_here);
  void end_life(u64 pointer);
  void give_up_old_lives();
  void set_task(Pid pid, const MmLife& life, bool not_run_yet);
  void forget_task(Pid pid);
  MmLife* life_of(const Task& task);

  Lives lives_;
  std::unordered_map<Pid, Task> tasks_;
  std::vector<MmLife> ended_;
  u64 last_serial_ = 0;
  u64 sights_ = 0;
};

}  // namespace hvtlb
