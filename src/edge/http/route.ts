import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { DomainError } from '../../errors.ts';
import type { SchemaName } from '../../platform/contracts/contracts.ts';
import type { SchemaTypes } from '../../platform/contracts/types.ts';
import type { Target } from './request-target.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The answer of a handler. Objects are sent as JSON, JsonSlices slice by slice; a string or a Buffer needs a
 * `Content-Type` in the headers.
 */
export interface Answer {
  status: number;
  body?: object | string;
  headers?: Record<string, string>;
  /** The body goes on until its reader leaves, so shutdown does not wait for its end. */
  endless?: true;
  /** The error behind an answer that has a form of its own: the error's code, headers and log line are added. */
  error?: DomainError;
}

/** The names of the `{parameters}` of a path. */
type ParameterNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterNames<Rest> : never;
export type Parameters<Path extends string> = {
  [Name in ParameterNames<Path>]: Name extends 'transactionId' ? number : string;
};

/** The input of a handler: checked, in the types of the schemas. */
export interface Input<Params = unknown, Body = unknown, Query = unknown, Caller = unknown> {
  params: Params;
  body: Body;
  query: Query;
  /** The caller that the check of the token found. */
  caller: Caller;
  /** The raw body, for a route that reads it as it arrives; other routes have it in `body`. */
  stream: Readable;
  /**
   * Records the number of changed objects of a request that changes many; does nothing where changes are not recorded.
   */
  changed(details: object): Promise<void>;
  /** Reads the form of a route that has one. Undefined when the body is not a form. Throws BODY_TOO_LARGE. */
  readForm(): Promise<URLSearchParams | undefined>;
  /** The address that the request comes from; behind a proxy the address of the proxy. */
  address: string;
  /** The id of the request, which is also on its answer and its log line. */
  requestId: string;
  /** The headers as Node has them, with names in lower case. */
  headers: IncomingHttpHeaders;
  /** `{base_url}`, without a slash at the end. */
  baseUrl: string;
  target: Target;
}

interface Options<Body extends SchemaName, Query extends SchemaName> {
  /** The operation's name in clients; by default the name of its handler. */
  name?: string;
  /** The schema of the JSON body; a route without one does not read a body. */
  body?: Body;
  /** True when a missing body counts as `{}`. */
  bodyOptional?: true;
  /**
   * The schema that documents a form (`application/x-www-form-urlencoded`); the handler itself decides when to read it.
   */
  form?: Body;
  /** The schema of the query. */
  query?: Query;
  /** The route may take long, so only a few of its requests run at a time for each caller. */
  costly?: true;
  /** The answers to errors that have a form of the route's own. */
  errors?: (error: DomainError) => Answer | undefined;
  /** The route also answers HEAD, in the same way as GET (RFC 9110 9.3.2). */
  head?: true;
  /** Accepts every `Host`: the route reveals only whether the service is healthy. */
  anyHost?: true;
  /** A page: the route also answers every path below its own that has no route, with any query. */
  below?: true;
}

/** A line of a route table. */
export interface Route<Services, Caller> extends Options<SchemaName, SchemaName> {
  name: string;
  method: Method;
  path: string;
  /** The scope that the token must have; null where no token is needed. */
  scope: string | null;
  handler: (services: Services, input: Input<never, never, never, Caller>) => Answer | Promise<Answer>;
}

/** Makes the `route` function of a listener, which checks each handler against its path and schemas at compile time. */
export function routesOf<Services, Caller>() {
  return function route<Path extends string, Body extends SchemaName = never, Query extends SchemaName = never>(
    method: Method,
    path: Path,
    scope: string | null,
    options: Options<Body, Query>,
    handler: (
      services: Services,
      input: Input<Parameters<Path>, SchemaTypes[Body], SchemaTypes[Query], Caller>,
    ) => Answer | Promise<Answer>,
  ): Route<Services, Caller> {
    return {
      name: handler.name,
      method,
      path,
      scope,
      ...options,
      handler: handler as Route<Services, Caller>['handler'],
    };
  };
}
