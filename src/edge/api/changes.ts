import type { Application } from '../../core/applications/application-repository.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { Changes } from '../http/changes.ts';

/** Of an application's own things: settings, key, packages, versions, distributions, webhooks. Commands to devices are transactions. */
const OWN = 'svc:application:write';

/** What an application changes of its own things is written down. */
export const createApiChanges = (audit: Pick<Audit, 'begin'>): Changes<Application> => ({
  has: ({ method, scope }) => method !== 'GET' && scope === OWN,
  begin: ({ caller, ...change }) =>
    audit.begin({ ...change, actor: { kind: 'application', name: caller.applicationId } }),
});
