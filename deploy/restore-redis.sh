#!/bin/sh
# Replaces what is in the current folder, the data folder of a Redis that is not running, by a backup on standard input
# (made by: redis-cli --rdb -). A Redis with an append-only file reads that file only, so it is made from the backup here.
set -eu
# Where Redis answers while it does so.
port=${1:-6379}
unset REDISCLI_AUTH

cat >dump.rdb
if test "$(head -c 5 dump.rdb)" != REDIS; then
  rm -f dump.rdb
  echo "restore-redis: that is no backup of Redis" >&2
  exit 1
fi
rm -rf appendonlydir
redis-server --port "$port" --bind 127.0.0.1 --save "" --appendonly no --daemonize yes >/dev/null
until test "$(redis-cli -p "$port" ping)" = PONG; do sleep 1; done
redis-cli -p "$port" config set appendonly yes >/dev/null
until redis-cli -p "$port" info persistence | grep -q aof_rewrite_in_progress:0; do sleep 1; done
echo "restored $(redis-cli -p "$port" dbsize) keys"
redis-cli -p "$port" shutdown
rm -f dump.rdb
