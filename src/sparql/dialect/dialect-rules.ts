import * as moves from "./moves.ts";
import { Stumble } from "./stumble.ts";
import { type Edit, type Mending, matches, written } from "./token-pattern.ts";
import * as words from "./words.ts";

/** A habit of another language, and how SPARQL writes the same. */
interface DialectRule {
  readonly kind: string;
  /** One sentence for the writer. */
  readonly why: string;
  readonly mend: Mending;
}

/**
 * What SQL, Turtle and other languages write, likeliest first. A rule has its kind, the clauses in which it holds (a regular
 * expression over `Stumble.clause`) and what to say; below it what stands at the misfit (`matches`) and what is written in its
 * place (`written`), or the name of a function for what a pattern cannot say.
 */
const table = String.raw`
local-name .*: In a local name #, / and brackets are escaped (:people\#name); a bare # begins a comment.
  hashInName
  localName
iri .*: An IRI stands between < and >.
  bareIri
quotes .*: Strings stand in " or ', variables begin with ?, and names have no quotation marks.
  foreignQuotes
comment .*: A comment begins with #.
  foreignComment
prefix .*: A prefix is declared by PREFIX name: <namespace>, with nothing behind.
  @@prefix pname iri . -> PREFIX $2 $3
  PREFIX pname iri @;|. -> PREFIX $2 $3
  PREFIX @word iri -> PREFIX $2: $3
  PREFIX pname @= iri -> PREFIX $2 $4
comma SELECT|GROUP|ORDER|VALUES: Lists have no commas.
  @, ->
top SELECT: LIMIT at the end says how many rows are wanted.
  topRows
distinct SELECT: DISTINCT stands behind SELECT, or in an aggregate: COUNT(DISTINCT ?x).
  SELECT DISTINCT @aggregate ( operand ) AS var -> SELECT ($3(DISTINCT $5) AS $8)
  SELECT DISTINCT @aggregate ( operand ) -> SELECT ($3(DISTINCT $5) AS ?new)
  @aggregate DISTINCT operand -> $1(DISTINCT $3)
  @aggregate var -> $1($2)
  SELECT operand @DISTINCT -> SELECT DISTINCT $2
distinct .*\(: DISTINCT stands behind SELECT, or in an aggregate: COUNT(DISTINCT ?x).
  aggregate @DISTINCT operand -> $1(DISTINCT $3)
  ( @DISTINCT var ) -> DISTINCT $3
column SELECT: A computed column stands in brackets with its name: (COUNT(?x) AS ?n).
  @aggregate ( operand AS var ) -> ($1($3) AS $5)
  @operand AS var|word|string -> ($1 AS ?3)
  operand @AS var|word|string -> ($1 AS ?3)
  operand @+|-|*|/ operand AS var -> ($1 $2 $3 AS $5)
  var @= operand -> ($3 AS $1)
  @call -> ($1 AS ?new)
column (?:SELECT|ORDER|HAVING|GROUP)\(: A computed column stands in brackets with its name: (COUNT(?x) AS ?n).
  ( var AS @operand ) -> ($4 AS $2)
  AS @word|string -> AS ?2
  ( word ( operand @AS var ) AS var ) -> ($2($4) AS $6)
  ( word ( operand @AS var ) ) -> ($2($4) AS $6)
  ( operand @) AS var -> ($2 AS $5)
  ( call @var ) -> ($2 AS $3)
  ( var = operand @) -> ($4 AS $2)
  ( call = var @) -> ($2 AS $4)
  ( var @) -> $2
  ( operand @) -> ($2 AS ?new)
nested-aggregate .*: An aggregate of an aggregate takes the inner one from a subquery.
  nestedAggregate
count .*\(: COUNT takes one expression, or *.
  COUNT ( @) -> COUNT(*)
  COUNT ( DISTINCT operand @, operand -> COUNT(DISTINCT CONCAT(STR($4), " ", STR($6))
separator .*\(: A separator is named: GROUP_CONCAT(?x; SEPARATOR=", ").
  GROUP_CONCAT ( operand @, string ) -> GROUP_CONCAT($3; SEPARATOR=$5)
  GROUP_CONCAT ( operand @SEPARATOR string ) -> GROUP_CONCAT($3; SEPARATOR=$5)
  @STRING_AGG|LISTAGG ( operand , string ) -> GROUP_CONCAT($3; SEPARATOR=$5)
group-by .*: Beside an aggregate, each other variable of SELECT stands in GROUP BY.
  groupedBy
aggregate-in-filter .*: A condition on an aggregate stands in HAVING, behind the group.
  aggregateInFilter
order ORDER|GROUP: A direction is written as a function: ORDER BY DESC(?x).
  operand ASC|DESC @ -> $2($1)
  ASC|DESC @var -> $1($2)
  @NULLS FIRST|LAST ->
  operand @+|-|*|/ operand -> ($1 $2 $3)
order .*: Rows are ordered by ORDER BY and grouped by GROUP BY.
  ORDER|GROUP @var -> $1 BY $2
  @SORT BY -> ORDER BY
limit .*: Rows are cut by LIMIT and OFFSET.
  LIMIT number @, number -> OFFSET $2 LIMIT $4
  OFFSET number @ROWS|ROW -> OFFSET $2
  @FETCH FIRST|NEXT number ROWS|ROW ONLY -> LIMIT $3
  LIMIT @( number ) -> LIMIT $3
having HAVING: The condition of HAVING stands in brackets.
  unbracketedHaving
modifier .*: Behind the group stand GROUP BY, HAVING, ORDER BY, LIMIT and OFFSET, in this order.
  modifiersInOrder
semicolon (?!SELECT|VALUES|\{).*: A query ends without a semicolon.
  @; ->
braces .*: Patterns stand in braces: WHERE { ... }, OPTIONAL { ... }.
  whereInBraces
  WHERE|EXISTS|OPTIONAL|MINUS|UNION @args -> $1 { {2} }
  EXISTS|OPTIONAL|MINUS|UNION @triples -> $1 { $2 }
join \{: Patterns that share variables are joined: { ?a :p ?b . ?b :q ?c }.
  @LEFT OUTER? JOIN triples -> OPTIONAL { $4 }
  @LEFT OUTER? JOIN group -> OPTIONAL $4
  @INNER|CROSS|NATURAL JOIN -> $.
  @JOIN -> $.
  @ON condition -> FILTER($2)
union \{: Groups are put together by UNION and MINUS.
  group @OR -> $1 UNION
  UNION @ALL -> UNION
  @EXCEPT -> MINUS
absent \{: FILTER NOT EXISTS { ... } finds what has no value.
  operand operand @IS NULL -> FILTER NOT EXISTS { $1 $2 [] }
  operand operand @IS NOT NULL -> $1 $2 []
bind .*: A value is assigned by BIND(expression AS ?x).
  BIND ( var AS @operand ) -> BIND($5 AS $3)
  BIND ( operand @) AS var -> BIND($3 AS $6)
  BIND @operand AS var -> BIND($2 AS $4)
  BIND ( var = operand @) -> BIND($5 AS $3)
  @LET|SET var = operand -> BIND($4 AS $2)
  @LET|SET ( var : = operand ) -> BIND($6 AS $3)
  var @: = operand -> BIND($4 AS $1)
bind \{: A value is assigned by BIND(expression AS ?x).
  @operand AS var -> $. BIND($1 AS $3)
  operand @operand AS var -> $1 . BIND($2 AS $4)
filter .*: The condition of FILTER stands in brackets.
  FILTER @condition -> FILTER($2)
  FILTER args @AND|&& condition -> FILTER($2 && $4)
  FILTER args @OR||| condition -> FILTER($2 || $4)
  FILTER operand @rest -> FILTER($2 $3)
filter \{: A condition stands in FILTER( ... ).
  unfiltered
filter \}|GROUP|ORDER|LIMIT|HAVING: Conditions on patterns stand in the group, those on groups in HAVING.
  backInGroup
dot \{: Patterns are separated by dots.
  @; -> $.
  @AND|WHERE|&& -> $.
equals .*\(: Values are compared by =, !=, <=, >= and REGEX.
  = @= -> =
  @<> -> !=
  < @> -> !=
  @≠ -> !=
  ! @= -> !=
  != @= -> !=
  = @< -> <=
  = @> -> >=
  @≤ -> <=
  @≥ -> >=
  operand = @~ string -> REGEX(STR($1), $4)
  operand @~ string -> REGEX(STR($1), $3)
null .*\(: An unbound variable is found by !BOUND(?x).
  operand @IS NULL -> (!BOUND($1))
  operand @IS NOT NULL -> BOUND($1)
  operand = @NULL -> (!BOUND($1))
  operand != @NULL -> BOUND($1)
  @ISNULL ( var ) -> (!BOUND($3))
  operand @IS NOT operand -> $1 != $4
  operand @IS operand -> $1 = $3
between .*\(: A range is two comparisons: ?x >= 1 && ?x <= 5.
  operand @BETWEEN operand AND operand -> ($1 >= $3 && $1 <= $5)
  operand NOT @BETWEEN operand AND operand -> ($1 < $4 || $1 > $6)
like .*\(: Patterns of texts are CONTAINS, STRSTARTS, STRENDS and REGEX.
  like
  operand @REGEXP|RLIKE|MATCHES string -> REGEX(STR($1), $3)
  operand @CONTAINS operand -> CONTAINS(STR($1), $3)
  operand @STARTS WITH operand -> STRSTARTS(STR($1), $4)
  operand @ENDS WITH operand -> STRENDS(STR($1), $4)
in .*\(: A set is written in round brackets: ?x IN (1, 2).
  IN @group -> IN ({2})
  IN @list -> IN ({2})
  IN @string|var|number -> IN ($2)
  inSubquery
and .*\(: Conditions are joined by && and ||, negated by !.
  @AND -> &&
  @OR -> ||
  NOT @test -> !($2)
function .*\(|ORDER|GROUP|HAVING|SELECT|\{: SPARQL has this function in another form.
  renamedFunction
  castType
  @LEFT ( operand , operand ) -> SUBSTR($3, 1, $5)
  @MOD ( operand , operand ) -> ($3 - $5 * FLOOR($3 / $5))
  operand @% operand -> ($1 - $3 * FLOOR($1 / $3))
  ROUND ( operand @, number ) -> (ROUND($3 * 1e$5) / 1e$5)
  @TRIM ( operand ) -> REPLACE(STR($3), "^\\s+|\\s+$", "")
  @EXTRACT ( word FROM operand ) -> $3($5)
  @CASE WHEN condition THEN operand ELSE operand END -> IF($3, $5, $7)
literal .*: A date is a literal with its datatype: "2000-01-31"^^xsd:date.
  @DATE string -> $2^^xsd:date
  @TIMESTAMP|DATETIME string -> $2^^xsd:dateTime
  string @pname -> $1^^$2
  string @^ pname -> $1^^$3
  number @- number - number -> "$1-$3-$5"^^xsd:date
name .*: Variables begin with ?, have no table in front, and texts stand in quotes.
  word . @word -> ?3
  @word . word -> ?3
  var @. word -> ?3
  bareWord
name SELECT|GROUP|ORDER: Variables begin with ?, have no table in front, and texts stand in quotes.
  @string -> ?1
table SELECT: There are no tables: WHERE { ?x a :Class ; :property ?value } names classes and properties.
  @word -> $1
dot \{: Patterns are separated by dots.
  @var -> $. $1
  @iri -> $. $1
  @pname -> $. $1
`;

const ways: Readonly<Record<string, Mending>> = { ...moves, ...words };

function* rulesOf(lines: string): Generator<DialectRule> {
  for (const section of lines.trim().split(/\n(?! )/)) {
    const [head = "", ...forms] = section.split("\n");
    const [, kind = "", clause = "", why = ""] = /^(\S+) (\S+): (.*)$/.exec(head) ?? [];
    const holds = new RegExp(`^(?:${clause})$`);
    const mends = forms.map((form) => mendingOf(form.trim()));
    yield {
      kind,
      why,
      mend: (stumble) => (holds.test(stumble.clause()) ? mends.flatMap((mend) => mend(stumble)) : []),
    };
  }
}

function mendingOf(form: string): Mending {
  const way = ways[form];
  if (way !== undefined) return way;
  const [pattern = "", template = ""] = form.split(/ ->(?: |$)/);
  return (stumble) => {
    const found = matches(stumble, pattern);
    const edit = found && written(stumble, found, template);
    return edit ? [[edit]] : [];
  };
}

const rules: readonly DialectRule[] = [...rulesOf(table)];

/** A change that makes SPARQL of what another language writes. */
interface DialectEdit extends Pick<DialectRule, "kind" | "why"> {
  readonly edit: Edit;
}

/** Ways to mend a text at the offset of its error, likeliest first, none of them parsed; one without change is only a hint. */
export function dialectEdits(text: string, offset: number, message: string): readonly DialectEdit[] {
  const stumble = new Stumble(text, offset, message);
  return rules.flatMap(({ kind, why, mend }) =>
    mend(stumble).map((edit) => ({
      kind,
      why,
      edit: edit.toSorted((one, other) => one.start - other.start || one.end - other.end),
    })),
  );
}
