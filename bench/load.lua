-- The requests of one run of wrk. Arguments: a file, kind of load, API key, API secret, and a number that no other run
-- has, so that users are new in every run. The file has a line for each
--
--   list    filter, a query string: asked for by a random user out of a billion
--   new     the same, but by a user never seen before, with four sub-IDs never seen before
--   click   link, its path, and after a tab the user agent that follows it
--   wall    path of a wall or its data, ending in the start of a user; each from an address of its own
--   token   path, asked for with the API key as a bearer token
--   report  offer, its id, completed by a user never seen before
local heads, tail = {}, nil
local kind, run
local count = 0

-- Joined here once: wrk shares the machine with the server, and what it spends the server lacks.
local function prepare(line, key, secret, host)
  if kind == 'click' then
    local path, agent = line:match('^(.-)\t(.*)$')
    return 'GET ' .. path .. ' HTTP/1.1\r\nHost: ' .. host .. '\r\nUser-Agent: ' .. agent .. '\r\nAccept: text/html\r\n\r\n'
  end
  if kind == 'token' then
    return 'GET ' .. line .. ' HTTP/1.1\r\nHost: ' .. host .. '\r\nAuthorization: Bearer ' .. key .. '\r\n\r\n'
  end
  if kind == 'wall' then return 'GET ' .. line end
  if kind == 'report' then return ',"offerId":' .. line .. '}' end
  return string.format('GET /api/v1/offers?apiKey=%s&apiSecret=%s&%s&userId=user-', key, secret, line)
end

function init(args)
  kind, run = args[2], args[5]
  math.randomseed(tonumber(run))
  local host = wrk.host .. ':' .. wrk.port
  for line in io.lines(args[1]) do heads[#heads + 1] = prepare(line, args[3], args[4], host) end
  tail = ' HTTP/1.1\r\nHost: ' .. host .. '\r\n\r\n'
  if kind == 'wall' then
    tail = ' HTTP/1.1\r\nHost: ' .. host .. '\r\nAccept-Encoding: gzip\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0\r\nX-Forwarded-For: '
  end
  if kind == 'report' then
    tail = 'POST /v1/conversions HTTP/1.1\r\nHost: ' .. host .. '\r\nX-API-Key: ' .. args[3] .. '\r\nX-API-Secret: ' ..
      args[4] .. '\r\nContent-Type: application/json\r\nContent-Length: '
  end
end

function request()
  local head = heads[math.random(#heads)]
  if kind == 'click' or kind == 'token' then return head end
  if kind == 'wall' then
    local n = math.random(16000000)
    return head .. math.random(1000000000) .. tail .. '11.' .. n % 251 .. '.' .. math.floor(n / 251) % 251 .. '.' .. math.floor(n / 63001) % 251 .. '\r\n\r\n'
  end
  if kind == 'list' then return head .. math.random(1000000000) .. tail end
  count = count + 1
  local id = run .. '-' .. count
  if kind == 'report' then
    local body = '{"userId":"user-' .. id .. '"' .. head
    return tail .. #body .. '\r\n\r\n' .. body
  end
  return head .. id .. '&aff_sub=a' .. id .. '&aff_sub2=b' .. id .. '&aff_sub3=c' .. id .. '&aff_sub4=d' .. id .. tail
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"micros":%d,"bytes":%d,"refused":%d,"broken":%d,"p50Micros":%d,"p99Micros":%d}\n',
    summary.requests, summary.duration, summary.bytes, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
