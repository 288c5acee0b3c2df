// RequestPool: a fixed number of warm vendor requests, handed out in order of arrival.
//
// Thread-safe. A Lease gives its request back on every path. A request whose run failed is dropped and made anew by the
// factory, so that the pool is never drained: when the factory fails, the place stays and the next checkout tries
// again. The pool must outlive its leases. Waiting in one pool never blocks another.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/result.h"

namespace latebind::core {

template <class Request>
class RequestPool {
 public:
  using Factory = std::function<Result<Request>()>;
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  class Lease {
   public:
    Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), request_(std::move(other.request_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_) pool_->give_back(broken_ ? std::nullopt : std::move(request_));
    }

    Request& operator*() { return *request_; }
    Request* operator->() { return &*request_; }
    // The request is not to be trusted any more: it is replaced instead of reused.
    void mark_broken() { broken_ = true; }
    // Takes the request out of the pool for good (a hung vendor call owns it now); a new one will be made in its place.
    Request release_broken() {
      broken_ = true;
      return std::move(*request_);
    }

   private:
    friend class RequestPool;
    Lease(RequestPool* pool, Request request) : pool_(pool), request_(std::move(request)) {}

    RequestPool* pool_;
    std::optional<Request> request_;
    bool broken_ = false;
  };

  // Makes no request yet; see warm(). `size` at least 1.
  RequestPool(std::size_t size, Factory factory) : factory_(std::move(factory)), places_(size ? size : 1) {
    idle_.resize(places_);
  }

  // Makes every request now, so that the first runs need not. Stops at the first failure.
  [[nodiscard]] Status warm() {
    std::vector<Lease> leases;
    for (std::size_t i = 0; i < places_; ++i) {
      auto lease = checkout({});
      if (!lease.ok()) return lease.status();
      leases.push_back(std::move(*lease));
    }
    return {};
  }

  // Waits its turn, at most until `deadline`: then kBusy. The factory's own error when a request can not be made.
  [[nodiscard]] Result<Lease> checkout(const Deadline& deadline) {
    std::optional<Request> request;
    {
      std::unique_lock lock(mutex_);
      const std::uint64_t ticket = next_ticket_++;
      waiting_.push_back(ticket);
      const auto my_turn = [&] { return !idle_.empty() && waiting_.front() == ticket; };
      bool got = true;
      if (deadline) {
        got = turn_.wait_until(lock, *deadline, my_turn);
      } else {
        turn_.wait(lock, my_turn);
      }
      std::erase(waiting_, ticket);
      if (!got) {
        turn_.notify_all();
        return Status(StatusCode::kBusy,
                      "all " + std::to_string(places_) + " requests of this model stayed busy until the deadline");
      }
      request = std::move(idle_.back());
      idle_.pop_back();
      if (!idle_.empty()) turn_.notify_all();
    }
    if (!request) {
      auto made = factory_();
      if (!made.ok()) {
        give_back(std::nullopt);
        return made.status();
      }
      request = *std::move(made);
    }
    return Lease(this, *std::move(request));
  }

  [[nodiscard]] std::size_t size() const { return places_; }
  [[nodiscard]] std::size_t idle() const {
    const std::lock_guard lock(mutex_);
    return idle_.size();
  }
  // Callers standing in the queue.
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

 private:
  void give_back(std::optional<Request> request) {
    {
      const std::lock_guard lock(mutex_);
      idle_.push_back(std::move(request));
    }
    turn_.notify_all();
  }

  const Factory factory_;
  const std::size_t places_;
  mutable std::mutex mutex_;
  std::condition_variable turn_;
  // Guarded by mutex_. An empty optional is a place whose request is still to be made.
  std::vector<std::optional<Request>> idle_;
  std::vector<std::uint64_t> waiting_;  // tickets in order of arrival
  std::uint64_t next_ticket_ = 0;
};

}  // namespace latebind::core
