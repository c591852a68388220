#include "pipeline/file_reader.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <weir/file_index.hpp>

#include "pipeline/byte_ledger.hpp"
#include "pipeline/file_bytes.hpp"
#include "pipeline/stage.hpp"

namespace weir::detail {
namespace {

constexpr std::size_t kSlots = 2 * std::size_t{LookAheadWindow::kMost};
constexpr std::uint64_t kMostBytesAhead = std::uint64_t{64} << 20U;
constexpr std::uint64_t kRingShare = 8;  ///< of the run's bytes that reads under way may hold: 1/8
constexpr std::uint64_t kWindowShare = 4;  ///< of the same for what is hinted: 1/4
constexpr unsigned kRingEntries = 64;
constexpr int kMostRings = 8;
constexpr std::uint32_t kTuneEvery = 16;      ///< files
constexpr Nanoseconds kLate = 50'000;         ///< a shorter wait is no more than the call
constexpr Nanoseconds kLateUntold = 500'000;  ///< the same with the copy in it
constexpr double kWorthATrial = 250e-6;       ///< seconds waited a file
constexpr double kOfUse = 0.8;                ///< a ring must shorten the waits to this share
constexpr std::uint64_t kTrialRounds = 2;
constexpr std::uint32_t kSpareDescriptors = 16;
constexpr Nanoseconds kMeasureEvery = 2'000'000;
constexpr int kCachedInARow = 32;

/// One thread's look at where bytes come from, see FileReader.
struct ThreadMeter {
  bool every_file = true;  ///< the disk gave something lately
  Nanoseconds measured = 0;
  Nanoseconds hinted = 0;
  std::optional<ThreadIo> io;  ///< before the next hint; none: not measured
  int cached_in_a_row = 0;

  void heard(bool from_disk) {
    cached_in_a_row = from_disk ? 0 : cached_in_a_row + 1;
    if (from_disk)
      every_file = true;
    else if (cached_in_a_row >= kCachedInARow)
      every_file = false;
  }
};

ThreadMeter& meter_of_this_thread() {
  thread_local ThreadMeter meter;
  return meter;
}

/// Which of several rings the calling thread uses: threads are numbered as they come.
std::size_t number_of_this_thread() {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

/// One file between hint and read.
struct alignas(64) FileReader::Slot {
  std::atomic<bool> used{false};
  int descriptor = -1;
  bool from_disk = false;
  Nanoseconds hinted = 0;
  // Under way in a ring, where `ring` is set.
  ReadRing* ring = nullptr;
  Buffer buffer;
  std::size_t size = 0;  ///< that the file seemed to have
  std::uint64_t charged_bytes = 0;
  ReadRing::Operation operation;
};

FileReader::FileReader(std::shared_ptr<const FileIndex> index, std::shared_ptr<Storage> storage,
                       LookAheadSettings settings)
    : index_(std::move(index)),
      storage_(std::move(storage)),
      settings_(std::move(settings)),
      slots_([] {
        std::vector<std::unique_ptr<Slot>> slots;
        for (std::size_t i = 0; i < kSlots; ++i) slots.push_back(std::make_unique<Slot>());
        return slots;
      }()) {
  bound_descriptors();
  const MutexLock lock(tuning_);
  rings_are_out_ = settings_.reader == Reader::pread;
  if (settings_.reader == Reader::io_uring && open_rings())
    in_rings_.store(true, std::memory_order_release);
  window_.store(std::min(tuner_.files(), most_open_.load(std::memory_order_relaxed)),
                std::memory_order_relaxed);
}

FileReader::~FileReader() = default;

void FileReader::say(const std::string& text) const {
  if (settings_.say) settings_.say(text);
}

bool FileReader::open_rings() {
  std::string refusal;
  const int count = std::clamp(settings_.workers, 1, kMostRings);
  while (static_cast<int>(rings_.size()) < count) {
    std::unique_ptr<ReadRing> ring = storage_->open_ring(kRingEntries, refusal);
    // Some are as good as all: threads share them.
    if (ring == nullptr) break;
    rings_.push_back(std::move(ring));
  }
  if (!rings_.empty()) return true;
  rings_are_out_ = true;
  say("reader: io_uring is not to be had here (" + refusal + "); goes on with pread");
  return false;
}

void FileReader::bound_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  std::uint64_t open = 0;
  std::error_code unknown;
  for (std::filesystem::directory_iterator it("/proc/self/fd", unknown), end; !unknown && it != end;
       it.increment(unknown))
    ++open;
  open -= std::min<std::uint64_t>(open, open_.load(std::memory_order_relaxed));
  const std::uint64_t taken = open + kSpareDescriptors;
  const std::uint64_t left = limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
  // Half of what is left: others in the process want to open files, too.
  most_open_.store(
      static_cast<std::uint32_t>(std::min<std::uint64_t>(left / 2, LookAheadWindow::kMost)),
      std::memory_order_relaxed);
}

int FileReader::take_slot() {
  // Slots are freed about in the order in which they are taken, so the next one is nearly always
  // free.
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    const std::size_t at = next_slot_.fetch_add(1, std::memory_order_relaxed) % kSlots;
    bool expected = false;
    // Acquires what its last owner did with it.
    if (slots_[at]->used.compare_exchange_strong(expected, true, std::memory_order_acquire))
      return static_cast<int>(at);
  }
  return kNoTicket;
}

void FileReader::free_slot(Slot& slot) {
  if (slot.ring != nullptr) {
    slot.ring->wait(slot.operation);
    slot.ring = nullptr;
    slot.buffer.reset();
  }
  if (slot.charged_bytes > 0) {
    ring_bytes_.fetch_sub(slot.charged_bytes, std::memory_order_relaxed);
    if (settings_.ledger != nullptr) settings_.ledger->release(slot.charged_bytes);
    slot.charged_bytes = 0;
  }
  ::close(std::exchange(slot.descriptor, -1));
  open_.fetch_sub(1, std::memory_order_relaxed);
  slot.used.store(false, std::memory_order_release);
}

void FileReader::forget(int ticket) { free_slot(*slots_[static_cast<std::size_t>(ticket)]); }

void FileReader::begin_hints() {
  ThreadMeter& meter = meter_of_this_thread();
  meter.hinted = monotonic_now();
  meter.io = read_io_if_due();
}

void FileReader::measure_hint(Slot& slot) {
  ThreadMeter& meter = meter_of_this_thread();
  slot.from_disk = false;
  if (!meter.io) return;
  const std::uint64_t before = meter.io->disk_bytes;
  meter.io = count_disk_since(*meter.io);
  slot.from_disk = meter.io->disk_bytes > before;
}

int FileReader::hint(std::uint64_t sample_id) {
  // A file that is not closed yet counts, so that the bound holds whatever workers do at once.
  const std::uint32_t open = open_.fetch_add(1, std::memory_order_relaxed) + 1;
  const int ticket = open > most_open_.load(std::memory_order_relaxed) ? kNoTicket : take_slot();
  if (ticket == kNoTicket) {
    open_.fetch_sub(1, std::memory_order_relaxed);
    return kNoTicket;
  }
  Slot& slot = *slots_[static_cast<std::size_t>(ticket)];
  // As FileIndex::path() has it, but in memory of the worker's: no allocation a file.
  thread_local std::string path;
  const std::string_view name = index_->relative(sample_id);
  path.clear();
  if (!name.starts_with('/')) {
    path = index_->root();
    if (!path.ends_with('/')) path.push_back('/');
  }
  path.append(name);
  slot.descriptor = storage_->open(path.c_str());
  if (slot.descriptor < 0) {
    // A failure is not lost: without a ticket the read opens the file and reports it.
    if (errno == EMFILE || errno == ENFILE) most_open_.store(open / 2, std::memory_order_relaxed);
    open_.fetch_sub(1, std::memory_order_relaxed);
    slot.used.store(false, std::memory_order_release);
    return kNoTicket;
  }
  std::uint32_t peak = peak_open_.load(std::memory_order_relaxed);
  while (open > peak && !peak_open_.compare_exchange_weak(peak, open, std::memory_order_relaxed)) {
  }
  slot.hinted = meter_of_this_thread().hinted;
  if (!in_rings_.load(std::memory_order_acquire) || !start_in_ring(slot))
    storage_->will_need(slot.descriptor);
  measure_hint(slot);
  return ticket;
}

bool FileReader::start_in_ring(Slot& slot) {
  struct stat status {};
  if (::fstat(slot.descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  slot.size = static_cast<std::size_t>(status.st_size);
  const std::uint64_t bytes = slot.size + 1;  // See buffer_for().
  std::uint64_t most = kMostBytesAhead;
  if (settings_.ledger != nullptr) most = std::min(most, settings_.ledger->bound() / kRingShare);
  if (ring_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > most ||
      (settings_.ledger != nullptr && !settings_.ledger->reserve(bytes, true, false))) {
    ring_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  slot.charged_bytes = bytes;
  ReadRing& ring = *rings_[number_of_this_thread() % rings_.size()];
  try {
    slot.buffer = buffer_for(slot.size);
    if (ring.start(slot.operation, slot.descriptor, slot.buffer.data(), bytes)) {
      slot.ring = &ring;
      return true;
    }
  } catch (const std::bad_alloc&) {
    // The read itself needs as much and says so if there is none by then.
  }
  slot.buffer.reset();
  ring_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (settings_.ledger != nullptr) settings_.ledger->release(bytes);
  slot.charged_bytes = 0;
  return false;
}

void FileReader::make(std::uint64_t sample_id, int ticket, SlotHeader* out) {
  // The listing's pointer that keeps the reader alive, so that a path costs one count.
  static_cast<detail::Slot<Path>*>(out)->emplace(
      std::shared_ptr<const FileIndex>(shared_from_this(), index_.get()), sample_id, ticket, this);
}

Buffer FileReader::read(const Path& path, int ticket) {
  Buffer bytes;
  if (ticket != kNoTicket) {
    Slot& slot = *slots_[static_cast<std::size_t>(ticket)];
    struct Free {
      FileReader* reader;
      Slot* slot;
      ~Free() { reader->free_slot(*slot); }
    } const free{this, &slot};
    bytes = slot.ring != nullptr ? read_hinted(slot) : read_from(slot.descriptor, &slot);
  } else {
    const std::string name = path.string();
    const int descriptor = storage_->open(name.c_str());
    if (descriptor < 0) refuse_open(name, errno);
    const OwnDescriptor file(descriptor);
    bytes = read_from(descriptor, nullptr);
  }
  count(bytes.size());
  return bytes;
}

Buffer FileReader::read_hinted(Slot& slot) {
  if (!slot.operation.done.load(std::memory_order_acquire)) {
    const Nanoseconds began = monotonic_now();
    slot.ring->wait(slot.operation);
    count_wait(&slot, began, monotonic_now());
  }
  slot.ring = nullptr;
  Buffer buffer = std::move(slot.buffer);
  // What a ring could not do, whatever the reason, pread does or explains.
  std::size_t filled =
      slot.operation.result > 0 ? static_cast<std::size_t>(slot.operation.result) : 0;
  if (filled != slot.size || slot.operation.result < 0)
    filled = read_rest(*storage_, slot.descriptor, buffer, filled, slot.size);
  buffer.resize_within(filled);
  return buffer;
}

Buffer FileReader::read_from(int descriptor, const Slot* slot) {
  const std::size_t size = size_of(descriptor);
  Buffer buffer = buffer_for(size);
  // The hint has been charged with what it fetched; what it did not, this thread is charged with,
  // by the cached read already, which asks for what it does not find.
  const std::optional<ThreadIo> before =
      slot != nullptr && slot->from_disk ? std::nullopt : read_io_if_due();
  std::size_t filled = 0;
  bool told = cached_reads_.load(std::memory_order_relaxed);
  if (told) {
    const std::ptrdiff_t cached =
        storage_->read_cached(descriptor, buffer.data(), buffer.capacity());
    if (cached >= 0) {
      filled = static_cast<std::size_t>(cached);
    } else if (errno != EAGAIN && errno != EINTR) {
      told = false;
      cached_reads_.store(false, std::memory_order_relaxed);
    }
  }
  if (filled < size || !told)
    filled = wait_for(descriptor, buffer, filled, size, told, slot);
  else if (filled > size)
    filled = read_rest(*storage_, descriptor, buffer, filled, size);
  buffer.resize_within(filled);
  if (before) count_disk_since(*before);
  return buffer;
}

std::size_t FileReader::wait_for(int descriptor, Buffer& buffer, std::size_t filled,
                                 std::size_t size, bool told, const Slot* slot) {
  if (told) meter_of_this_thread().every_file = true;
  const Nanoseconds began = monotonic_now();
  filled = read_rest(*storage_, descriptor, buffer, filled, size);
  const Nanoseconds ended = monotonic_now();
  if (ended - began > (told ? kLate : kLateUntold)) count_wait(slot, began, ended);
  return filled;
}

std::optional<ThreadIo> FileReader::read_io_if_due() {
  ThreadMeter& meter = meter_of_this_thread();
  if (!source_known_.load(std::memory_order_relaxed)) return std::nullopt;
  const Nanoseconds now = monotonic_now();
  if (!meter.every_file && now - meter.measured < kMeasureEvery) return std::nullopt;
  meter.measured = now;
  std::optional<ThreadIo> io = read_thread_io();
  if (!io) source_known_.store(false, std::memory_order_relaxed);
  return io;
}

ThreadIo FileReader::count_disk_since(const ThreadIo& before) {
  const ThreadIo now = read_thread_io().value_or(before);
  const std::uint64_t given = now.disk_bytes - before.disk_bytes;
  meter_of_this_thread().heard(given > 0);
  if (given > 0) {
    disk_files_.fetch_add(1, std::memory_order_relaxed);
    disk_bytes_.fetch_add(given, std::memory_order_relaxed);
  }
  return now;
}

void FileReader::count_wait(const Slot* slot, Nanoseconds began, Nanoseconds ended) {
  late_files_.fetch_add(1, std::memory_order_relaxed);
  waited_ns_.fetch_add(ended - began, std::memory_order_relaxed);
  if (slot != nullptr) hidden_ns_.fetch_add(began - slot->hinted, std::memory_order_relaxed);
}

void FileReader::count(std::uint64_t bytes) {
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if ((files_.fetch_add(1, std::memory_order_relaxed) + 1) % kTuneEvery == 0) tune();
}

void FileReader::tune() {
  if (!tuning_.try_lock()) return;  // Somebody else does it.
  LookAheadWindow::Round all;
  all.files = files_.load(std::memory_order_relaxed);
  all.bytes = bytes_.load(std::memory_order_relaxed);
  all.late_files = late_files_.load(std::memory_order_relaxed);
  all.hidden_seconds = 1e-9 * static_cast<double>(hidden_ns_.load(std::memory_order_relaxed));
  all.waited_seconds = 1e-9 * static_cast<double>(waited_ns_.load(std::memory_order_relaxed));
  LookAheadWindow::Round round;
  round.files = all.files - seen_.files;
  round.bytes = all.bytes - seen_.bytes;
  round.late_files = all.late_files - seen_.late_files;
  round.hidden_seconds = all.hidden_seconds - seen_.hidden_seconds;
  round.waited_seconds = all.waited_seconds - seen_.waited_seconds;
  seen_ = all;
  round.most_bytes = kMostBytesAhead;
  if (settings_.ledger != nullptr)
    round.most_bytes = std::min(round.most_bytes, settings_.ledger->bound() / kWindowShare);
  const std::uint32_t before = tuner_.files();
  round.most_open = most_open_.load(std::memory_order_relaxed);
  tuner_.add(round);
  if (tuner_.files() > before) bound_descriptors();
  window_.store(std::min(tuner_.files(), most_open_.load(std::memory_order_relaxed)),
                std::memory_order_relaxed);
  choose_backend();
  tuning_.unlock();
}

void FileReader::choose_backend() {
  if (settings_.reader != Reader::automatic || rings_are_out_) return;
  const double waited = tuner_.waited_a_file();
  if (!in_rings_.load(std::memory_order_relaxed)) {
    if (!tuner_.is_no_help() || waited < kWorthATrial || !open_rings()) return;
    waited_before_trial_ = waited;
    trial_began_ = tuner_.rounds();
    on_trial_ = true;
    tuner_.begin_anew();
    // Releases the rings to those who give hints.
    in_rings_.store(true, std::memory_order_release);
    return;
  }
  if (!on_trial_ || tuner_.rounds() < trial_began_ + kTrialRounds) return;
  on_trial_ = false;
  if (waited <= waited_before_trial_ * kOfUse) {
    say(
        fmt::format("reader: io_uring, since look-ahead hints did not hide the storage's latency: "
                    "{:.2f} ms waited a file, now {:.2f} ms",
                    waited_before_trial_ * 1e3, waited * 1e3));
    return;
  }
  rings_are_out_ = true;
  in_rings_.store(false, std::memory_order_release);
  tuner_.begin_anew();
}

ReadingSnapshot FileReader::snapshot() const {
  ReadingSnapshot now;
  now.backend = in_rings_.load(std::memory_order_relaxed) ? Reader::io_uring : Reader::pread;
  now.files = files_.load(std::memory_order_relaxed);
  now.bytes = bytes_.load(std::memory_order_relaxed);
  now.disk_files = disk_files_.load(std::memory_order_relaxed);
  now.disk_bytes = disk_bytes_.load(std::memory_order_relaxed);
  now.source_known = source_known_.load(std::memory_order_relaxed);
  now.late_files = late_files_.load(std::memory_order_relaxed);
  now.wait_seconds = 1e-9 * static_cast<double>(waited_ns_.load(std::memory_order_relaxed));
  now.window_files = window();
  now.open_files = open_.load(std::memory_order_relaxed);
  now.most_open_files = peak_open_.load(std::memory_order_relaxed);
  return now;
}

}  // namespace weir::detail
