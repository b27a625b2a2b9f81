import type { IncomingHttpHeaders } from 'node:http';
import type { Route } from './route.ts';

/** A request that would change something, by one who may ask for it. */
export interface ChangeAsked<Caller> {
  caller: Caller;
  method: string;
  /** The template of the path, and the path. */
  route: string;
  path: string;
  requestId: string;
  headers: IncomingHttpHeaders;
}

/** A change whose beginning is written. */
export interface BegunChange {
  /** Its answer has this status, and this error. */
  ended(status: number, code?: string): Promise<void>;
  /** How many it changed, where one request changes many. */
  changed(details: object): Promise<void>;
}

/** Where a listener writes down what is changed through it. */
export interface Changes<Caller> {
  /** Whether requests of a line of the table are. */
  has(route: Pick<Route<never, never>, 'method' | 'scope'>): boolean;
  /** Called before the change is carried out, when it is known who asks. When it rejects, nothing is changed. */
  begin(asked: ChangeAsked<Caller>): Promise<BegunChange>;
}
