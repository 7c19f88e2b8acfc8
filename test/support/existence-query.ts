/** True for a question of the service's own, whether an endpoint has matches of patterns or how many triples it has. */
export const isExistenceQuery = (query: string): boolean =>
  /^SELECT (?:\?n (?:\?c )?WHERE \{ \{ SELECT )?\(0 AS \?n\)/u.test(query);
