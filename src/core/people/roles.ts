import { ROLES, type Role } from '../../runtime/roles.ts';

export { ROLES, type Role };

/** Whether a role may do what needs the role `needed`. */
export const mayAs = (role: Role, needed: Role): boolean => ROLES.indexOf(role) <= ROLES.indexOf(needed);

/**
 * Whether a role sees payloads: parameters and results of commands, bodies of webhooks and answers, messages of
 * devices, and whole URLs of webhooks, which may hold a token.
 */
export const seesPayloads = (role: Role): boolean => mayAs(role, 'operator');
