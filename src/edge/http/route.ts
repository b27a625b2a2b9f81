import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { SchemaName } from '@lapel/schemas/contracts/contracts';
import type { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AuditObject } from '../../core/audit/audit-repository.ts';
import type { Inside } from './inside.ts';
import type { Target } from './request-target.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The answer of a handler. Objects are sent as JSON, JsonSlices slice by slice; a string or a Buffer needs a
 * `Content-Type` in the headers.
 */
export interface Answer {
  status: number;
  body?: object | string;
  headers?: Record<string, string | string[]>;
  /** The body is a stream without an end, such as the feed, so shutdown does not wait for it. */
  endless?: true;
  /** The body is a stream that waits for something to happen, such as the next event, so nobody waits for its end. */
  waiting?: true;
  /**
   * The error that this answer reports in a form of its own. The listener adds the headers of the error, and logs its
   * code.
   */
  error?: DomainError;
}

/** The names of the `{parameters}` of a path. */
type ParameterNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterNames<Rest> : never;
export type Parameters<Path extends string> = {
  [Name in ParameterNames<Path>]: Name extends 'transactionId' | 'sequence' ? number : string;
};

/**
 * The input of a handler. Path parameters, body and query were checked by their schemas and have the types of these.
 */
export interface Input<Params = unknown, Body = unknown, Query = unknown, Caller = unknown> {
  params: Params;
  body: Body;
  query: Query;
  /** The caller that was found by the token; undefined for a route that needs no token. */
  caller: Caller;
  /** The request as a stream of bytes, for a handler that processes its body while it arrives. */
  stream: IncomingMessage;
  /**
   * Records details of the change in the audit log: how many objects it concerned, or their values before and after it;
   * and the objects that the path does not name. Does nothing for a request that is not recorded.
   */
  changed(details: object, about?: readonly AuditObject[]): Promise<void>;
  /** Reads the form of a route that has `form`. Undefined when the body is not a form. Throws BODY_TOO_LARGE. */
  readForm(): Promise<URLSearchParams | undefined>;
  /** The address of the client; behind a proxy that is not trusted, the address of the proxy. */
  address: string;
  /** The id of the request, which is also on its answer and its log line. */
  requestId: string;
  /** The headers of the request, with names in lower case. */
  headers: IncomingHttpHeaders;
  /** `{base_url}`, without a slash at the end. */
  baseUrl: string;
  target: Target;
  /** Calls other operations of the listener in the name of the caller. Only a route with `asks` has it. */
  inside?: Inside;
}

/** The scope of a route that needs a token, whatever its scopes. */
export const ANY_SCOPE = '';

interface Options<Body extends SchemaName, Query extends SchemaName> {
  /** The name of the operation in the typed client; without it the name of the handler. */
  name?: string;
  /** The schema of the JSON body; a route without one does not read a body. */
  body?: Body;
  /** The most bytes of the body, if fewer than of others: parsing many small members takes the event loop. */
  bodyLimit?: number;
  /** True when a missing body counts as `{}`. */
  bodyOptional?: true;
  /**
   * The schema that documents a form (`application/x-www-form-urlencoded`). The handler reads the form itself, after
   * its own checks.
   */
  form?: Body;
  /** The schema of the query. */
  query?: Query;
  /** Others read the query, so it may have any parameters: the handler, or a page of the console in the browser. */
  anyQuery?: true;
  /** The route may take long, so only a few requests for such routes run at a time for each application. */
  costly?: true;
  /** Returns the answer for errors that this route answers in a form of its own; undefined for others. */
  errors?: (error: DomainError, about: { baseUrl: string }) => Answer | undefined;
  /** The handler calls other operations of the listener. */
  asks?: true;
  /** The answer shows a secret, or a payload of a device, so reads of it are recorded in the audit log. */
  showsSecret?: true;
  /** The route also answers HEAD, in the same way as GET (RFC 9110 9.3.2). */
  head?: true;
  /** Accepts every `Host`: the route reveals only whether the service is healthy. */
  anyHost?: true;
  /** The route is a page: it also answers all paths below its path that have no route of their own. */
  below?: true;
}

/** A line of a route table. */
export interface Route<Services, Caller> extends Options<SchemaName, SchemaName> {
  name: string;
  method: Method;
  path: string;
  /** The scope that the token must have (ANY_SCOPE: none), or the role of its holder; null where no token is needed. */
  scope: string | null;
  handler: (services: Services, input: Input<never, never, never, Caller>) => Answer | Promise<Answer>;
}

/** Makes the `route` function of a listener, which checks each handler against its path and schemas at compile time. */
export function routesOf<Services, Caller, Scope extends string = string>() {
  return function route<Path extends string, Body extends SchemaName = never, Query extends SchemaName = never>(
    method: Method,
    path: Path,
    scope: Scope | null,
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
