#include "fuzz/record_mutator.h"

#include <algorithm>
#include <random>

#include "fuzz/ops_input.h"

namespace hvtlb::fuzz {
namespace {

using Random = std::minstd_rand;
constexpr std::size_t kHeader = kRecordBytes;

std::size_t below(Random& random, std::size_t bound) {
  return random() % bound;
}
u8 any_byte(Random& random) {
  return static_cast<u8>(random() >> 8);
}

/// The records behind the header, which may grow up to `data.size()`.
class Records {
 public:
  Records(std::span<u8> data, std::size_t size)
      : data_(data), count_((size - kHeader) / kRecordBytes) {}

  std::size_t count() const { return count_; }
  std::size_t room() const { return (data_.size() - kHeader) / kRecordBytes - count_; }
  std::size_t bytes() const { return kHeader + count_ * kRecordBytes; }
  u8* at(std::size_t record) { return data_.data() + kHeader + record * kRecordBytes; }

  void open_gap(std::size_t record, std::size_t how_many) {
    std::copy_backward(at(record), at(count_), at(count_ + how_many));
    count_ += how_many;
  }
  void remove(std::size_t record, std::size_t how_many) {
    std::copy(at(record + how_many), at(count_), at(record));
    count_ -= how_many;
  }
  /// A copy of a run, put in front of `record`.
  void duplicate(std::size_t from, std::size_t how_many, std::size_t record) {
    u8 copy[kRun * kRecordBytes];
    std::copy(at(from), at(from + how_many), copy);
    open_gap(record, how_many);
    std::copy(copy, copy + how_many * kRecordBytes, at(record));
  }

  static constexpr std::size_t kRun = 8;  ///< the longest run that is handled as one

 private:
  std::span<u8> data_;
  std::size_t count_;
};

/// A byte of a record: anything, a neighbour of what it was, or what another record has there, so
/// that operations meet on a CPU and an mm.
void change_field(Records& records, std::size_t record, Random& random) {
  const std::size_t field = below(random, kRecordBytes);
  u8& byte = records.at(record)[field];
  switch (below(random, 4)) {
    case 0: byte = any_byte(random); break;
    case 1: byte ^= static_cast<u8>(1u << below(random, 8)); break;
    case 2: byte = static_cast<u8>(byte + (below(random, 2) == 0 ? 1 : 255)); break;
    default: byte = records.at(below(random, records.count()))[field]; break;
  }
}

void insert(Records& records, Random& random) {
  const std::size_t record = below(random, records.count() + 1);
  records.open_gap(record, 1);
  std::generate_n(records.at(record), kRecordBytes, [&] { return any_byte(random); });
  if (below(random, 2) == 0) return;
  // Often for a CPU and an mm that something happens to already.
  const u8* const other = records.at(below(random, records.count()));
  records.at(record)[1] = other[1];
  records.at(record)[2] = other[2];
}

void mutate_once(std::span<u8> data, Records& records, Random& random) {
  const std::size_t count = records.count();
  const std::size_t choice = below(random, 16);
  if (choice == 0) {
    data[below(random, kHeader)] = any_byte(random);
  } else if (count == 0 || (choice < 5 && records.room() != 0)) {
    if (records.room() != 0) insert(records, random);
  } else if (choice < 7) {
    const std::size_t from = below(random, count);
    records.remove(from, 1 + below(random, std::min(Records::kRun, count - from)));
  } else if (choice < 9 && records.room() != 0) {
    const std::size_t from = below(random, count);
    const std::size_t most = std::min({Records::kRun, count - from, records.room()});
    records.duplicate(from, 1 + below(random, most), below(random, count + 1));
  } else if (choice < 11) {
    u8* const one = records.at(below(random, count));
    u8* const other = records.at(below(random, count));
    if (one != other) std::swap_ranges(one, one + kRecordBytes, other);
  } else {
    change_field(records, below(random, count), random);
  }
}

}  // namespace

std::size_t mutate_records(std::span<u8> data, std::size_t size, unsigned seed) {
  Random random(seed);
  if (size < kHeader) {
    std::fill(data.begin() + static_cast<std::ptrdiff_t>(size), data.begin() + kHeader, u8{0});
    size = kHeader;
  }
  Records records(data, size);
  for (std::size_t times = 1 + below(random, 4); times != 0; --times)
    mutate_once(data, records, random);
  return records.bytes();
}

std::size_t cross_records(std::span<const u8> first, std::span<const u8> second, std::span<u8> out,
                          unsigned seed) {
  Random random(seed);
  const auto records_of = [](std::span<const u8> bytes) {
    return bytes.size() < kHeader ? 0 : (bytes.size() - kHeader) / kRecordBytes;
  };
  std::fill(out.begin(), out.begin() + kHeader, u8{0});
  std::copy_n(first.begin(), std::min(first.size(), kHeader), out.begin());
  std::size_t room = (out.size() - kHeader) / kRecordBytes;
  const std::size_t head = std::min(below(random, records_of(first) + 1), room);
  room -= head;
  const std::size_t from = below(random, records_of(second) + 1);
  const std::size_t tail = std::min(records_of(second) - from, room);
  auto to = out.begin() + kHeader;
  if (head != 0) to = std::copy_n(first.begin() + kHeader, head * kRecordBytes, to);
  if (tail != 0)
    std::copy_n(second.begin() + static_cast<std::ptrdiff_t>(kHeader + from * kRecordBytes),
                tail * kRecordBytes, to);
  return kHeader + (head + tail) * kRecordBytes;
}

}  // namespace hvtlb::fuzz
