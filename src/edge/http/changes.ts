import type { IncomingHttpHeaders } from 'node:http';
import type { AuditObject } from '../../core/audit/audit-repository.ts';
import type { Via } from './inside.ts';
import type { Route } from './route.ts';

/** A request for a change, by a caller who is permitted to ask for it. */
export interface ChangeAsked<Caller> {
  caller: Caller;
  method: string;
  /** The template of the path of the route; `path` is the requested path. */
  route: string;
  path: string;
  requestId: string;
  /** The address of the client. */
  address: string;
  headers: IncomingHttpHeaders;
  /** The assistant that asks for the caller, and its tool. */
  via?: Via | undefined;
}

/** A change that was recorded before it was carried out; its outcome is recorded with these functions. */
export interface BegunChange {
  /** Records the status of the answer, and the code of an error; `isOpen`: details may still come. */
  ended(status: number, code?: string, isOpen?: boolean): Promise<void>;
  /** Records that an open answer, whose details come while it is sent, was sent. */
  closed(): Promise<void>;
  /**
   * Records details of the change: how many objects it concerned, or their values before and after it; and the objects
   * that the path of the request does not name.
   */
  changed(details: object, about?: readonly AuditObject[]): Promise<void>;
}

/** Decides which requests of a listener are recorded, changes and reads of secrets, and records them. */
export interface Changes<Caller> {
  /** True when each request of this route must be recorded. */
  has(route: Pick<Route<never, never>, 'method' | 'path' | 'scope' | 'showsSecret'>): boolean;
  /**
   * Called before the change is carried out, after the caller is known. When it rejects, nothing is changed. Undefined for
   * a read that is not recorded again.
   */
  begin(asked: ChangeAsked<Caller>): Promise<BegunChange> | undefined;
}
