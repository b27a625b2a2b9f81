/**
 * The roles of people who administer the service, the mightiest first. Each may do what the roles behind it may do:
 * - owner: decides who administers the service
 * - operator: works with all objects, and sees payloads
 * - support: sees no payloads and no secrets; may repeat, cancel and disconnect
 * - reader: sees what support sees, and changes nothing
 */
export const ROLES = ['owner', 'operator', 'support', 'reader'] as const;
export type Role = (typeof ROLES)[number];

/** Whether a role may do what needs the role `needed`. */
export const mayAs = (role: Role, needed: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(needed);

/**
 * Whether a role sees payloads: parameters and results of commands, bodies of webhooks and answers, messages of
 * devices, and whole URLs of webhooks, which may hold a token.
 */
export const seesPayloads = (role: Role): boolean => mayAs(role, 'operator');
