-- The requests of one run of wrk. Arguments: file with one filter (a query string) a line, kind of load, API key, API
-- secret, and a number that no other run has, so that users are new in every run.
--
--   list  a random user out of a billion, a random filter
--   new   the same, but a user never seen before, with four sub-IDs never seen before
local heads, tail = {}, nil
local kind, run
local count = 0

function init(args)
  kind, run = args[2], args[5]
  math.randomseed(tonumber(run))
  -- Joined here once: wrk shares the machine with the server, and what it spends the server lacks.
  for filter in io.lines(args[1]) do
    heads[#heads + 1] = string.format(
      'GET /api/v1/offers?apiKey=%s&apiSecret=%s&%s&userId=user-', args[3], args[4], filter)
  end
  tail = ' HTTP/1.1\r\nHost: ' .. wrk.host .. ':' .. wrk.port .. '\r\n\r\n'
end

function request()
  local head = heads[math.random(#heads)]
  if kind == 'list' then return head .. math.random(1000000000) .. tail end
  count = count + 1
  local id = run .. '-' .. count
  return head .. id .. '&aff_sub=a' .. id .. '&aff_sub2=b' .. id .. '&aff_sub3=c' .. id .. '&aff_sub4=d' .. id .. tail
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"micros":%d,"bytes":%d,"refused":%d,"broken":%d,"p50Micros":%d,"p99Micros":%d}\n',
    summary.requests, summary.duration, summary.bytes, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
