import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { findNewest } from '../stream/stream-repository.ts';
import type { EndpointId } from '../webhooks/delivery.ts';
import type { Endpoint, EndpointKey } from './endpoint.ts';
import { findEndpoint } from './endpoint-repository.ts';

interface Parts {
  database: Database;
  /** Locks an application. Throws APPLICATION_UNREGISTERED. */
  lockApplication(unit: UnitOfWork, applicationId: string): Promise<unknown>;
  /** Called after a change, on whichever node: the node of the endpoint looks at it. */
  changed(endpoint: EndpointKey): void;
}

export type EndpointAccess = ReturnType<typeof createEndpointAccess>;

/** The ways in which people reach an endpoint, by the identifiers of a request. */
export function createEndpointAccess({ database, lockApplication, changed }: Parts) {
  const keyOf = (applicationId: string, endpointId: string): EndpointKey => ({
    applicationId,
    endpointId: endpointId as EndpointId,
  });

  return {
    keyOf,
    lockApplication,
    changed,

    /** The number of the newest event of an application that a reader may see. */
    newestOf: async (applicationId: string): Promise<number> =>
      findNewest(database.read, applicationId, await database.decidedEvents()),

    /** Throws ENDPOINT_NOT_FOUND. */
    async find(applicationId: string, endpointId: string): Promise<Endpoint> {
      const endpoint = await findEndpoint(database.read, keyOf(applicationId, endpointId));
      if (!endpoint) throw new DomainError('ENDPOINT_NOT_FOUND');
      return endpoint;
    },

    /** Runs `work` with the locked endpoint, and tells of the change. Throws ENDPOINT_NOT_FOUND. */
    locked: <Result>(
      applicationId: string,
      endpointId: string,
      work: (unit: UnitOfWork, endpoint: Endpoint) => Promise<Result>,
    ): Promise<Result> =>
      database.transact(
        async (unit) => {
          await lockApplication(unit, applicationId);
          const endpoint = await findEndpoint(unit, keyOf(applicationId, endpointId), unit.forUpdate);
          if (!endpoint) throw new DomainError('ENDPOINT_NOT_FOUND');
          unit.onCommit(() => changed(endpoint));
          return work(unit, endpoint);
        },
        { whose: applicationId },
      ),
  };
}
