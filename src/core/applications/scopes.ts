/** Every scope, with what it permits (specification, "Authentication"). */
export const SCOPES = {
  'svc:application:read': 'Application-level read',
  'svc:application:write': 'Application-level write',
  'svc:device:read': 'Device read',
  'svc:device:write': 'Device write',
  'svc:communication-service': 'Remote support (WebRTC) use',
} as const;

export type Scope = keyof typeof SCOPES;

const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text);

/**
 * Reads the scopes of a token request, in their order and without repetitions; undefined when the text is empty or names an
 * unknown scope (`invalid_scope`, RFC 6749 5.2). They are separated by single spaces (RFC 6749 3.3).
 */
export function parseScopes(text: string): Scope[] | undefined {
  const names = [...new Set(text.split(' '))];
  return names.every(isScope) ? names : undefined;
}
