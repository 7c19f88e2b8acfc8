/** A script that Redis runs as one step, sent by its hash once the server knows it. */
export interface RedisScript {
  /** The first arguments are this many keys. */
  readonly keys: number;
  readonly lua: string;
}

/**
 * Keys: document, index of keys, keys that expire, sequence.
 * Arguments: key, value, ttlMs or "", expected version or "", prefix of documents, channel of the key.
 * Gives the new version, or nil when the expected version did not hold. The index lists a document whose time is over
 * until a later put, or a listing, takes it out. An account that may not publish can write all the same.
 */
export const putScript: RedisScript = {
  keys: 4,
  lua: `
local held = redis.call('HGET', KEYS[1], 'version') or '0'
if ARGV[4] ~= '' and held ~= ARGV[4] then return false end
local version = redis.call('INCR', KEYS[4])
redis.call('HSET', KEYS[1], 'version', version, 'value', ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[3] == '' then
  redis.call('PERSIST', KEYS[1])
  redis.call('ZREM', KEYS[3], ARGV[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('ZADD', KEYS[3], string.format('%.0f', now + ARGV[3]), ARGV[1])
end
for _, key in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', string.format('%.0f', now), 'LIMIT', 0, 10)) do
  if redis.call('EXISTS', ARGV[5] .. key) == 0 then
    redis.call('ZREM', KEYS[2], key)
    redis.call('ZREM', KEYS[3], key)
  end
end
redis.pcall('PUBLISH', ARGV[6], version)
return version`,
};

/** Keys: document, index of keys, keys that expire. Arguments: key, expected version or "", channel. Gives 1 when it was there. */
export const deleteScript: RedisScript = {
  keys: 3,
  lua: `
local held = redis.call('HGET', KEYS[1], 'version')
if not held or (ARGV[2] ~= '' and held ~= ARGV[2]) then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.pcall('PUBLISH', ARGV[3], 0)
return 1`,
};

/**
 * Keys: index of keys. Arguments: lexicographic minimum and maximum, number of keys to look at, prefix of documents.
 * Gives the number of keys looked at, the last of them, then key, version and value of each document that is there.
 */
export const listScript: RedisScript = {
  keys: 1,
  lua: `
local keys = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])
local found = { #keys, keys[#keys] or '' }
for _, key in ipairs(keys) do
  local held = redis.call('HMGET', ARGV[4] .. key, 'version', 'value')
  if held[1] then
    found[#found + 1] = key
    found[#found + 1] = held[1]
    found[#found + 1] = held[2]
  else
    redis.call('ZREM', KEYS[1], key)
  end
end
return found`,
};

/** Keys: counter. Arguments: number to add, ttlMs or "". Gives the sum as text, or nil when it would not be exact. */
export const incrementScript: RedisScript = {
  keys: 1,
  lua: `
local held = redis.call('GET', KEYS[1])
if math.abs((held or 0) + ARGV[1]) > 9007199254740991 then return false end
redis.call('INCRBY', KEYS[1], ARGV[1])
if not held and ARGV[2] ~= '' then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return redis.call('GET', KEYS[1])`,
};

/** Keys: lease. Arguments: owner, ttlMs. Gives 1 when the owner holds it now. */
export const acquireScript: RedisScript = {
  keys: 1,
  lua: `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`,
};

/** Keys: lease. Arguments: owner. */
export const releaseScript: RedisScript = {
  keys: 1,
  lua: `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`,
};
