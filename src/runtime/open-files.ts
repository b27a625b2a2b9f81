/**
 * The most connections of each kind of listener. All of them together, with the files that the service itself opens,
 * stay below the limit of open files of the process.
 */
export interface OpenFileShares {
  /** The most connections of each of three listeners: the API, administration, and the embedded object store. */
  http: number;
  admin: number;
  objects: number;
  /** The most connections of devices, over all MQTT listeners. */
  mqtt: number;
  /** The most idle connections to receivers of webhooks: of all developers, and of one. */
  kept: { service: number; developer: number };
}

// The most open files that are reserved for the service itself: 1152 for simultaneous webhook attempts, 512 for
// simultaneous requests for upload URLs, 256 for idle connections to receivers, and the rest for files.
const OWN_FILES = 2176;

/**
 * Divides the limit of open files between the listeners, so that the connections of one cannot use up those of another.
 */
export function shareOpenFiles(limit: number): OpenFileShares {
  const part = (divisor: number, most: number): number => Math.max(4, Math.min(most, Math.floor(limit / divisor)));
  const http = part(8, 1024);
  const admin = part(8, 1024);
  const objects = part(8, 1024);
  const own = Math.min(OWN_FILES, Math.floor((limit * 3) / 8));
  const kept = { service: Math.min(256, Math.floor(limit / 16)), developer: Math.min(64, Math.ceil(limit / 64)) };
  return { http, admin, objects, kept, mqtt: Math.max(1, limit - own - http - admin - objects) };
}
