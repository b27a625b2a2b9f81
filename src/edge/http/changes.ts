import type { IncomingHttpHeaders } from 'node:http';
import type { Route } from './route.ts';

/** A request for a change, by a caller who is permitted to ask for it. */
export interface ChangeAsked<Caller> {
  caller: Caller;
  method: string;
  /** The template of the path of the route; `path` is the requested path. */
  route: string;
  path: string;
  requestId: string;
  headers: IncomingHttpHeaders;
}

/** A change whose beginning is recorded. */
export interface BegunChange {
  /** Records the status of the answer, and its error code. */
  ended(status: number, code?: string): Promise<void>;
  /** Records the number of changed objects, for requests that change many. */
  changed(details: object): Promise<void>;
}

/** Records the changes that are made through a listener. */
export interface Changes<Caller> {
  /** Whether requests of this route are changes to record. */
  has(route: Pick<Route<never, never>, 'method' | 'scope'>): boolean;
  /** Called before the change is carried out, after the caller is known. When it rejects, nothing is changed. */
  begin(asked: ChangeAsked<Caller>): Promise<BegunChange>;
}
