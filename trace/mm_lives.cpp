#include "trace/mm_lives.h"

#include <algorithm>

namespace hvtlb {

MmLife* MmLives::find(u64 pointer) {
  const auto at = lives_.find(pointer);
  return at == lives_.end() ? nullptr : &at->second;
}

MmLife* MmLives::life_of(const Task& task) {
  MmLife* life = find(task.pointer);
  return life != nullptr && life->serial == task.serial ? life : nullptr;
}

MmLife& MmLives::begin_life(u64 pointer, bool began_here) {
  if (lives_.size() >= kMaxLives) give_up_old_lives();
  MmLife& life = lives_[pointer];
  life.serial = ++last_serial_;
  life.pointer = pointer;
  life.began_here = began_here;
  life.last_seen = ++sights_;
  return life;
}

void MmLives::end_life(u64 pointer) {
  const auto at = lives_.find(pointer);
  if (at == lives_.end()) return;
  ended_.push_back(std::move(at->second));
  lives_.erase(at);
}

void MmLives::give_up_old_lives() {
  std::vector<std::pair<u64, u64>> by_age;
  for (const auto& [pointer, life] : lives_)
    by_age.emplace_back(life.dying ? 0 : life.last_seen, pointer);
  const auto half = by_age.begin() + static_cast<std::ptrdiff_t>(by_age.size() / 2);
  std::nth_element(by_age.begin(), half, by_age.end());
  std::for_each(by_age.begin(), half, [&](const auto& old) { end_life(old.second); });
}

void MmLives::forget_task(Pid pid) {
  const auto at = tasks_.find(pid);
  if (at == tasks_.end()) return;
  if (MmLife* life = life_of(at->second)) --life->nr_users;
  tasks_.erase(at);
}

void MmLives::set_task(Pid pid, const MmLife& life, bool not_run_yet) {
  const auto before = tasks_.find(pid);
  const u64 previous = before != tasks_.end() ? before->second.serial : 0;
  forget_task(pid);
  if (tasks_.size() >= kMaxTasks) {
    tasks_.clear();
    // Nobody's users are known any more, so nobody dies of losing the last one.
    for (auto& [pointer, each] : lives_) each.nr_users = kMaxTasks;
  }
  tasks_[pid] = {life.pointer, life.serial, previous, not_run_yet};
  ++lives_[life.pointer].nr_users;
}

MmLife& MmLives::arrive(u64 pointer, Pid pid, Arrival arrival) {
  MmLife* life = find(pointer);
  if (life != nullptr) life->last_seen = ++sights_;
  if (arrival == Arrival::kUnknown && life != nullptr && !life->dying) return *life;

  const auto task = tasks_.find(pid);
  const bool known_task = arrival != Arrival::kUnknown && task != tasks_.end();
  if (known_task && life != nullptr && task->second.serial == life->serial && !life->dying) {
    task->second.not_run_yet = false;
    return *life;
  }
  // A forked child that runs on another mm than its parent's runs on a copy made for it.
  const bool first_run = known_task && task->second.not_run_yet;
  const bool copied = first_run && task->second.pointer != pointer;
  const bool reborn = life != nullptr && (life->dying || copied);
  if (reborn) end_life(pointer);
  if (reborn || life == nullptr)
    life = &begin_life(pointer, reborn || copied || arrival == Arrival::kRunning);
  if (arrival != Arrival::kUnknown) set_task(pid, *life, false);
  return *life;
}

MmLife& MmLives::at(u64 pointer) {
  MmLife* life = find(pointer);
  if (life == nullptr) life = &begin_life(pointer, false);
  life->last_seen = ++sights_;
  return *life;
}

void MmLives::forked(Pid parent, Pid child) {
  const auto task = tasks_.find(parent);
  if (task == tasks_.end()) return;
  if (MmLife* life = life_of(task->second)) set_task(child, *life, true);
}

void MmLives::exited(Pid pid) {
  const auto task = tasks_.find(pid);
  if (task == tasks_.end()) return;
  MmLife* life = life_of(task->second);
  forget_task(pid);
  // Of an mm that was there before the recording, other users may exist.
  if (life != nullptr && life->nr_users == 0 && life->began_here) life->dying = true;
}

bool MmLives::may_leave(const MmLife& life, Pid pid) const {
  const auto task = tasks_.find(pid);
  return task == tasks_.end() || task->second.serial == life.serial ||
         task->second.previous_serial == life.serial;
}

void MmLives::lost() {
  tasks_.clear();
  for (auto& [pointer, life] : lives_) {
    life.began_here = life.mask_confirmed = false;
    life.nr_users = 0;
  }
}

std::vector<MmLife> MmLives::take_ended() {
  std::vector<MmLife> ended;
  ended.swap(ended_);
  return ended;
}

}  // namespace hvtlb
