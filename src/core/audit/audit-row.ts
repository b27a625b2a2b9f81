/** The author of a change; `name` is that of the session or of the application. */
export interface Actor {
  /** `machine`: a command on the machine of the service, with its data folder. */
  kind: 'session' | 'token' | 'command line' | 'application' | 'service' | 'machine';
  name: string | null;
  /** The person, and the token with which they came, if it was one. Null for the administrator token, and absent for other authors. */
  person?: { personId: string; name: string; tokenName: string | null } | null;
}

/** An entry as it is stored. */
export interface AuditRow {
  auditId: number;
  /** The time of the request, in microseconds. */
  at: number;
  actorKind: Actor['kind'];
  actorName: string | null;
  /** The person and the token, as they were called at the time; null when there was no person. */
  personId: string | null;
  personName: string | null;
  tokenName: string | null;
  /** The HTTP method and the template of the request's path. */
  action: string;
  /** The path of the request. */
  resource: string;
  requestId: string;
  /** The address of the client; null for the service itself, and in entries of earlier releases. */
  address: string | null;
  /** The status of the answer; null when the service ended before it answered. */
  status: number | null;
  /** JSON, or null. */
  details: string | null;
  /** The place of the entry in the chain, and its hash; null while it is not sealed. */
  position: number | null;
  hash: string | null;
}
