/**
 * The roles of the people of a developer, the mightiest first, each with the scopes that it stands for:
 * - admin: what a developer may, and decides who else of the developer gets in
 * - developer: works with all applications of the developer
 * - reader: looks, and changes nothing
 */
export const MEMBER_ROLES = ['admin', 'developer', 'reader'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

const READING = ['svc:application:read', 'svc:device:read'] as const;
const ALL = [...READING, 'svc:application:write', 'svc:device:write'] as const;

/** The scopes that a role stands for. None has those of remote support, which only an application itself asks for. */
export const scopesOf = (role: MemberRole): readonly string[] => (role === 'reader' ? READING : ALL);
