import { fedway } from "../../rdf/vocabularies.ts";
import type { Federation } from "./catalog.ts";
import { describeNamed, refuseUnknownTerms } from "./describe-entry.ts";
import { EntryProblem, isCatalogId, quote, type Statements, text, texts } from "./statements.ts";

const federationTerms: ReadonlySet<string> = new Set([fedway.member, fedway.memberKeyword, fedway.memberQuery]);

/**
 * The federation that the statements about a `fedway:Federation` describe.
 * @throws EntryProblem with the reason, in words for the operator
 */
export function describeFederation(statements: Statements): Federation {
  refuseUnknownTerms(statements, federationTerms);
  const members = texts(statements, { iri: fedway.member, name: "fedway:member" });
  const notId = members.find((member) => !isCatalogId(member));
  if (notId !== undefined) throw new EntryProblem(`fedway:member ${quote(notId)} is not an identifier.`, notId);
  const memberKeywords = texts(statements, { iri: fedway.memberKeyword, name: "fedway:memberKeyword" });
  const memberQuery = text(statements, { iri: fedway.memberQuery, name: "fedway:memberQuery" });
  if (members.length === 0 && memberKeywords.length === 0 && memberQuery === undefined) {
    throw new EntryProblem("None of fedway:member, fedway:memberKeyword and fedway:memberQuery is given.");
  }
  return Object.freeze({
    ...describeNamed(statements),
    members: Object.freeze([...new Set(members)]),
    memberKeywords,
    ...(memberQuery !== undefined && { memberQuery }),
  });
}
