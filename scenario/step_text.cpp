#include "scenario/step_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

#include "scenario/shown_text.h"

namespace hvtlb {
namespace {

constexpr std::array<std::string_view, kNrVerbs> kVerbNames{"each cpu",
                                                            "repeat",
                                                            "measure",
                                                            "run",
                                                            "idle",
                                                            "leave_mm",
                                                            "touch",
                                                            "mprotect",
                                                            "madvise",
                                                            "munmap",
                                                            "mremap",
                                                            "flush",
                                                            "fork",
                                                            "exec",
                                                            "exit",
                                                            "batch_add",
                                                            "batch_flush",
                                                            "flush_batched_pending",
                                                            "nested_reclaim",
                                                            "new",
                                                            "drop",
                                                            "use_global_asid",
                                                            "enable_lam",
                                                            "tick",
                                                            "offline",
                                                            "online",
                                                            "use_temporary_mm",
                                                            "unuse_temporary_mm"};

/// The words of a line, with their places.
class Words {
 public:
  Words(std::string_view text, Mark at) : text_(text), at_(at) { skip_blanks(); }

  bool done() const { return next_ >= text_.size(); }
  Mark mark() const { return {at_.line, at_.column + static_cast<u32>(next_)}; }

  std::string_view peek() const {
    const std::size_t end = text_.find(' ', next_);
    return text_.substr(next_, end == std::string_view::npos ? end : end - next_);
  }
  std::string_view take() {
    const std::string_view word = peek();
    next_ += word.size();
    skip_blanks();
    return word;
  }
  bool take_if(std::string_view word) {
    if (done() || peek() != word) return false;
    take();
    return true;
  }
  std::string_view need(std::string_view what) {
    if (done()) throw StepTextError{mark(), fmt::format("found the end, expected {}", what)};
    return take();
  }
  [[noreturn]] void refuse(std::string_view expected) const {
    const std::string found = done() ? "the end" : fmt::format("'{}'", shown_text(peek()));
    throw StepTextError{mark(), fmt::format("found {}, expected {}", found, expected)};
  }

 private:
  void skip_blanks() {
    while (next_ < text_.size() && text_[next_] == ' ') ++next_;
  }

  std::string_view text_;
  Mark at_;
  std::size_t next_ = 0;
};

bool is_process_name(std::string_view word) {
  if (word.empty() || word.size() > 64) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (!letter(word.front()) && word.front() != '_') return false;
  return std::all_of(word.begin(), word.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '%';
  });
}

std::string take_process(Words& words) {
  const Mark at = words.mark();
  const std::string_view word = words.need("a process");
  if (!is_process_name(word))
    throw StepTextError{at, fmt::format("found '{}', expected a process's name", shown_text(word))};
  return std::string(word);
}

u64 take_number(Words& words, u64 most, std::string_view what) {
  const Mark at = words.mark();
  return parse_count(words.need(what), at, most, what);
}

/// `[at VA]`: where the step's pages are.
void take_va(Words& words, Step& step, u64 pages) {
  if (!words.take_if("at")) return;
  const Mark at = words.mark();
  const std::string_view word = words.peek();
  step.va = take_number(words, ~u64{0}, "an address");
  if (*step.va > ~u64{0} - pages * kPageSize)
    throw StepTextError{
        at, fmt::format("found {} page{} at {}, expected a range that ends below 2^64", pages,
                        pages == 1 ? "" : "s", shown_text(word))};
}

/// `[at VA] [on N]` and nothing more.
void take_tail(Words& words, Step& step, bool may_have_va) {
  if (may_have_va) take_va(words, step, step.count);
  if (words.take_if("on")) step.cpu = static_cast<Cpu>(take_number(words, kMaxCpus - 1, "a CPU"));
  if (!words.done())
    words.refuse(may_have_va ? "'at ADDRESS', 'on CPU' or the end" : "'on CPU' or the end");
}

void take_pages(Words& words, Step& step) {
  step.process = take_process(words);
  const Mark at = words.mark();
  step.count = take_number(words, kMaxPages, "a number of pages");
  if (step.count == 0) throw StepTextError{at, "found 0, expected at least 1 page"};
  if (!words.take_if("page") && !words.take_if("pages")) words.refuse("'pages'");
  if (step.verb == Verb::kMunmap && words.take_if("freeing")) {
    if (!words.take_if("tables")) words.refuse("'tables'");
    step.freed_tables = true;
  } else if (step.verb == Verb::kMunmap && !words.done() && words.peek() == "freed_tables") {
    words.refuse("'freeing tables'");
  }
  take_tail(words, step, true);
}

void take_flush(Words& words, Step& step) {
  step.process = take_process(words);
  step.start = take_number(words, ~u64{0}, "the first address");
  step.end = take_number(words, ~u64{0}, "the end address");
  if (words.take_if("stride"))
    step.stride_shift = static_cast<u8>(take_number(words, 63, "log2 of the stride"));
  step.freed_tables = words.take_if("freed_tables");
  take_tail(words, step, false);
}

void take_arguments(Words& words, Step& step) {
  switch (step.verb) {
    case Verb::kNewMm:
    case Verb::kDropMm:
      step.process = take_process(words);
      if (!words.done()) words.refuse("the end");
      break;
    case Verb::kNestedReclaim:
      if (!words.done()) words.refuse("the end");
      break;
    case Verb::kRun:
    case Verb::kExec:
    case Verb::kExit:
    case Verb::kFlushBatchedPending:
    case Verb::kUseGlobalAsid:
    case Verb::kUseTemporaryMm:
      step.process = take_process(words);
      take_tail(words, step, false);
      break;
    case Verb::kTouch:
      if (!words.done() && words.peek() != "on") step.process = take_process(words);
      take_tail(words, step, false);
      break;
    case Verb::kIdle:
    case Verb::kLeaveMm:
    case Verb::kEnableLam:
    case Verb::kBatchFlush:
    case Verb::kUnuseTemporaryMm: take_tail(words, step, false); break;
    case Verb::kMprotect:
    case Verb::kMadvise:
    case Verb::kMunmap:
    case Verb::kMremap: take_pages(words, step); break;
    case Verb::kFlush: take_flush(words, step); break;
    case Verb::kFork:
      step.process = take_process(words);
      if (!words.take_if("as")) words.refuse("'as CHILD'");
      step.child = take_process(words);
      take_tail(words, step, false);
      break;
    case Verb::kBatchAdd:
      step.process = take_process(words);
      take_va(words, step, 1);
      if (!words.done()) words.refuse("'at ADDRESS' or the end");
      break;
    case Verb::kTick:
      step.count = take_number(words, kMaxJiffies, "a number of jiffies");
      if (!words.take_if("jiffies")) words.take_if("jiffy");
      if (!words.done()) words.refuse("the end");
      break;
    case Verb::kOffline:
    case Verb::kOnline:
      if (!words.done() && words.peek() != "on")
        step.cpu = static_cast<Cpu>(take_number(words, kMaxCpus - 1, "a CPU"));
      else
        take_tail(words, step, false);
      if (!words.done()) words.refuse("the end");
      break;
    case Verb::kEachCpu:
    case Verb::kRepeat:
    case Verb::kMeasure: break;
  }
}

constexpr std::string_view kSteps =
    "run, idle, leave_mm, touch, mprotect, madvise, munmap, mremap, flush, fork, exec, exit, "
    "batch_add, batch_flush, flush_batched_pending, nested_reclaim, new, drop, enable_lam, "
    "use_global_asid, tick, offline, online, use_temporary_mm, unuse_temporary_mm, "
    "each cpu:, repeat N: or measure N:";

}  // namespace

std::string_view name_of(Verb verb) {
  return kVerbNames[static_cast<unsigned>(verb)];
}

u64 parse_count(std::string_view text, Mark at, u64 most, std::string_view what) {
  const bool hex = text.starts_with("0x");
  const std::string_view digits = hex ? text.substr(2) : text;
  u64 value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  const bool whole = end == digits.data() + digits.size() && !digits.empty();
  if (!whole || error == std::errc::invalid_argument)
    throw StepTextError{at, fmt::format("found '{}', expected {}", shown_text(text), what)};
  if (error == std::errc::result_out_of_range || value > most)
    throw StepTextError{
        at, fmt::format("found {}, expected {} of at most {}", shown_text(text), what, most)};
  return value;
}

std::vector<std::pair<Cpu, Cpu>> parse_cpu_list(std::string_view text, Mark at) {
  std::vector<std::pair<Cpu, Cpu>> ranges;
  for (std::size_t next = 0; next <= text.size();) {
    const std::size_t comma = std::min(text.find(',', next), text.size());
    const std::string_view part = text.substr(next, comma - next);
    const Mark here{at.line, at.column + static_cast<u32>(next)};
    const std::size_t dash = part.find('-', 1);
    const auto number = [&](std::string_view word) {
      return static_cast<Cpu>(parse_count(word, here, kMaxCpus - 1, "a CPU"));
    };
    const Cpu first = number(part.substr(0, dash));
    const Cpu last = dash == std::string_view::npos ? first : number(part.substr(dash + 1));
    if (last < first)
      throw StepTextError{here,
                          fmt::format("found '{}', expected an ascending range", shown_text(part))};
    ranges.emplace_back(first, last);
    next = comma + 1;
  }
  return ranges;
}

Step parse_step(std::string_view text, Mark at) {
  Words words(text, at);
  Step step;
  step.at = words.mark();
  if (words.done()) words.refuse(fmt::format("a step: {}", kSteps));
  const std::string_view name = words.peek();
  const auto found = std::find(kVerbNames.begin() + 3, kVerbNames.end(), name);
  if (found == kVerbNames.end()) words.refuse(fmt::format("a step: {}", kSteps));
  words.take();
  step.verb = static_cast<Verb>(found - kVerbNames.begin());
  take_arguments(words, step);
  return step;
}

Step parse_loop_head(std::string_view text, Mark at) {
  Words words(text, at);
  Step step;
  step.at = words.mark();
  if (words.take_if("repeat") || words.peek() == "measure") {
    step.verb = words.take_if("measure") ? Verb::kMeasure : Verb::kRepeat;
    step.count = take_number(words, kMaxRepeats, "a number of repeats");
    if (!words.done()) words.refuse("the end");
    return step;
  }
  if (!words.take_if("each") || !words.take_if("cpu"))
    words.refuse("a loop: each cpu, each cpu but LIST, each cpu of LIST, repeat N or measure N");
  step.verb = Verb::kEachCpu;
  if (words.take_if("but"))
    step.cpus.kind = CpuChoice::Kind::kAllBut;
  else if (words.take_if("of"))
    step.cpus.kind = CpuChoice::Kind::kOf;
  else if (!words.done())
    words.refuse("'but LIST', 'of LIST' or the end");
  if (step.cpus.kind != CpuChoice::Kind::kAll) {
    const Mark list = words.mark();
    step.cpus.ranges = parse_cpu_list(words.need("a list of CPUs"), list);
  }
  if (!words.done()) words.refuse("the end");
  return step;
}

std::string step_text(const Step& step) {
  std::string text{name_of(step.verb)};
  switch (step.verb) {
    case Verb::kEachCpu: {
      if (step.cpus.kind == CpuChoice::Kind::kAll) return text;
      text += step.cpus.kind == CpuChoice::Kind::kAllBut ? " but " : " of ";
      bool first = true;
      for (const auto& [low, high] : step.cpus.ranges) {
        if (!first) text += ',';
        first = false;
        text += low == high ? fmt::format("{}", low) : fmt::format("{}-{}", low, high);
      }
      return text;
    }
    case Verb::kRepeat:
    case Verb::kMeasure:
    case Verb::kTick: return text + fmt::format(" {}", step.count);
    case Verb::kOffline:
    case Verb::kOnline: return text + (step.cpu ? fmt::format(" {}", *step.cpu) : "");
    default: break;
  }
  if (!step.process.empty()) text += ' ' + step.process;
  switch (step.verb) {
    case Verb::kMprotect:
    case Verb::kMadvise:
    case Verb::kMunmap:
    case Verb::kMremap:
      text += fmt::format(" {} page{}", step.count, step.count == 1 ? "" : "s");
      if (step.freed_tables) text += " freeing tables";
      break;
    case Verb::kFlush:
      text += fmt::format(" {:#x} {:#x} stride {}", step.start, step.end, step.stride_shift);
      if (step.freed_tables) text += " freed_tables";
      break;
    case Verb::kFork: text += " as " + step.child; break;
    default: break;
  }
  if (step.va) text += fmt::format(" at {:#x}", *step.va);
  if (step.cpu) text += fmt::format(" on {}", *step.cpu);
  return text;
}

}  // namespace hvtlb
