/**
 * Habits of SQL, Cypher, Turtle and other languages, likeliest first. A rule has its kind, the clauses in which it holds (a
 * regular expression over `Stumble.clause`) and its explanation; below it, separated by three blanks, the text at the misfit
 * (`matches`) and its replacement (`written`), or the name of a function for cases that a pattern cannot express.
 */
export const dialectTable = String.raw`
prefix .*: A prefix is declared by PREFIX name: <namespace>, before the query and with nothing behind.
  prefixFirst
lateral .*: LATERAL is an extension of some engines; an endpoint gets it where its entry says fedway:rawQueries true.
  LATERAL -> LATERAL
type \{: The class of something is written ?x a :Class.
  IS|INSTANCE A|AN|OF pname|iri -> a $3   A|AN|ISA|IS|TYPE|INSTANCEOF|TYPEOF pname|iri -> a $2
  A pname , pname -> a $2 ; $4   A word -> a :$2
path \{.*: Paths are written with /, |, ^, +, * and ?.
  step { 2 } -> $1/$1   step { 3 } -> $1/$1/$1   step { 2 , 2 } -> $1/$1   step * 2 -> $1/$1   step { 0 , 1 } -> $1?
  step { 1 , 2 } -> ($1|$1/$1)   step { 1 , 3 } -> ($1|$1/$1|$1/$1/$1)   step { 1 , } -> $1+   step { 0 , } -> $1*
  step { 2 , } -> $1/$1+   step * 1 . .2 -> ($1|$1/$1)   step * 1 . .3 -> ($1|$1/$1|$1/$1/$1)   step * 1 . . -> $1+
  ( var ) - [ pname ] - > ( var ) -> $2 $6 $11   < - [ pname ] - -> ^$4   -? [ pname ] - > -> $3
  - > pname - > -> $3   step |||OR step -> $1|$3   step / / step -> $1/$4   pname|iri , pname|iri var -> $1|$3 $4
  step > step var -> $1/$3 $4   step / var -> $1 $3   step ^ -? number? -> ^$1   INVERSE args|pname|iri -> ^$2
  ~ pname -> ^$2   < - pname -> ^$3   +|* pname -> $2$1   step +|* +|* -> $1$2   / pname -> $2
  [|{|( step ,|OR|pipe step ]|}|) -> ($2|$4)   [|{ step ]|} -> ($2)
form |PREFIX|BASE: A query begins with SELECT, ASK, CONSTRUCT or DESCRIBE.
  MATCH|WHERE group RETURN|SELECT columns -> SELECT $4 WHERE $2
  MATCH args WHERE group RETURN columns -> SELECT $6 WHERE $4
  GET|FIND|SHOW|LIST|RETURN|FETCH var|*|DISTINCT -> SELECT $2   DISTINCT|UNIQUE SELECT -> SELECT DISTINCT
  word { SELECT columns WHERE? group } -> SELECT $4 WHERE $6   word SELECT|ASK|CONSTRUCT -> $2
form .*: The patterns of a query follow WHERE.
  SELECT|WHERE SELECT|WHERE -> $1   SELECT WHERE -> SELECT * WHERE   SELECT ALL WHERE|{ -> SELECT * $3
  ALL DISTINCT -> DISTINCT   SELECT ( * ) -> SELECT *   SELECT EXISTS -> ASK   ASK EXISTS|IF|FROM -> ASK
  ASK var WHERE|{ -> ASK $3   FROM|MATCH|IN|WITH group -> WHERE $2   FROM word ->
  FILTER args WHERE? { -> WHERE { FILTER$2   ASK|WHERE { WHERE group } -> $1 $4   { WHERE -> {
  CONSTRUCT GRAPH -> CONSTRUCT   CONSTRUCT args -> CONSTRUCT { {2} }
  CONSTRUCT triples WHERE -> CONSTRUCT { $2 } WHERE   ASK args -> ASK { {2} }
top SELECT: LIMIT at the end says how many rows are wanted.
  SELECT DISTINCT? TOP|FIRST number|args columns WHERE? group modifiers -> SELECT $2 $5 WHERE $7 $8 LIMIT $4
list (?:SELECT|GROUP|ORDER)\(?: Lists have neither commas nor brackets.
  (|[|{ var ,? var ,? var? )|]|} -> $2 $4 $6   (|[|{ var|word )|]|} -> ?2
list SELECT|GROUP|ORDER: Lists have neither commas nor brackets.
  , ->   AND ->   THEN BY? ->
distinct SELECT.*: DISTINCT stands behind SELECT, or in an aggregate: COUNT(DISTINCT ?x).
  SELECT DISTINCT aggregate ( DISTINCT? operand ) AS var -> SELECT ($3(DISTINCT $6) AS $9)
  SELECT DISTINCT aggregate ( DISTINCT? operand ) -> SELECT ($3(DISTINCT $6) AS ?new)
  aggregate ( UNIQUE operand -> $1(DISTINCT $4   aggregate DISTINCT operand -> $1(DISTINCT $3)
  COUNT_DISTINCT ( operand -> COUNT(DISTINCT $3   ( DISTINCT aggregate ( operand ) AS var ) -> ($3(DISTINCT $5) AS $8)
  ( DISTINCT var ) -> DISTINCT $3   ( DISTINCT var AS var ) -> DISTINCT ($3 AS $5)
  SELECT operand DISTINCT -> SELECT DISTINCT $2   UNIQUE -> DISTINCT
column SELECT: A computed column stands in brackets with its name: (COUNT(?x) AS ?n).
  aggregate ( operand AS var ) -> ($1($3) AS $5)   operand AS var|word|string|lang -> ($1 AS ?3)
  var = operand -> ($3 AS $1)   aggregate var -> ($1($2) AS ?new)   call -> ($1 AS ?new)
column (?:SELECT|ORDER|HAVING|GROUP)\(: A computed column stands in brackets with its name: (COUNT(?x) AS ?n).
  ( operand AS var , -> ($2 AS $4) (   ( operand AS var WHERE|{ -> ($2 AS $4) $5
  ( operand AS var|word|string ) -> ($2 AS ?4)   ( var AS operand ) -> ($4 AS $2)
  ( aggregate var AS var ) -> ($2($3) AS $5)   ( operand ) AS var|word|string -> ($2 AS ?5)
  ( call -? =|>? var ) -> ($2 AS $5)   ( var = operand ) -> ($4 AS $2)   ( var ) -> $2   ( operand ) -> ($2 AS ?new)
nested-aggregate .*: An aggregate of an aggregate takes the inner one from a subquery.
  nestedAggregate
count .*\(: COUNT takes one expression, or *.
  COUNT ( DISTINCT operand , operand -> COUNT(DISTINCT CONCAT(STR($4), " ", STR($6))
separator .*\(: A separator is named: GROUP_CONCAT(?x; SEPARATOR=", ").
  GROUP_CONCAT|GROUPCONCAT|STRING_AGG|LISTAGG ( DISTINCT? operand ;|,? word? =? string ) -> GROUP_CONCAT($3 $4; SEPARATOR=$8)
group-by .*: Beside an aggregate, each other variable of SELECT stands in GROUP BY.
  groupedBy
aggregate-in-filter .*: A condition on an aggregate stands in HAVING, behind the group.
  aggregateInFilter
order .*: A direction is written as a function: ORDER BY DESC(?x).
  operand ASC|DESC -> $2($1)   operand DESCENDING -> DESC($1)   operand ASCENDING -> ASC($1)   ASC|DESC var -> $1($2)
  ORDER|SORT ASC|DESC BY operand -> ORDER BY $2($4)   NULLS FIRST|LAST ->   ORDER|GROUP var -> $1 BY $2
  SORT|ORDERBY BY? -> ORDER BY   GROUPBY -> GROUP BY
order (?:ORDER|GROUP)\(?: A key that is computed stands in brackets: ORDER BY (?x + ?y).
  ( operand , operand ) -> $2 $4   BY operand -> BY ($2)
limit .*: Rows are cut by LIMIT and OFFSET.
  LIMIT number , number -> OFFSET $2 LIMIT $4   LIMIT|OFFSET number ,|ROWS|ROW ONLY? -> $1 $2
  LIMIT|OFFSET =|:|( number )? -> $1 $3   LIMIT|OFFSET string -> $1 {2}
  FETCH FIRST|NEXT number ROWS|ROW ONLY -> LIMIT $3   TOP|FIRST number -> LIMIT $2   SKIP number -> OFFSET $2
having HAVING.*: The condition of HAVING stands in brackets.
  HAVING group -> HAVING({2})   HAVING COUNT compares operand -> HAVING(COUNT(*) $3 $4)   unbracketedHaving
modifier .*: Behind the group stand GROUP BY, HAVING, ORDER BY, LIMIT and OFFSET, in this order.
  modifiersInOrder
end (?!SELECT|VALUES|\{)[^(]*: A query ends without a sign.
  ;|.|,|) ->   RETURN columns ->
braces .*: Patterns stand in braces: WHERE { ... }, OPTIONAL { ... }.
  EXISTS ( var ) -> BOUND($3)   WHERE|EXISTS|OPTIONAL|MINUS|UNION|OPT args|list -> $1 { {2} }   whereInBraces
  EXISTS|OPTIONAL|MINUS|UNION triples -> $1 { $2 }   OPTIONAL|MINUS MATCH|WHERE|ALL -> $1   OPT -> OPTIONAL
subquery \{\(?: A subquery stands in braces of its own: { SELECT ... }.
  ( SELECT columns WHERE? group ) -> { SELECT $3 WHERE $5 }
  SELECT columns WHERE? group modifiers .? -> { SELECT $2 WHERE $4 $5 }
  group UNION SELECT columns WHERE? group -> { $1 UNION { SELECT $4 WHERE $6 } }
subquery .*: A subquery stands in braces of its own: { SELECT ... }.
  FILTER ( var IN (|{ SELECT DISTINCT? var WHERE? group modifiers )|} ) -> { SELECT DISTINCT $8 WHERE $10 $11 } FILTER($3 = $8)
  FILTER ( var NOT IN (|{ SELECT DISTINCT? var WHERE? group modifiers )|} ) -> FILTER NOT EXISTS { { SELECT $9 WHERE $11 $12 } FILTER($3 = $9) }
  FILTER ( operand compares (? SELECT ( operand AS var ) WHERE? group modifiers )? ) -> { SELECT ($8 AS $10) WHERE $13 $14 } FILTER($3 $4 $10)
  FILTER ( operand compares (? SELECT call|var WHERE? group modifiers )? ) -> { SELECT ($7 AS ?new) WHERE $9 $10 } FILTER($3 $4 ?new)
join \{\(?: Patterns that share variables are joined: { ?a :p ?b . ?b :q ?c }.
  LEFT OUTER? JOIN group -> OPTIONAL $4   LEFT OUTER? JOIN triples -> OPTIONAL { $4 }
  INNER|CROSS|NATURAL|OUTER|FULL JOIN -> $.   JOIN|INTERSECT -> $.   group AND|,|&& group -> $1 $3
  ON condition -> FILTER($2)   ( triples ) ,|.? -> $2 .   ( term , term , term ) ,|.? -> $2 $4 $6 .
  [ var triples ] -> $2 $3 .
union \{\(?: Groups are put together by UNION and MINUS.
  UNION { group group } -> $3 UNION $4   group ,? OR|UNION||| ALL? group -> $1 UNION $5
  group UNION ALL? triples -> $1 UNION { $4 }   { triples UNION triples } -> { { $2 } UNION { $4 } }   EXCEPT -> MINUS
union \}: Groups are put together by UNION and MINUS.
  group UNION|MINUS group -> { $1 $2 $3 }
absent .*: FILTER NOT EXISTS { ... } finds what has no value.
  FILTER !|NOT|NOTEXISTS EXIST? group -> FILTER NOT EXISTS $4   FILTER ! EXISTS -> FILTER NOT EXISTS
  FILTER DOES NOT EXIST -> FILTER NOT EXISTS   UNLESS|NOT group -> FILTER NOT EXISTS $2
  .|{|} NOT? EXISTS group -> $1 FILTER $2 EXISTS $4   term term IS NULL -> FILTER NOT EXISTS { $1 $2 [] }
  term term IS NOT NULL -> $1 $2 []   { var pname|iri } -> { $2 $3 [] }
bind .*: A value is assigned by BIND(expression AS ?x).
  BIND|LET|SET ( var AS operand ) -> BIND($5 AS $3)   BIND ( operand ,|AS var|word ) -> BIND($3 AS ?5)
  BIND ( operand ) AS var -> BIND($3 AS $6)   BIND operand AS var -> BIND($2 AS $4)
  BIND|LET|SET ( var :? = operand ) -> BIND($6 AS $3)   LET|SET var = operand -> BIND($4 AS $2)
  var : = operand -> BIND($4 AS $1)   ( operand AS var ) -> BIND($2 AS $4)
bind \{\(?: A value is assigned by BIND(expression AS ?x).
  operand AS var -> $. BIND($1 AS $3)
values (?:VALUES|\{).*: Data stand in VALUES ?x { 1 2 } or VALUES (?x ?y) { (1 2) (3 4) }.
  VALUES ( var ) { -> VALUES $3 {   VALUES { var -> VALUES $3 {   VALUES var var -> VALUES ($2 $3)
  VALUES var =|IN group -> VALUES $2 $4   VALUES var =|IN? args|list -> VALUES $2 { {4} }   VALUES args args -> VALUES $2 { {3} }
  VALUES var term term? term? term? .? -> VALUES $2 { $3 $4 $5 $6 }   .|{ var IN group -> $1 VALUES $2 $4
values VALUES.*: Data stand in VALUES ?x { 1 2 } or VALUES (?x ?y) { (1 2) (3 4) }, without commas.
  , ->   ( term ) -> $2
bind \{: A value is assigned by BIND(expression AS ?x).
  group|.|{ var = operand -> $1 BIND($4 AS $2)
filter \{\(?: A condition stands in FILTER( ... ).
  .|}|{ args -> $1 FILTER$2   term term var AND? compares operand -> $1 $2 $3 . FILTER($3 $5 $6)
  ;|, term var compares operand -> $1 $2 $3 . FILTER($3 $4 $5)   term term = term -> $1 $2 $4
  ;|, term = term -> $1 $2 $4   term pname|iri compares operand -> $1 $2 ?new . FILTER(?new $3 $4)
  ;|, pname|iri compares operand -> $1 $2 ?new . FILTER(?new $3 $4)   group|args|.|{ comparison -> $1 FILTER($2)
  ;|,|AND|WHERE|ON|OR|&& comparison -> $. FILTER($2)   ;|, var = operand -> $. FILTER($2 = $4)
filter .*: The condition of FILTER stands in brackets.
  FILTER group|list -> FILTER({2})   FILTER args AND|&& FILTER? condition -> FILTER($2 && $5)
  FILTER args OR||| FILTER? condition -> FILTER($2 || $5)   FILTER ( condition }|FILTER -> FILTER($3) $4
  FILTER args ) -> FILTER$2   FILTER condition -> FILTER($2)
filter \}|GROUP|ORDER|LIMIT|HAVING|SELECT: Conditions on patterns stand in the group, those on groups in HAVING.
  backInGroup
dot \{: Patterns are separated by dots, properties of one subject by semicolons.
  ,|; ,|;|. -> ;   . . .? -> .   ;|, FILTER|OPTIONAL|BIND|VALUES|MINUS -> $. $2   , term term term -> $. $2 $3 $4
  ; var term term -> $. $2 $3 $4   , pname|iri term -> ; $2 $3   pipe|AND|WHERE|&&|MATCH||| -> $.   ; -> $.
equals .*\(: Values are compared by =, !=, <=, >= and REGEX.
  = = =? -> =   <>|≠|~= -> !=   < > -> !=   ~|!|NOT = -> !=   != = -> !=   = < -> <=   = > -> >=   > = -> >=
  : = -> =   EQUALS|EQ -> =   operand =? ~ *? string -> REGEX(STR($1), $5)
null .*\(: An unbound variable is found by !BOUND(?x).
  var IS NOT NULL|NONE|UNDEF -> BOUND($1)   var IS NULL|NONE|UNDEF|UNBOUND -> (!BOUND($1))
  var = =? NULL|NONE|UNDEF -> (!BOUND($1))   var !=|<>|IS BOUND|NULL|NONE|UNDEF -> BOUND($1)
  ISNULL ( var ) -> (!BOUND($3))   ISNULL ( operand , operand ) -> COALESCE($3, $5)
  operand ? ? operand -> COALESCE($1, $4)   BOUND var -> BOUND($2)
between .*\(: A range is two comparisons: ?x >= 1 && ?x <= 5.
  operand NOT BETWEEN operand AND operand -> ($1 < $4 || $1 > $6)
  operand BETWEEN (? operand AND|TO|, operand )? -> ($1 >= $4 && $1 <= $6)
  BETWEEN ( operand , operand , operand ) -> ($3 >= $5 && $3 <= $7)
  operand <|<= operand <|<= operand -> ($1 $2 $3 && $3 $4 $5)
  operand compares operand AND|&&|OR compares operand -> $1 $2 $3 $4 $1 $5 $6
  operand = term OR term -> $1 IN ($3, $5)   operand = ( term OR term ) -> $1 IN ($4, $6)
and .*\(: Conditions are joined by && and ||, negated by !.
  ( condition , condition ) -> ($2 && $4)   & -> &&   | -> ||
like .*\(: Patterns of texts are CONTAINS, STRSTARTS, STRENDS and REGEX.
  like   LIKE ( operand , string ) -> $3 LIKE $5   operand REGEXP|RLIKE|MATCHES string -> REGEX(STR($1), $3)
  operand REGEX args -> REGEX(STR($1), {3})   operand CONTAINS operand -> CONTAINS(STR($1), $3)
  operand STARTS WITH operand -> STRSTARTS(STR($1), $4)   operand STARTSWITH operand -> STRSTARTS(STR($1), $3)
  operand ENDS WITH operand -> STRENDS(STR($1), $4)   operand ENDSWITH operand -> STRENDS(STR($1), $3)
  string IN operand -> CONTAINS(STR($3), $1)
in .*\(: A set is written in round brackets: ?x IN (1, 2).
  NOT IN ( operand , term , term ) -> ($4 NOT IN ($6, $8))   IN ( operand , args ) -> $3 IN $5
  IN group|list -> IN ({2})   IN string|var|number , term -> IN ($2, $4)   IN string|var|number -> IN ($2)
  ( term term ) -> ($2, $3)
and .*: Conditions are joined by && and ||, negated by !.
  FILTER NOT test -> FILTER(!($3))
and .*\(: Conditions are joined by && and ||, negated by !.
  AND -> &&   OR -> ||   IS NOT operand -> != $3   IS operand -> = $2   NOT test -> !($2)
function .*: SPARQL has this function in another form.
  var . word ( operand ) -> $3($1, $5)   var . word (? )? -> $3($1)   CONVERT ( word , operand ) -> CAST($5 AS $3)
  CAST ( operand AS pname|iri ) -> $5($3)   CAST ( operand AS INT|INTEGER|BIGINT|SIGNED|UNSIGNED ) -> xsd:integer($3)
  CAST ( operand AS FLOAT|DOUBLE|REAL ) -> xsd:double($3)   CAST ( operand AS DECIMAL|NUMERIC ) -> xsd:decimal($3)
  CAST ( operand AS CHAR|VARCHAR|TEXT|STRING args? ) -> STR($3)   CAST ( operand AS DATE ) -> xsd:date($3)
  CAST ( operand AS DATETIME|TIMESTAMP ) -> xsd:dateTime($3)   INT|INTEGER|TOINTEGER ( -> xsd:integer(
  FLOAT|DOUBLE|DECIMAL ( -> xsd:double(   DATE|TO_DATE|TODATE ( -> xsd:date(   DATETIME|TIMESTAMP ( -> xsd:dateTime(
  LOWER|TOLOWER|TOLOWERCASE ( -> LCASE(   UPPER|TOUPPER|TOUPPERCASE ( -> UCASE(
  LENGTH|LEN|CHAR_LENGTH|STRLENGTH ( -> STRLEN(   SUBSTRING|MID ( -> SUBSTR(   CEILING ( -> CEIL(
  AVERAGE|MEAN ( -> AVG(   STRING|TOSTRING|TO_CHAR ( -> STR(   STARTSWITH|STARTS_WITH|STRSTART ( -> STRSTARTS(
  ENDSWITH|ENDS_WITH|STREND ( -> STRENDS(   STRCONTAINS|INCLUDES ( -> CONTAINS(   IFNULL|NVL ( -> COALESCE(
  IIF ( -> IF(   REGEXP_LIKE ( -> REGEX(   REGEXP_REPLACE ( -> REPLACE(   CONCATENATE ( -> CONCAT(
  LANGUAGE ( -> LANG(   GETYEAR ( -> YEAR(   GETDATE|CURRENT_TIMESTAMP ( -> NOW(
  LEFT ( operand , operand ) -> SUBSTR($3, 1, $5)
  SUBSTRING ( operand FROM operand FOR operand ) -> SUBSTR($3, $5, $7)
  MOD ( operand , operand ) -> ($3 - $5 * FLOOR($3 / $5))   operand % operand -> ($1 - $3 * FLOOR($1 / $3))
  POW|POWER ( operand , 2 ) -> ($3 * $3)   var * * 2 -> ($1 * $1)   var ^ 2 -> ($1 * $1)
  ROUND ( operand , number ) -> (ROUND($3 * 1e$5) / 1e$5)   TRIM ( operand ) -> REPLACE(STR($3), "^\\s+|\\s+$", "")
  EXTRACT ( word FROM operand ) -> $3($5)   DATE_PART|DATEPART ( word|string , operand ) -> $3($5)   MATH . ->
  NOW|CURRENT_TIMESTAMP|SYSDATE )|}|, -> NOW() $2   YEAR|MONTH|DAY|LANG|STR|STRLEN|UCASE|LCASE var -> $1($2)
  CONTAINS|REGEX|STRSTARTS var ,? string -> $1($2, $4)   FILTER REGEX var string string -> FILTER REGEX($3, $4, $5)
  CASE WHEN condition THEN operand ELSE operand END -> IF($3, $5, $7)
  CASE WHEN condition THEN operand WHEN condition THEN operand ELSE operand END -> IF($3, $5, IF($7, $9, $11))
  IF (? condition THEN operand ELSE operand )? -> IF($3, $5, $7)   condition ? operand : operand -> IF($1, $3, $5)
  operand IF condition ELSE operand -> IF($3, $1, $5)
literal .*: A literal has its language or datatype behind it: "2000-01-31"^^xsd:date, "Wien"@de.
  DATE string -> $2^^xsd:date   TIMESTAMP|DATETIME string -> $2^^xsd:dateTime   pname string -> $2^^$1
  string pname -> $1^^$2   string ^ pname -> $1^^$3   string ^^ word -> $1^^xsd:$3   string ^^|^ string -> $1^^{3}
  string ^^ lang -> $1$3   string @ word -> $1@$3   string @ string|iri -> $1@{3}   string [ word ] -> $1@$3
  word lang -> "$1"$2   TRUE|YES -> true   FALSE|NO -> false
name .*: Variables begin with ?, have no table in front, and texts stand in quotes.
  lang -> ?1   word . word pname|var|iri|word -> $1:$3 $4   word . word -> ?3   var . word -> ?3   word pname -> $1$2
  { word pname|iri -> { ?2 $3   pname|iri word .|;|}|, -> $1 "$2" $3   bareWord
quote .*: A text stands in quotes.
  missingQuote   unquoted
name SELECT|GROUP|ORDER: Variables begin with ?, have no table in front, and texts stand in quotes.
  string|word -> ?1
table SELECT: There are no tables: WHERE { ?x a :Class ; :property ?value } names classes and properties.
  word -> $1
dot \{: Patterns are separated by dots.
  pname|iri term ;|.|} -> ; $1 $2 $3   var -> $. $1   iri -> $. $1   pname -> $. $1
`;
