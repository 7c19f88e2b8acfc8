#!/usr/bin/env bash
# Virtuoso, version 7.2.5 (Debian: virtuoso-opensource-7-bin): FILTER(sameTerm(?o, a) || sameTerm(?o, b)) has no rows, although one of the two
# conditions holds and has its row when it stands alone. Needs Virtuoso (virtuoso-t and isql-vt), Python 3 and curl.
#
# Expected: a row for each condition that holds, as with "=". The value of "||" is true where one side is true (SPARQL 1.1 Query, section 17.2).
set -euo pipefail
export PATH="$PATH:/usr/sbin"
folder=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null; wait; fi; rm -rf "$folder"' EXIT
cd "$folder"
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
sql=$(free_port)
http=$(free_port)
cat >virtuoso.ini <<INI
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:$sql
DisableUnixSocket = 1
CaseMode = 2
DirsAllowed = .
[HTTPServer]
ServerPort = 127.0.0.1:$http
ServerRoot = .
INI
cat >data.nt <<'NT'
<urn:a> <urn:p> <urn:one> .
<urn:b> <urn:p> <urn:two> .
NT
virtuoso-t +configfile virtuoso.ini +foreground >server.txt 2>&1 &
server=$!
for _ in $(seq 600); do
  curl --silent --fail --output /dev/null "http://127.0.0.1:$http/sparql?query=ASK%7B%7D" && break
  sleep 0.5
done
isql-vt "127.0.0.1:$sql" dba dba EXEC="DB.DBA.TTLP_MT(file_open('data.nt'),'','urn:graph',0);" >load.txt
ask() {
  printf '%s: ' "$1"
  curl --silent --header 'accept: text/csv' --data-urlencode "query=SELECT ?s FROM <urn:graph> { ?s <urn:p> ?o FILTER($1) }" \
    "http://127.0.0.1:$http/sparql" | grep -c 'urn:' || true
}
seen=$(
  ask 'sameTerm(?o, <urn:one>)'
  ask 'sameTerm(?o, <urn:one>) || sameTerm(?o, <urn:two>)'
  ask '?o = <urn:one> || ?o = <urn:two>'
)
known='sameTerm(?o, <urn:one>): 1
sameTerm(?o, <urn:one>) || sameTerm(?o, <urn:two>): 0
?o = <urn:one> || ?o = <urn:two>: 2'
virtuoso-t -? 2>&1 | grep -m1 -i version || true
echo "expected: 1, 2, 2"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
