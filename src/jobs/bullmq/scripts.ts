/** Lua text that Redis runs as one step. The first argument of each is the beginning of all keys. */
export type JobScript = string;

/**
 * Keys, behind the beginning: `job:<id>` is a hash of version, record (JSON), kind, state, ticket (the id of the job's
 * BullMQ job), result (the key of its result, behind the beginning) and parent (the ticket of the job that waits for it, or
 * ""); `order` has the ids of all jobs by age, `open` those that are waiting or running and finished children whose
 * parent is, `finished` the others by their end; `version` is the last version given; `lease:<id>` names who holds a job.
 */
export const jobScripts = {
  /**
   * Writes a record when it still has the expected version, and forgets finished jobs that are too many or too old.
   * Arguments: id, record, expected version (0: none), kind, state, order, ticket, result key or "", ticket of the
   * parent or "", end in ms or "" for an open job and for a child that is kept, now, how long and how many finished jobs are kept. Result: the new version, or nil.
   */
  write: `
local base, id, record, expected, kind, state, order, ticket, result, parent = unpack(ARGV, 1, 10)
local finishedAt, now, keepMs, keep = ARGV[11], tonumber(ARGV[12]), tonumber(ARGV[13]), tonumber(ARGV[14])
local key = base .. 'job:' .. id
if (redis.call('HGET', key, 'version') or '0') ~= expected then return false end
-- A Redis that lost its data must not give a version again that somebody still holds.
redis.call('SET', base .. 'version', string.format('%.0f', now * 1000), 'NX')
local version = redis.call('INCR', base .. 'version')
redis.call('HSET', key, 'version', version, 'record', record, 'kind', kind, 'state', state, 'ticket', ticket,
  'result', result, 'parent', parent)
redis.call('ZADD', base .. 'order', order, id)
if finishedAt == '' then
  redis.call('PERSIST', key)
  if result ~= '' then redis.call('PERSIST', base .. result) end
  redis.call('ZADD', base .. 'open', order, id)
  redis.call('ZREM', base .. 'finished', id)
  return version
end
redis.call('PEXPIRE', key, keepMs)
if result ~= '' then redis.call('PEXPIRE', base .. result, keepMs) end
redis.call('ZREM', base .. 'open', id)
redis.call('ZADD', base .. 'finished', finishedAt, id)
local old = redis.call('ZRANGEBYSCORE', base .. 'finished', '-inf', string.format('%.0f', now - keepMs), 'LIMIT', 0, 50)
if #old == 0 then
  local surplus = redis.call('ZCARD', base .. 'finished') - keep
  if surplus > 0 then old = redis.call('ZRANGE', base .. 'finished', 0, math.min(surplus, 50) - 1) end
end
for _, gone in ipairs(old) do
  local held = redis.call('HGET', base .. 'job:' .. gone, 'result')
  if held and held ~= '' then redis.call('DEL', base .. held) end
  redis.call('DEL', base .. 'job:' .. gone)
  redis.call('ZREM', base .. 'finished', gone)
  redis.call('ZREM', base .. 'order', gone)
end
return version`,

  /** Arguments: id. Result: record and version, or nil. */
  read: `
local held = redis.call('HMGET', ARGV[1] .. 'job:' .. ARGV[2], 'record', 'version')
if not held[1] then return false end
return held`,

  /** Arguments: id, ticket. Result: 1 when the job with this ticket is open, otherwise 0. */
  isOpen: `
local held = redis.call('HMGET', ARGV[1] .. 'job:' .. ARGV[2], 'ticket', 'state')
return held[1] == ARGV[3] and (held[2] == 'waiting' or held[2] == 'running') and 1 or 0`,

  /**
   * Looks through jobs from the newest on. Arguments: how many are passed over, how many are looked at, how many are
   * wanted, kind or "", state or "". Result: how many were looked at, then records.
   */
  list: `
local base, from, look, wanted, kind, state = unpack(ARGV, 1, 6)
local ids = redis.call('ZREVRANGE', base .. 'order', from, from + look - 1)
local found = {0}
for _, id in ipairs(ids) do
  if #found > tonumber(wanted) then break end
  found[1] = found[1] + 1
  local held = redis.call('HMGET', base .. 'job:' .. id, 'kind', 'state')
  if held[1] and (kind == '' or kind == held[1]) and (state == '' or state == held[2]) then
    table.insert(found, redis.call('HGET', base .. 'job:' .. id, 'record'))
  end
end
return found`,

  /**
   * Jobs that are open, or kept for their parent. Arguments: how many are passed over, how many are looked at, beginning
   * of BullMQ's keys. Result: how many were looked at, then of each id, kind, and what it needs: `nothing`, a `ticket`,
   * a look at the `family` whose BullMQ jobs its own one waits for, or an end as an `orphan` that no parent waits for.
   */
  open: `
local base, from, look, kinds = unpack(ARGV, 1, 4)
local function isOpen(state) return state == 'waiting' or state == 'running' end
local function needOf(kind, ticket, state, parent)
  if parent and parent ~= '' then
    local held = redis.call('HMGET', base .. 'job:' .. string.match(parent, '^(.*)~'), 'ticket', 'state')
    if held[1] ~= parent or not isOpen(held[2]) then return 'orphan' end
  end
  if not isOpen(state) then return 'nothing' end
  local queue = kinds .. ':' .. kind .. ':'
  if redis.call('EXISTS', queue .. ticket) == 0 then return 'ticket' end
  if redis.call('ZSCORE', queue .. 'waiting-children', ticket) then return 'family' end
  return 'nothing'
end
local ids = redis.call('ZRANGE', base .. 'open', from, from + look - 1)
local found = {#ids}
for _, id in ipairs(ids) do
  local held = redis.call('HMGET', base .. 'job:' .. id, 'kind', 'ticket', 'state', 'parent')
  if held[1] then
    table.insert(found, id)
    table.insert(found, held[1])
    table.insert(found, needOf(unpack(held, 1, 4)))
  end
end
return found`,

  /**
   * BullMQ jobs that wait for children on behalf of a job that has ended. Arguments: beginning of BullMQ's keys of the
   * kind, how many are looked at. Result: their ids.
   */
  strays: `
local base, queue, look = unpack(ARGV, 1, 3)
local strays = {}
for _, ticket in ipairs(redis.call('ZRANGE', queue .. ':waiting-children', 0, look - 1)) do
  local held = redis.call('HMGET', base .. 'job:' .. (string.match(ticket, '^(.*)~') or ''), 'ticket', 'state')
  if held[1] ~= ticket or (held[2] ~= 'waiting' and held[2] ~= 'running') then table.insert(strays, ticket) end
end
return strays`,

  /** Arguments: ids. Result: the version of each, 0 for none. */
  versions: `
local found = {}
for index = 2, #ARGV do
  found[index - 1] = tonumber(redis.call('HGET', ARGV[1] .. 'job:' .. ARGV[index], 'version') or 0)
end
return found`,

  /** Arguments: name, holder, ms. Result: 1 when the holder has it now, 0 when somebody else has. */
  acquire: `
local key = ARGV[1] .. 'lease:' .. ARGV[2]
local holder = redis.call('GET', key)
if holder and holder ~= ARGV[3] then return 0 end
redis.call('SET', key, ARGV[3], 'PX', ARGV[4])
return 1`,

  /** Arguments: name, holder. */
  release: `
local key = ARGV[1] .. 'lease:' .. ARGV[2]
if redis.call('GET', key) == ARGV[3] then redis.call('DEL', key) end
return 1`,

  /** Arguments: key behind the beginning, value, ms. */
  keep: `
redis.call('SET', ARGV[1] .. ARGV[2], ARGV[3], 'PX', ARGV[4])
return 1`,

  /** Arguments: key behind the beginning. Result: the value, or nil. */
  value: `return redis.call('GET', ARGV[1] .. ARGV[2])`,

  /** Arguments: key behind the beginning. */
  forget: `return redis.call('DEL', ARGV[1] .. ARGV[2])`,

  /** The life of this database: a value that is other after all data were lost. Arguments: a new such value. */
  life: `
redis.call('SET', ARGV[1] .. 'life', ARGV[2], 'NX')
return redis.call('GET', ARGV[1] .. 'life')`,

  /** Arguments: name of a schedule. Result: id of the job of its last turn, or nil. */
  lastTurn: `return redis.call('HGET', ARGV[1] .. 'turns', ARGV[2])`,

  /** Arguments: name of a schedule, id of the job of its last turn or "". */
  tookTurn: `
if ARGV[3] == '' then return redis.call('HDEL', ARGV[1] .. 'turns', ARGV[2]) end
return redis.call('HSET', ARGV[1] .. 'turns', ARGV[2], ARGV[3])`,
} as const satisfies Record<string, JobScript>;

/** Name of a script. */
export type JobScriptName = keyof typeof jobScripts;
