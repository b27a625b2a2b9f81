import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { DomainError } from '../../errors.ts';
import type { SchemaName } from '../../platform/contracts/contracts.ts';
import type { SchemaTypes } from '../../platform/contracts/types.ts';
import type { Target } from './request-target.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a handler answers. Objects are sent as JSON (JsonSlices slice by slice); a string or a Buffer needs its own `Content-Type` in the headers. */
export interface Answer {
  status: number;
  body?: object | string;
  headers?: Record<string, string>;
  /** Its body goes on until its reader goes: nobody waits for its end. */
  endless?: true;
  /** The error that it tells of in a form of its own: its code, its headers and its log line are added. */
  error?: DomainError;
}

/** The `{names}` of a path. */
type ParameterNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParameterNames<Rest> : never;
export type Parameters<Path extends string> = {
  [Name in ParameterNames<Path>]: Name extends 'transactionId' ? number : string;
};

/** What a handler gets: checked, in the types of the schemas. */
export interface Input<Params = unknown, Body = unknown, Query = unknown, Caller = unknown> {
  params: Params;
  body: Body;
  query: Query;
  /** Who the check of the token found. */
  caller: Caller;
  /** The body, for the route that reads it as it comes; the others have it in `body`. */
  stream: Readable;
  /** Writes down how many a request changed that changes many; nothing where changes are not written down. */
  changed(details: object): Promise<void>;
  /** Of a route with a form: reads it. Undefined when the body is none. Throws BODY_TOO_LARGE. */
  readForm(): Promise<URLSearchParams | undefined>;
  /** Of whom the request comes from: of a proxy, where there is one. */
  address: string;
  /** On its answer, and on its log line. */
  requestId: string;
  /** As Node has them: names in lower case. */
  headers: IncomingHttpHeaders;
  /** `{base_url}`, without a slash at its end. */
  baseUrl: string;
  target: Target;
}

interface Options<Body extends SchemaName, Query extends SchemaName> {
  /** What clients call the operation; by default the name of its handler. */
  name?: string;
  /** The schema of the JSON body; without one a body is not read. */
  body?: Body;
  /** No body at all stands for `{}`. */
  bodyOptional?: true;
  /** The schema that documents a form (`application/x-www-form-urlencoded`); its handler reads it when it wants to. */
  form?: Body;
  /** The schema of the query. */
  query?: Query;
  /** May take long: a few at a time for each caller. */
  costly?: true;
  /** Errors that are answered in a form of the route's own. */
  errors?: (error: DomainError) => Answer | undefined;
  /** Also answers HEAD, as it answers GET (RFC 9110 9.3.2). */
  head?: true;
  /** Asked by who knows the service by any name: it tells nothing but whether it is well. */
  anyHost?: true;
  /** A page: it answers every path below its own, too, that is not another's, with whatever query. */
  below?: true;
}

/** A line of a route table. */
export interface Route<Services, Caller> extends Options<SchemaName, SchemaName> {
  name: string;
  method: Method;
  path: string;
  /** What the token must hold; null where no token is wanted. */
  scope: string | null;
  handler: (services: Services, input: Input<never, never, never, Caller>) => Answer | Promise<Answer>;
}

/** Makes the `route` function of one listener, which holds each handler to its line's path and schemas. */
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
    return { name: handler.name, method, path, scope, ...options, handler: handler as Route<Services, Caller>['handler'] };
  };
}
