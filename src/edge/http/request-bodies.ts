import type { Contracts, SchemaName } from '@lapel/schemas/contracts/contracts';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Context } from 'koa';
import type { Metrics } from '../../metrics.ts';
import { addressGroup } from '../../runtime/socket-bounds.ts';
import { createBodyBytes } from './body-bytes.ts';
import type { createInFlight } from './in-flight.ts';
import { BODY_LIMIT, FORM_LIMIT, readForm, readJson, readWhole } from './read-body.ts';
import type { createSockets } from './sockets.ts';

interface Parts {
  contracts: Contracts;
  metrics: Metrics;
  work: ReturnType<typeof createInFlight>;
  /** The connections of the listener. It is a function, because they are made after the parts that answer requests. */
  sockets(): Pick<ReturnType<typeof createSockets>, 'waits' | 'works'>;
  /** Throws OVERLOADED when the listener has more requests in work than it may have. */
  requireRoom(): void;
}

/** A request whose body is read. */
interface Receiving {
  context: Context;
  address: string;
  applicationId: string | undefined;
  developerId: string | undefined;
  /** The body was read to its end. */
  isRead: boolean;
}

/** The source that the bounds of bodies hold for: the application, or the address of a caller without one. */
export const sourceOf = ({ applicationId, address }: Pick<Receiving, 'applicationId' | 'address'>): string =>
  applicationId ?? addressGroup(address);

/** Reads the bodies of the requests of a listener, within its bounds. */
export function createRequestBodies({ contracts, metrics, work, sockets, requireRoom }: Parts) {
  const bytes = createBodyBytes({ metrics });

  /**
   * Runs `read`, which receives a body from the client, however slowly the client sends. Meanwhile the request does not
   * count as work, and its connection may be closed to make room for a new one.
   */
  async function readFromClient<Result>({ req }: Context, read: () => Promise<Result>): Promise<Result> {
    if (req.complete) return read();
    work.leave();
    sockets().waits(req.socket);
    let result: Result;
    try {
      result = await read();
    } finally {
      work.enter();
      sockets().works(req.socket);
    }
    requireRoom();
    return result;
  }

  return {
    /** Reads the JSON body of a request, and checks it by its schema. */
    async read(
      exchange: Receiving,
      schema: SchemaName,
      { bodyLimit, bodyOptional }: { bodyLimit?: number; bodyOptional?: true },
    ): Promise<unknown> {
      const { context, developerId: developer } = exchange;
      const bounds = { limit: bodyLimit ?? BODY_LIMIT, source: sourceOf(exchange), developer, bytes };
      const whole = readWhole(context.req, bounds);
      const body = whole === undefined ? await readFromClient(context, () => readJson(context.req, bounds)) : whole;
      exchange.isRead = true;
      if (body !== undefined) return contracts.check(schema, body, 'body');
      if (bodyOptional) return {};
      throw DomainError.invalid({ loc: ['body'], msg: 'Field required', type: 'missing' });
    },

    /** Returns the function with which a handler reads the form of a request. */
    formReader: (exchange: Receiving) => () => {
      const bounds = { limit: FORM_LIMIT, source: addressGroup(exchange.address), bytes };
      return readFromClient(exchange.context, () => readForm(exchange.context.req, bounds));
    },
  };
}
