-- Load for `npm run bench -- proxy`: GET of a path, or of a path that is new with every request.
-- Arguments: the path; then, for new queries, a run number. "NEW" in the path is replaced by a number never used before.
local path, run
local count = 0

function init(args)
  path, run = args[1], args[2]
  fixed = wrk.format("GET", path)
end

function request()
  if run == nil then return fixed end
  count = count + 1
  return wrk.format("GET", (path:gsub("NEW", run .. string.format("%07d", count))))
end

-- One line of JSON; times in microseconds as wrk keeps them.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"bytes":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"failed":%d}\n',
    summary.requests, summary.bytes, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
