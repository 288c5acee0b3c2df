#include "embedding/work_team.h"

#include <algorithm>
#include <exception>

namespace latebind::embedding {

WorkTeam::~WorkTeam() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_came_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void WorkTeam::submit(Work& work, std::size_t pieces, std::size_t helpers_max) {
  {
    const std::lock_guard lock(mutex_);
    work.pieces_ = pieces;
    work.next_ = work.done_ = work.helpers_ = 0;
    work.helpers_max_ = std::min(helpers_max, pieces);
    works_.push_back(&work);
    // Enough for all works at one time: a later one must not wait for an earlier one while threads could be had.
    std::size_t wanted = 0;
    for (const Work* each : works_)
      wanted += each->helpers_max_;
    while (threads_.size() < std::min(wanted, threads_max_)) {
      try {
        threads_.emplace_back([this] { run(); });
      } catch (const std::exception&) {
        break;  // no thread or no memory for one: whoever waits does the work
      }
    }
  }
  work_came_.notify_all();
}

void WorkTeam::help(Work& work) {
  std::unique_lock lock(mutex_);
  run_pieces(work, lock);
}

void WorkTeam::finish(Work& work) {
  std::unique_lock lock(mutex_);
  if (threads_.empty()) run_pieces(work, lock);
  piece_done_.wait(lock, [&] { return work.done_ == work.pieces_ && work.helpers_ == 0; });
  std::erase(works_, &work);
}

void WorkTeam::abandon(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    work.done_ += work.pieces_ - work.next_;
    work.next_ = work.pieces_;
  }
  finish(work);
}

bool WorkTeam::is_done(const Work& work) const {
  const std::lock_guard lock(mutex_);
  return work.done_ == work.pieces_;
}

void WorkTeam::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    Work* work = nullptr;
    work_came_.wait(lock, [&] { return stopping_ || (work = next_work()) != nullptr; });
    if (work == nullptr) return;
    ++work->helpers_;
    run_pieces(*work, lock);
    --work->helpers_;
    piece_done_.notify_all();
  }
}

WorkTeam::Work* WorkTeam::next_work() {
  for (Work* work : works_) {
    if (work->next_ < work->pieces_ && work->helpers_ < work->helpers_max_) return work;
  }
  return nullptr;
}

void WorkTeam::run_pieces(Work& work, std::unique_lock<std::mutex>& lock) {
  while (work.next_ < work.pieces_) {
    const std::size_t piece = work.next_++;
    lock.unlock();
    work.run_piece(piece);
    lock.lock();
    ++work.done_;
    if (work.done_ == work.pieces_) piece_done_.notify_all();
  }
}

}  // namespace latebind::embedding
