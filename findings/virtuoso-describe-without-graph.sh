#!/usr/bin/env bash
# Virtuoso, version 7.2.5 (Debian: virtuoso-opensource-7-bin): DESCRIBE without FROM is empty for a resource that is no object of a triple and has no
# rdf:type, although it has triples. Needs Virtuoso (virtuoso-t and isql-vt), Python 3 and curl.
#
# Expected: triples in each answer. What a description holds is for the service to say (SPARQL 1.1 Query, section 16.4); this one says, when
# the only graph with data is named, that <urn:a> has a triple. Without FROM, Virtuoso looks for one graph in which the resource is an
# object or, where no resource of the query is, has a type, and describes from that alone (its procedure
# DB.DBA.SPARQL_DESC_DICT_SPO_PHYSICAL).
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
<urn:a> <urn:p> "plain" .
<urn:b> <urn:p> "an object" .
<urn:x> <urn:links> <urn:b> .
<urn:c> <urn:p> "typed" .
<urn:c> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C> .
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
  curl --silent --header 'accept: text/plain' --data-urlencode "query=$1" "http://127.0.0.1:$http/sparql" | grep -c '^<' || true
}
seen=$(
  ask 'DESCRIBE <urn:a>'
  ask 'DESCRIBE <urn:a> FROM <urn:graph>'
  ask 'define sql:describe-mode "CBD" DESCRIBE <urn:a>'
  ask 'DESCRIBE <urn:b>'
  ask 'DESCRIBE <urn:c>'
)
known='DESCRIBE <urn:a>: 0
DESCRIBE <urn:a> FROM <urn:graph>: 1
define sql:describe-mode "CBD" DESCRIBE <urn:a>: 1
DESCRIBE <urn:b>: 2
DESCRIBE <urn:c>: 2'
virtuoso-t -? 2>&1 | grep -m1 -i version || true
echo "expected: triples each time"
echo "seen:"
echo "$seen"
[ "$seen" = "$known" ] || { echo "This has changed." >&2; exit 1; }
