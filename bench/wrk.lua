-- Each request carries a messageId of its own; the totals are printed as one line of JSON.
wrk.method = "POST"
local head, tail = os.getenv("BENCH_BODY_HEAD"), os.getenv("BENCH_BODY_TAIL")
local number = 0

function request()
  number = number + 1
  return wrk.format(nil, nil, nil, head .. number .. tail)
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"errors":%d,"seconds":%.6f,"p50_ms":%.4f,"p99_ms":%.4f}\n',
    summary.requests, e.connect + e.read + e.write + e.status + e.timeout,
    summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
