/**
 * The roles of people who administer the service, the mightiest first. Each may do what the roles behind it may do:
 * - owner: decides who administers the service
 * - operator: works with all objects, and sees payloads
 * - support: sees no payloads and no secrets; may repeat, cancel and disconnect
 * - reader: sees what support sees, and changes nothing
 */
export const ROLES = ['owner', 'operator', 'support', 'reader'] as const;
export type Role = (typeof ROLES)[number];
