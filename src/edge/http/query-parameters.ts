import type { Contracts, SchemaName } from '@lapel/schemas/contracts/contracts';
import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';

/**
 * Checks the query by the schema of the route; a route without a schema has no parameters. Throws REQUEST_INVALID with
 * every fault: an unknown parameter, a repeated one that is no list, one that breaks its schema.
 */
export function checkQueryParameters(contracts: Contracts, schema: SchemaName | undefined, query: string): unknown {
  const known = schema === undefined ? {} : (contracts.documents.get(schema)?.properties ?? {});
  const faults = query === '' ? [] : unknownOrRepeated(known, query);
  if (faults.length > 0) throw DomainError.invalid(...faults, ...faultsOf(contracts, schema, query, faults));
  return schema === undefined ? undefined : contracts.checkQuery(schema, query);
}

function unknownOrRepeated(known: Record<string, { type?: string }>, query: string): Fault[] {
  const counts = new Map<string, number>();
  for (const name of new URLSearchParams(query).keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const faults: Fault[] = [];
  for (const [name, count] of counts) {
    const loc = ['query', name];
    if (!Object.hasOwn(known, name))
      faults.push({ loc, msg: 'Extra inputs are not permitted', type: 'extra_forbidden' });
    else if (count > 1 && known[name]?.type !== 'array')
      faults.push({ loc, msg: 'Parameter should be given once', type: 'extra_forbidden' });
  }
  return faults;
}

/** The faults that the schema finds, except in parameters for which `told` has a fault already. */
function faultsOf(contracts: Contracts, schema: SchemaName | undefined, query: string, told: Fault[]): Fault[] {
  if (schema === undefined) return [];
  try {
    contracts.checkQuery(schema, query);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.details.filter(({ loc }) => !told.some((fault) => fault.loc[1] === loc[1]));
  }
}
