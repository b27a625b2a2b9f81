import type { AuditObject } from './audit-repository.ts';

/** The parameters of paths that name objects with a history of their own. */
const KINDS: Readonly<Record<string, AuditObject['kind']>> = {
  '{deviceId}': 'device',
  '{developerId}': 'developer',
  '{applicationId}': 'application',
  '{package}': 'package',
  '{rolloutId}': 'rollout',
  '{personId}': 'person',
};
const LONGEST_ID = 255;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Finds the objects that a path names; `route` is its template, such as `/devices/{deviceId}`. */
export function objectsOf(route: string, path: string): AuditObject[] {
  const segments = path.split('/');
  return route.split('/').flatMap((name, index) => {
    const kind = KINDS[name];
    const id = decoded(segments[index] ?? '');
    return kind === undefined || id === '' || id.length > LONGEST_ID ? [] : [{ kind, id }];
  });
}
